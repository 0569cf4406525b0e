"""Tables of JSON lines: one object per line, whose keys are the columns."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from heedful.data.tables.lines import Encoding, encoding_of, lines
from heedful.data.tables.table import Cells, Table, refuse_empty
from heedful.errors import UserError
from heedful.records.stored import parse_json

PEEKED_OBJECTS = 100  # JSON lines have no header: the keys of this many first objects are taken for it


def open_json_lines(path: Path, encoding: str | None = None) -> Table:
    """A file with a JSON object in each line."""
    known = encoding_of(path, encoding)
    # A dictionary keeps the order in which the keys were met.
    columns = {name: None for _, found in islice(_objects(path, known), PEEKED_OBJECTS) for name in found}
    if not columns:
        refuse_empty(path)

    def rows(names: Sequence[str]) -> Iterator[tuple[int, Cells]]:
        for number, found in _objects(path, known):
            cells = tuple(found.get(name) for name in names)
            if any(isinstance(cell, str) and not _encodable(cell) for cell in cells):
                raise UserError(
                    f"{path} has half a character (a lone surrogate) in line {number:,}: take it out."
                )
            yield number, cells

    return Table(path, list(columns), "line", rows, notes=(known.note,))


def _objects(path: Path, encoding: Encoding) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines(path, encoding), start=1):
        if not line.strip():
            continue
        try:
            found = parse_json(line)
        except ValueError as error:
            raise UserError(
                f"{path} must have one JSON object in each line, but line {number:,} is not JSON ({error})."
            ) from None
        if not isinstance(found, dict):
            raise UserError(
                f"{path} must have a JSON object in each line, but line {number:,} is a {_kind(found)}."
            )
        yield number, found


def _encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _kind(value: object) -> str:
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
