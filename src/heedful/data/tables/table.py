"""A table whose file was looked at once: its columns, and how to walk its rows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from heedful.errors import UserError

Cells = tuple[Any, ...]
Walk = Callable[[Sequence[str]], Iterator[tuple[int, Cells]]]


@dataclass(frozen=True)
class Table:
    """A file's `columns`, and `rows(names)`: a walk over the cells of these columns, each row with its
    number.

    `place` is what its rows are counted in; `notes` say what was taken for granted, "" where nothing was.
    """

    path: Path
    columns: list[str]
    place: str
    rows: Walk
    notes: tuple[str, ...] = ()


def refuse_empty(path: Path) -> NoReturn:
    raise UserError(f"{path} is empty: it needs a text and a label in each row.")
