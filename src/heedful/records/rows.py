"""One Parquet row a result: a folder of small part files that many processes may add to at once.

A part is written under a hidden temporary name and renamed when whole, and its name is its own, so writers
need no lock and readers never meet half a file. Pages carry checksums and the whole file a digest, so a
damaged part is noticed and named: a page's checksum says nothing of the names of columns, or where they lie.
"""

import hashlib
import io
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from heedful.errors import MissingExtra, UserError
from heedful.files import regular, write_atomically

if TYPE_CHECKING:
    import pandas

# The digest of a part's bytes, in its own footer: it is taken with noughts where it stands afterwards.
SEAL = b"heedful-blake2b:"
BLANK = SEAL + b"0" * 32


def append_rows(
    folder: str | Path,
    rows: "Iterable[Mapping[str, Any]] | pandas.DataFrame",
    *,
    key: str | None = None,
) -> Path:
    """Write the rows as one part file of the folder and return its path; a value that a row lacks is null.

    A part with a `key` replaces the one that had it; without one it is new, whatever there is.
    """
    table = _to_table(rows)
    if table.num_rows == 0:
        raise UserError(f"There are no rows to add to {folder}.")
    # The time first, so that parts read in the order in which they were written.
    name = key or f"{time.time_ns():020d}-{uuid.uuid4().hex[:12]}"
    path = Path(folder) / f"part-{name}.parquet"
    with write_atomically(path, "wb") as file:
        file.write(_sealed(table))
    return path


def read_rows(folder: str | Path) -> "pandas.DataFrame":
    """All rows of all parts, oldest part first; columns are the union over parts, null where a part has none.

    Whole numbers and yes/no with nulls come as pandas' Int64 and boolean, so a seed never turns into a float.
    """
    return _to_frame(_read_table(folder))


def read_parts(parts: Sequence[Path]) -> "pandas.DataFrame":
    """The rows of these parts alone, in this order, as `read_rows` gives them."""
    return _to_frame(_joined(parts))


def count_rows(part: Path) -> int:
    """How many rows a part has; one that is damaged is refused by name."""
    try:
        return int(pq.read_metadata(part).num_rows)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # the last of a column's name
        raise _damaged(part, error) from None


def _to_frame(table: pa.Table) -> "pandas.DataFrame":
    import pandas

    frame = table.to_pandas()
    names = {
        "bool": "boolean",
        **{f"{u}int{b}": f"{u.upper()}Int{b}" for u in ("", "u") for b in (8, 16, 32, 64)},
    }
    nullable = {
        pa.type_for_alias(arrow): pandas.api.types.pandas_dtype(name) for arrow, name in names.items()
    }
    for name in table.column_names:
        column = table[name]
        if column.null_count and column.type in nullable:
            frame[name] = column.to_pandas(types_mapper=nullable.get)
    return frame


def query(folder: str | Path, sql: str) -> "pandas.DataFrame":
    """Answer SQL over all parts as the table `records`.

    The connection is in memory and locked: SQL can neither read nor write any file, nor load an extension.
    """
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("SQL over records", "sql") from None

    table = _read_table(folder)
    with duckdb.connect(":memory:") as connection:
        connection.register("records", table)
        # This also keeps DuckDB from taking Python variables for tables.
        connection.execute("SET enable_external_access = false")
        # DuckDB 1.1 keeps Python's lock in several statements, and other threads would wait for it.
        connection.execute("SET threads = 1")
        connection.execute("SET lock_configuration = true")
        try:
            answer = connection.execute(sql)
            if answer is not None:
                return answer.df()
        except duckdb.Error as error:
            first = str(error).strip().splitlines()[0]
            raise UserError(f"The SQL could not be answered: {first}") from None
    raise UserError("The SQL asks for nothing: try SELECT * FROM records.")


def _to_table(rows: "Iterable[Mapping[str, Any]] | pandas.DataFrame") -> pa.Table:
    import pandas

    if isinstance(rows, pandas.DataFrame):
        columns = {str(name): rows[name] for name in rows.columns}
    else:
        listed = list(rows)
        names = dict.fromkeys(name for row in listed for name in row)  # in order of appearance
        columns = {name: [row.get(name) for row in listed] for name in names}
    seen: dict[str, str] = {}
    for name in columns:
        if seen.setdefault(name.lower(), name) != name:
            raise UserError(
                f"The columns {seen[name.lower()]!r} and {name!r} differ in case only: rename one."
            )
    return pa.table({name: _to_array(name, values) for name, values in columns.items()})


def _to_array(name: str, values: Any) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        first = str(error).splitlines()[0]
        raise UserError(
            f"The column {name!r} cannot be stored, because its values do not fit: {first}"
        ) from None


def _read_table(folder: str | Path) -> pa.Table:
    parts = sorted(Path(folder).glob("part-*.parquet"))
    if not parts:
        raise UserError(f"There are no records in {folder}.")
    return _joined(parts)


def _joined(parts: Sequence[Path]) -> pa.Table:
    tables = [_read_part(part) for part in parts]
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise UserError(
            _conflict(parts, tables) or f"The parts of {parts[0].parent} do not fit together: {error}"
        ) from None


def _sealed(table: pa.Table) -> bytes:
    """The table as a Parquet file that says its own digest."""
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, table.schema, compression="zstd", write_page_checksum=True) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"seal": BLANK})
    return _with_seal(buffer.getvalue())


def _with_seal(content: bytes) -> bytes:
    """The same bytes with the digest they should have; of an earlier version without one, as they are."""
    place = content.rfind(SEAL)  # the last is the footer's
    if place < 0:
        return content
    before, after = content[:place], content[place + len(BLANK) :]
    digest = hashlib.blake2b(before + BLANK + after, digest_size=16).hexdigest()
    return before + SEAL + digest.encode() + after


def _read_part(part: Path) -> pa.Table:
    try:
        content = regular(part).read_bytes()
        # One file, not a dataset: a folder called seed=3 must not become a column.
        with pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True) as file:
            lost = SEAL not in content and b"seal" in (file.metadata.metadata or {})
            if lost or _with_seal(content) != content:
                raise OSError("its bytes are not those that were written")
            return file.read().replace_schema_metadata(None)
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        raise _damaged(part, error) from None


def _damaged(part: Path, error: Exception) -> UserError:
    first = (str(error).splitlines() or [type(error).__name__])[0]
    return UserError(f"{part} is damaged ({first}): remove it, and make its rows again.")


def _conflict(parts: Sequence[Path], tables: list[pa.Table]) -> str:
    """The first column whose types cannot be joined, with the two parts that disagree."""
    first: dict[str, tuple[pa.Field, Path]] = {}
    for part, table in zip(parts, tables, strict=True):
        for field in table.schema:
            known, where = first.setdefault(field.name, (field, part))
            try:
                pa.unify_schemas([pa.schema([known]), pa.schema([field])], promote_options="permissive")
            except (pa.ArrowInvalid, pa.ArrowTypeError):
                return (
                    f"The column {field.name!r} is {known.type} in {where} and {field.type} in {part.name}: "
                    "remove the part that is wrong, and make its rows again."
                )
    return ""
