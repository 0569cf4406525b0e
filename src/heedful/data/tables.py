"""Tables on disk as streams of rows: CSV, TSV, JSON lines and Parquet, each plain or gzipped.

A file is walked, never loaded, so it may be larger than memory; whatever is wrong with it is said with its
line.
"""

import codecs
import csv
import gzip
import io
import json
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from heedful.errors import UserError, nearest

LONGEST_FIELD = 2**28  # characters; more than this is a quote that was never closed, not a text
PEEKED_OBJECTS = 100  # JSON lines have no header: the keys of this many first objects are taken for it
PARQUET_BATCH = 1024  # rows in memory at a time
_GZIP_DAMAGE = (gzip.BadGzipFile, EOFError, zlib.error)

Cells = tuple[Any, ...]


@dataclass(frozen=True)
class Format:
    """How to find the columns of a file and walk its rows, and what its rows are counted in."""

    columns: Callable[[Path], list[str]]
    rows: Callable[[Path, Sequence[str]], Iterator[tuple[int, Cells]]]
    place: str


def table_format(path: Path) -> Format:
    """The format of a file by the ending of its name, with or without .gz."""
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    if ending not in FORMATS:
        raise UserError(
            f"{path} must end in {', '.join(FORMATS)} (each also with .gz), or be a folder of text files, "
            f"but it ends in {ending or 'nothing'!r}."
        )
    return FORMATS[ending]


def table_columns(path: Path) -> list[str]:
    """The names of a table's columns; refuses a file that is missing, empty or names a column twice."""
    _check_there(path)
    columns = table_format(path).columns(path)
    twice = sorted({name for name in columns if name and columns.count(name) > 1})
    if twice:
        raise UserError(f"{path} has more than one column named {twice[0]!r}: rename all but one.")
    return columns


def table_rows(path: Path, names: Sequence[str]) -> Iterator[tuple[int, Cells]]:
    """Walk the cells of the columns `names`, each row with its line, or its number in Parquet."""
    return table_format(path).rows(path, names)


def headless_rows(path: Path, columns: int) -> Iterator[tuple[int, list[str]]]:
    """Walk the rows of a CSV file without a header, each of this many fields, with the line it begins on."""
    _check_there(path)
    for line, record in _csv_records(path, ","):
        if len(record) != columns:
            _refuse_field_count(path, line, len(record), f"{columns} were expected")
        yield line, record


def decoded(content: bytes, path: Path) -> str:
    """A whole text file as a string: UTF-8, with or without a byte order mark, and without NUL."""
    _check_encoding(content[:4], path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse_encoding(path, content.count(b"\n", 0, error.start) + 1)
    if "\0" in text:
        _refuse_nul(path, text.count("\n", 0, text.index("\0")) + 1)
    return text


# Text files, line by line


def _check_there(path: Path) -> None:
    if path.is_file():
        return
    if path.is_dir():
        raise UserError(f"{path} is a folder, where a file was needed.")
    if not path.parent.is_dir():
        raise UserError(f"There is no file {path}: its folder {path.parent} is not there either.")
    beside = sorted(entry.name for entry in path.parent.iterdir() if not entry.name.startswith("."))
    raise UserError(f"There is no file {path}{nearest(path.name, beside)}.")


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else open(path, "rb") as file:
            yield file  # type: ignore[misc]  # a GzipFile reads like a BinaryIO
    except _GZIP_DAMAGE as error:
        raise UserError(
            f"{path} is not a whole gzip file ({error}): fetch it again, or drop .gz if it is not packed."
        ) from error
    except PermissionError as error:
        raise UserError(f"{path} may not be read: change its permissions.") from error


def _lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file with their ends, a byte order mark left out."""
    with _opened(path) as file:
        _check_encoding(file.peek(4)[:4], path)  # type: ignore[attr-defined]
        try:
            with io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
                for number, line in enumerate(text, start=1):
                    if "\0" in line:
                        _refuse_nul(path, number)
                    yield line
        except UnicodeDecodeError:
            _refuse_encoding(path, _first_undecodable_line(path))


def _first_undecodable_line(path: Path) -> int:
    # The decoder fails a whole block early or late, so the line is looked for again, byte line by byte line.
    with _opened(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    raise AssertionError("a file that could not be decoded could be decoded line by line")


def _check_encoding(head: bytes, path: Path) -> None:
    marked = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if marked or (len(head) == 4 and (head[::2] == b"\0\0") != (head[1::2] == b"\0\0")):
        raise UserError(f"{path} is UTF-16, where UTF-8 was needed: save it again as UTF-8.")
    if head.startswith(b"\x1f\x8b"):
        raise UserError(f"{path} is gzipped, but its name does not say so: add .gz to its name.")


def _refuse_encoding(path: Path, line: int) -> NoReturn:
    raise UserError(f"{path} is not UTF-8 in line {line:,}: save it again as UTF-8.") from None


def _refuse_nul(path: Path, line: int) -> NoReturn:
    raise UserError(f"{path} has a NUL byte in line {line:,}, which no text has: take it out.")


# CSV and TSV


def csv_delimiter(path: Path) -> str:
    if path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab")):
        return "\t"
    header = next((line for line in _lines(path) if line.strip()), "")
    # Spreadsheets in half of Europe write semicolons into files called .csv.
    return ";" if "," not in header and ";" in header else ","


def _csv_records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Records with the line each begins on; blank lines are passed over."""
    if csv.field_size_limit() < LONGEST_FIELD:
        # The limit belongs to the whole process. It is only ever raised: lowering it again could break
        # another reader.
        csv.field_size_limit(LONGEST_FIELD)
    reader = csv.reader(_lines(path), delimiter=delimiter, strict=True)
    line = 1
    try:
        for record in reader:
            if len(record) > 1 or (record and record[0].strip()):
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        opened = _line_of_open_quote(path, delimiter, line, reader.line_num)
        raise UserError(
            f"{path} has a quote that opens in line {opened:,} and is not closed as it should be "
            f"({error}): double each quote that is part of a text."
        ) from None


def _line_of_open_quote(path: Path, delimiter: str, first: int, last: int) -> int:
    """Where the last quoted field opens in a record that begins on line `first` and fails on line `last`."""
    opened, quoted, fresh = first, False, True
    for number, line in enumerate(islice(_lines(path), first - 1, last), start=first):
        position = 0
        while position < len(line):
            character = line[position]
            if quoted:
                if character == '"' and line[position + 1 : position + 2] == '"':
                    position += 1
                elif character == '"':
                    quoted = False
            elif character == '"' and fresh:
                quoted, opened = True, number
            fresh = not quoted and character in (delimiter, "\n", "\r")
            position += 1
    return opened


def _csv_columns(path: Path) -> list[str]:
    _, header = next(_csv_records(path, csv_delimiter(path)), (0, []))
    if not header:
        _refuse_empty(path)
    return [name.strip() for name in header]


def _csv_rows(path: Path, names: Sequence[str]) -> Iterator[tuple[int, Cells]]:
    records = _csv_records(path, csv_delimiter(path))
    header = [name.strip() for name in next(records)[1]]
    places = [header.index(name) for name in names]
    pick = itemgetter(*places) if len(places) > 1 else lambda record: (record[places[0]],)
    for line, record in records:
        if len(record) != len(header):
            _refuse_field_count(path, line, len(record), f"the header has {len(header)}")
        yield line, pick(record)


def _refuse_field_count(path: Path, line: int, count: int, expected: str) -> NoReturn:
    raise UserError(
        f"{path} has {count} field{'s' * (count != 1)} in line {line:,}, where {expected}: "
        "quote a text that has separators or line breaks in it."
    )


def _refuse_empty(path: Path) -> NoReturn:
    raise UserError(f"{path} is empty: it needs a text and a label in each row.")


# JSON lines


def _json_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UserError(
                f"{path} must have one JSON object in each line, but line {number:,} is not JSON ({error})."
            ) from None
        if not isinstance(found, dict):
            raise UserError(
                f"{path} must have a JSON object in each line, but line {number:,} is a {_json_kind(found)}."
            )
        yield number, found


def _json_columns(path: Path) -> list[str]:
    # A dictionary keeps the order in which the keys were met.
    columns = {name: None for _, found in islice(_json_objects(path), PEEKED_OBJECTS) for name in found}
    if not columns:
        _refuse_empty(path)
    return list(columns)


def _json_rows(path: Path, names: Sequence[str]) -> Iterator[tuple[int, Cells]]:
    for number, found in _json_objects(path):
        cells = tuple(found.get(name) for name in names)
        for cell in cells:
            if isinstance(cell, str) and not cell.isascii() and not _encodable(cell):
                raise UserError(
                    f"{path} has half a character (a lone surrogate) in line {number:,}: take it out."
                )
        yield number, cells


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _json_kind(value: object) -> str:
    if value is None:
        return "null"
    kinds: dict[type, str] = {
        list: "list",
        str: "string",
        bool: "truth value",
        int: "number",
        float: "number",
    }
    return kinds.get(type(value), type(value).__name__)


# Parquet


@contextmanager
def _parquet(path: Path) -> Iterator[Any]:
    import pyarrow
    from pyarrow import parquet

    with _opened(path) as file, tempfile.TemporaryFile() as unpacked:
        if (
            path.suffix.lower() == ".gz"
        ):  # Parquet is read from its end, which gzip can only reach by unpacking
            shutil.copyfileobj(file, unpacked)
            file = unpacked
        if not file.seek(0, io.SEEK_END):
            _refuse_empty(path)
        try:
            # A plain file goes by its name: Arrow reads that itself, without a detour through Python.
            with parquet.ParquetFile(unpacked if file is unpacked else path) as table:
                yield table
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError, OSError) as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise UserError(f"{path} is not a whole Parquet file ({reason}): write it again.") from error


def _parquet_columns(path: Path) -> list[str]:
    with _parquet(path) as file:
        return list(file.schema_arrow.names)


def _parquet_rows(path: Path, names: Sequence[str]) -> Iterator[tuple[int, Cells]]:
    first = 1
    with _parquet(path) as file:
        for batch in file.iter_batches(batch_size=PARQUET_BATCH, columns=list(names)):
            try:
                cells = [batch.column(name).to_pylist() for name in names]
            except UnicodeDecodeError:
                raise UserError(
                    f"{path} is not UTF-8 in rows {first:,} to {first + len(batch) - 1:,}: write it again."
                ) from None
            yield from enumerate(zip(*cells, strict=True), start=first)
            first += len(batch)


FORMATS = {
    ".csv": Format(_csv_columns, _csv_rows, "line"),
    ".tsv": Format(_csv_columns, _csv_rows, "line"),
    ".tab": Format(_csv_columns, _csv_rows, "line"),
    ".jsonl": Format(_json_columns, _json_rows, "line"),
    ".ndjson": Format(_json_columns, _json_rows, "line"),
    ".parquet": Format(_parquet_columns, _parquet_rows, "row"),
}
