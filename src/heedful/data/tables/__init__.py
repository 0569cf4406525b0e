"""Tables on disk as streams of rows: CSV and its kin, JSON lines, Parquet (each plain or gzipped) and Excel.

A folder of Parquet shards is one table. A file is walked, never loaded, so it may be larger than memory;
whatever is wrong with it is said with its line, and no file, however small, can make the reader take memory
without end.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from heedful.data.tables.excel import open_excel
from heedful.data.tables.json_lines import open_json_lines
from heedful.data.tables.lines import LONGEST
from heedful.data.tables.parquet import open_parquet
from heedful.data.tables.separated import open_separated
from heedful.data.tables.shards import ENDING, open_shards, shards_in
from heedful.data.tables.table import Cells, Table
from heedful.data.tables.unpacking import HARMLESS, check_there, is_there, refuse_expansion
from heedful.errors import UserError, shortened

_TEXT_FORMATS = {
    ".csv": open_separated,
    ".tsv": open_separated,
    ".tab": open_separated,
    ".jsonl": open_json_lines,
    ".ndjson": open_json_lines,
}
_OTHER_FORMATS = {".parquet": open_parquet, ".xlsx": open_excel}
FORMATS = (*_TEXT_FORMATS, *_OTHER_FORMATS)


def open_table(path: Path, *, encoding: str | None = None) -> Table:
    """Look at a table: its format by the ending of its name, its columns, and what a text file is written in.

    Refuses a file that is missing or empty, and one that names a column twice.
    """
    if is_there(path) and path.is_dir() and shards_in(path):
        ending = ENDING
    else:
        check_there(path)
        ending = Path(path.name.lower().removesuffix(".gz")).suffix
    if ending not in FORMATS:
        raise UserError(
            f"{path} must end in {', '.join(FORMATS)} (each also with .gz), or be a folder of "
            f"Parquet shards or text files, but it ends in {ending or 'nothing'!r}."
        )
    if ending in _TEXT_FORMATS:
        table = _TEXT_FORMATS[ending](path, encoding)
    elif encoding is not None:
        raise UserError(f"{path} knows its encoding itself: leave out --encoding.")
    else:
        table = open_shards(path) if path.is_dir() else _OTHER_FORMATS[ending](path)
    twice = sorted(name for name, count in Counter(table.columns).items() if name and count > 1)
    if twice:
        raise UserError(f"{path} has more than one column named {shortened(twice[0])!r}: rename all but one.")
    return _bounded(table)


def _bounded(table: Table) -> Table:
    """The same table, which refuses what no texts are as it is met: a field without end, or over and over."""

    def rows(names: Sequence[str]) -> Iterator[tuple[int, Cells]]:
        files = shards_in(table.path) if table.path.is_dir() else [table.path]
        size, total = sum(file.stat().st_size for file in files), 0
        for number, cells in table.rows(names):
            for cell in cells:
                if isinstance(cell, str):
                    if len(cell) > LONGEST:
                        raise UserError(
                            f"{table.path} has more than {LONGEST:,} characters in one field of "
                            f"{table.place} {number:,}: is it a file of texts, one a row?"
                        )
                    total += len(cell)
            if total > HARMLESS:
                refuse_expansion(table.path, size, total)
            yield number, cells

    return replace(table, rows=rows)


def table_rows(path: Path, names: Sequence[str]) -> Iterator[tuple[int, Cells]]:
    """Walk the cells of the columns `names`, each row with its number."""
    return open_table(path).rows(names)
