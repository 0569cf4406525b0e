"""Tables in Parquet, which knows its columns and its encoding itself."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from heedful.data.tables.table import Cells, Table, refuse_empty
from heedful.data.tables.unpacking import refuse_expansion, seekable
from heedful.errors import UserError

BATCH, HELD = 1024, 2**26  # rows in memory at a time, and bytes that they may have
_HEADER = 32  # bytes, in which the beginning of a page's header lies
_DICTIONARY = 2  # among the types of pages


def open_parquet(path: Path) -> Table:
    """A Parquet file."""
    with _parquet(path) as (file, _):
        columns = list(file.schema_arrow.names)
        content = sum(file.metadata.row_group(group).total_byte_size for group in range(file.num_row_groups))
        refuse_expansion(path, path.stat().st_size, max(content, file.metadata.num_rows))

    def rows(names: Sequence[str]) -> Iterator[tuple[int, Cells]]:
        first = 1
        with _parquet(path) as (file, content):
            size = _rows_at_once(path, file, content, names)
            for batch in file.iter_batches(batch_size=size, columns=list(names)):
                try:
                    cells = [batch.column(name).to_pylist() for name in names]
                except UnicodeDecodeError:
                    raise UserError(
                        f"{path} is not UTF-8 in rows {first:,} to {first + len(batch) - 1:,}: write it "
                        "again."
                    ) from None
                yield from enumerate(zip(*cells, strict=True), start=first)
                first += len(batch)

    return Table(path, columns, "row", rows)


def _rows_at_once(path: Path, file: Any, content: BinaryIO, names: Sequence[str]) -> int:
    """How many rows of these columns are held at a time.

    A column's dictionary has a text once, however many rows say it: each may be as long as all of that.
    """
    wanted = set(names)
    leaves = [file.schema.column(place).path for place in range(len(file.schema))]
    longest = 1
    for place, leaf in enumerate(leaves):
        if leaf not in wanted and not any(leaf.startswith(f"{name}.") for name in wanted):
            continue
        chunks = [file.metadata.row_group(group).column(place) for group in range(file.num_row_groups)]
        refuse_expansion(path, path.stat().st_size, sum(chunk.num_values for chunk in chunks))
        longest += max((_dictionary_bytes(content, chunk) for chunk in chunks), default=0)
    return max(1, min(BATCH, HELD // longest))


def _dictionary_bytes(content: BinaryIO, chunk: Any) -> int:
    """How many bytes the dictionary of a column chunk has, unpacked; 0 without one."""
    content.seek(chunk.dictionary_page_offset or chunk.data_page_offset)
    header = content.read(_HEADER)
    # Two whole numbers in Thrift's compact form: the page's type, and its size unpacked.
    kind, rest = _whole_number(header)
    size, _ = _whole_number(rest)
    return size if kind == _DICTIONARY else 0


def _whole_number(header: bytes) -> tuple[int, bytes]:
    """The field that begins here, after a byte that says which it is; and what follows it."""
    found = 0
    for place, byte in enumerate(header[1:]):
        found |= (byte & 127) << 7 * place
        if byte < 128:
            return found >> 1 ^ -(found & 1), header[place + 2 :]  # "zigzag": the sign is the last bit
    return 0, b""


@contextmanager
def _parquet(path: Path) -> Iterator[tuple[Any, BinaryIO]]:
    import pyarrow
    from pyarrow import parquet

    with seekable(path) as file:
        if not file.seek(0, io.SEEK_END):
            refuse_empty(path)
        try:
            # A plain file goes by its name: Arrow reads that itself, without a detour through Python.
            with parquet.ParquetFile(file if path.suffix.lower() == ".gz" else path) as table:
                yield table, file
        except UnicodeDecodeError:
            raise UserError(f"{path} names a column in bytes that are not UTF-8: write it again.") from None
        except (pyarrow.ArrowException, OSError) as error:
            reason = (str(error).splitlines() or ["?"])[0].rstrip(".")
            raise UserError(f"{path} is not a whole Parquet file ({reason}): write it again.") from error
