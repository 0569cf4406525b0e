"""A folder of Parquet shards as one table: big corpora lie in many files, and are walked one after the other.

Shards are taken in the order of their names. Where every name begins with a split (train-00000-of-00004), as
Hugging Face writes them, and no column is called split, the names say each row's split.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from heedful.data.columns import SPLIT_WORDS
from heedful.data.tables.parquet import open_parquet
from heedful.data.tables.table import Cells, Table
from heedful.errors import UserError

ENDING = ".parquet"
_SPLIT = "split"


def shards_in(folder: Path) -> list[Path]:
    """The Parquet files of a folder that has neither folders nor other tables in it; none of another one."""
    entries = [entry for entry in folder.iterdir() if not entry.name.startswith((".", "_"))]
    shards = sorted(entry for entry in entries if entry.suffix.lower() == ENDING)
    return [] if any(entry.is_dir() for entry in entries) else shards


def open_shards(folder: Path) -> Table:
    """The rows of all shards, numbered through; refuses shards whose columns differ."""
    shards = shards_in(folder)
    tables = [open_parquet(shard) for shard in shards]
    columns = tables[0].columns
    for table in tables[1:]:
        if set(table.columns) != set(columns):
            raise UserError(
                f"{table.path} has other columns than {shards[0].name} beside it: keep only shards of one "
                "table in a folder."
            )
    begins = [re.match(r"[a-z]+", shard.name.lower()) for shard in shards]
    words = [begin[0] if begin and begin[0] in SPLIT_WORDS else None for begin in begins]
    named = _SPLIT not in columns and all(words)
    if any(words) and not named and _SPLIT not in columns:
        other = shards[words.index(None)].name
        raise UserError(f"{folder} has shards named after splits, and {other}, which is not: rename that.")

    def rows(names: Sequence[str]) -> Iterator[tuple[int, Cells]]:
        first = 0
        asked = [name for name in names if not (named and name == _SPLIT)]
        for table, word in zip(tables, words, strict=True):
            number = 0
            for number, cells in table.rows(asked):
                if named:
                    found = dict(zip(asked, cells, strict=True), **{_SPLIT: word})
                    cells = tuple(found[name] for name in names)
                yield first + number, cells
            first += number

    note = f"Read {len(shards):,} Parquet shards of {folder.name} as one table."
    return Table(folder, [*columns, *([_SPLIT] if named else [])], "row", rows, (note,))
