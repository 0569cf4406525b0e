"""Tables in Excel workbooks (.xlsx): the first sheet that has rows, its cells as the sheet shows them.

Needs the extra `excel`.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, time
from pathlib import Path
from typing import Any

from heedful.data.tables.table import Cells, Table, refuse_empty
from heedful.data.tables.unpacking import refuse_expansion, seekable
from heedful.errors import MissingExtra, UserError

# All that the zip and XML readers raise for damaged bytes.
_DAMAGE = (
    ArithmeticError, AttributeError, EOFError, LookupError, OSError, RuntimeError, SyntaxError, TypeError,
    ValueError, struct.error, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def open_excel(path: Path) -> Table:
    """An Excel workbook, whose first row names the columns."""
    with _workbook(path) as book:
        sheets = [sheet.title for sheet in book.worksheets]
        sheet = next((title for title in sheets if next(_rows_of(book[title]), None)), None)
        if sheet is None:
            refuse_empty(path)
        columns = next(_rows_of(book[sheet]))[1]

    def rows(names: Sequence[str]) -> Iterator[tuple[int, Cells]]:
        at = {name: place for place, name in enumerate(columns)}
        places = [at[name] for name in names]
        with _workbook(path) as book:
            walk = _rows_of(book[sheet])
            next(walk)
            for number, cells in walk:
                yield number, tuple(cells[place] if place < len(cells) else "" for place in places)

    more = len(sheets) - 1
    note = f"Read from the sheet {sheet!r}; {more} other{'s' * (more > 1)} left alone." if more else ""
    return Table(path, columns, "row", rows, notes=(note,))


def _rows_of(sheet: Any) -> Iterator[tuple[int, list[str]]]:
    """The rows that have anything in them, with their numbers in the sheet."""
    for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        shown = [_shown(cell) for cell in cells]
        if any(cell.strip() for cell in shown):
            yield number, shown


def _shown(cell: Any) -> str:
    """A cell as text: spreadsheets take a review that is just "10" for a number."""
    match cell:
        case None:
            return ""
        case bool():
            return str(cell).lower()
        case float() if cell.is_integer():
            return str(int(cell))
        case date() | time():
            return cell.isoformat()
    return str(cell)


@contextmanager
def _workbook(path: Path) -> Iterator[Any]:
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra("Reading an Excel workbook", "excel") from None
    with seekable(path) as file:
        try:
            with zipfile.ZipFile(file) as parts:
                refuse_expansion(path, path.stat().st_size, sum(part.file_size for part in parts.infolist()))
            file.seek(0)
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        except _DAMAGE as error:
            raise _damaged(path, error) from error
        try:
            yield book
        except _DAMAGE as error:
            raise error if isinstance(error, UserError) else _damaged(path, error) from error
        finally:
            book.close()


def _damaged(path: Path, error: Exception) -> UserError:
    reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return UserError(f"{path} is not a whole Excel workbook ({reason}): save it again as .xlsx.")
