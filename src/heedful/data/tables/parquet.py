"""Tables in Parquet, which knows its columns and its encoding itself."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from heedful.data.tables.table import Cells, Table, refuse_empty
from heedful.data.tables.unpacking import seekable
from heedful.errors import UserError

BATCH = 1024  # rows in memory at a time


def open_parquet(path: Path) -> Table:
    """A Parquet file."""
    with _parquet(path) as file:
        columns = list(file.schema_arrow.names)

    def rows(names: Sequence[str]) -> Iterator[tuple[int, Cells]]:
        first = 1
        with _parquet(path) as file:
            for batch in file.iter_batches(batch_size=BATCH, columns=list(names)):
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


@contextmanager
def _parquet(path: Path) -> Iterator[Any]:
    import pyarrow
    from pyarrow import parquet

    with seekable(path) as file:
        if not file.seek(0, io.SEEK_END):
            refuse_empty(path)
        try:
            # A plain file goes by its name: Arrow reads that itself, without a detour through Python.
            with parquet.ParquetFile(file if path.suffix.lower() == ".gz" else path) as table:
                yield table
        except UnicodeDecodeError:
            raise UserError(f"{path} names a column in bytes that are not UTF-8: write it again.") from None
        except (pyarrow.ArrowException, OSError) as error:
            reason = (str(error).splitlines() or ["?"])[0].rstrip(".")
            raise UserError(f"{path} is not a whole Parquet file ({reason}): write it again.") from error
