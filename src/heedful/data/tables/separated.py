"""Tables of separated values: commas, semicolons, tabs or vertical bars, whichever the file has."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import NoReturn

from heedful.data.tables.lines import LONGEST, Encoding, encoding_of, lines
from heedful.data.tables.table import Cells, Table, refuse_empty
from heedful.data.tables.unpacking import check_there
from heedful.errors import UserError

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_PEEKED_LINES, _PEEKED = 50, 2**16  # lines, and characters of them, by which the separator is known


def open_separated(path: Path, encoding: str | None = None) -> Table:
    """A file of separated values, whose first row names the columns."""
    known = encoding_of(path, encoding)
    separator = find_separator(path, known)
    _, header = next(_records(path, known, separator), (0, []))
    if not header:
        refuse_empty(path)
    columns = [name.strip() for name in header]

    def rows(names: Sequence[str]) -> Iterator[tuple[int, Cells]]:
        at = {name: place for place, name in enumerate(columns)}
        places = [at[name] for name in names]
        pick = itemgetter(*places) if len(places) > 1 else lambda record: (record[places[0]],)
        for line, record in islice(_records(path, known, separator), 1, None):
            if len(record) != len(columns):
                _refuse_field_count(path, line, len(record), f"the header has {len(columns)}")
            yield line, pick(record)

    usual = "\t" if _is_tabbed(path) else ","
    unusual = f"Fields were taken to be separated by {SEPARATORS[separator]}." if separator != usual else ""
    return Table(path, columns, "line", rows, notes=(known.note, unusual))


def headless_rows(path: Path, columns: int) -> Iterator[tuple[int, list[str]]]:
    """Walk the rows of a CSV file without a header, each of this many fields, with the line it begins on."""
    check_there(path)
    for line, record in _records(path, encoding_of(path, None), ","):
        if len(record) != columns:
            _refuse_field_count(path, line, len(record), f"{columns} were expected")
        yield line, record


def find_separator(path: Path, encoding: Encoding) -> str:
    """The separator that the header has and by which most of the first rows are as long as the header."""
    peeked = list(_at_most(islice(lines(path, encoding), _PEEKED_LINES), _PEEKED))
    usual = "\t" if _is_tabbed(path) else ","
    best, most = usual, 0.0
    for separator in sorted(SEPARATORS, key=lambda one: one != usual):
        records = [record for record in _loosely(peeked, separator) if any(map(str.strip, record))]
        if records and len(records[0]) > 1:
            alike = sum(len(record) == len(records[0]) for record in records) / len(records)
            if alike > most:
                best, most = separator, alike
    return best


def _is_tabbed(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab"))


def _at_most(found: Iterable[str], characters: int) -> Iterator[str]:
    for line in found:
        yield line[:characters]
        characters -= len(line)
        if characters <= 0:
            return


def _loosely(peeked: Sequence[str], separator: str) -> list[list[str]]:
    """The first rows, whatever is wrong with them; a row that the peeking cut through is left out."""
    rows = list(csv.reader(peeked, delimiter=separator))
    return rows[:-1] if len(rows) > 2 and len(rows[-1]) != len(rows[0]) else rows


def _records(path: Path, encoding: Encoding, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Records with the line each begins on; blank lines are passed over."""
    if csv.field_size_limit() < LONGEST:
        # The limit belongs to the whole process. It is only ever raised: lowering it again could break
        # another reader.
        csv.field_size_limit(LONGEST)
    size = 0

    def counted() -> Iterator[str]:
        nonlocal size
        for line in lines(path, encoding):
            size += len(line)
            if size > 2 * LONGEST:  # a record of many lines, none of them too long
                raise csv.Error("the row has no end")
            yield line

    reader = csv.reader(counted(), delimiter=separator, strict=True)
    line = 1
    try:
        for record in reader:
            if len(record) > 1 or (record and record[0].strip()):
                yield line, record
            line, size = reader.line_num + 1, 0
    except csv.Error as error:
        opens = _line_of_open_quote(path, encoding, separator, line, reader.line_num)
        raise UserError(
            f"{path} has a quote that opens in line {opens:,} and is not closed as it should be "
            f"({error}): double each quote that is part of a text."
        ) from None


def _line_of_open_quote(path: Path, encoding: Encoding, separator: str, first: int, last: int) -> int:
    """Where the last quoted field opens in a record that begins on line `first` and fails on line `last`."""
    record = "".join(islice(lines(path, encoding), first - 1, last))
    # One match is one field, so the loop is as long as the row has fields and not as it has characters.
    field = rf'"(?:[^"]++|"")*+(?:"[^{re.escape(separator)}\r\n]*+)?|[^{re.escape(separator)}\r\n]++'
    start = 0
    for match in re.finditer(field, record):
        if match[0].startswith('"'):
            start = match.start()
    before = record[:start].replace("\r\n", "\n")
    return first + before.count("\n") + before.count("\r")


def _refuse_field_count(path: Path, line: int, count: int, expected: str) -> NoReturn:
    raise UserError(
        f"{path} has {count} field{'s' * (count != 1)} in line {line:,}, where {expected}: "
        "quote a text that has separators or line breaks in it."
    )
