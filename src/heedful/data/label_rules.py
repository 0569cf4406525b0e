"""A column that is no class by itself, read as a decision of two: a label that a text may have, or a number.

    toxic column of 0 and 1        marked("toxic")        "not toxic", "toxic"
    a list of labels a text        among("toxic")         the same
    stars, a similarity …          above(3.5)             "up to 3.5", "above 3.5"

The classes are called as a model with several labels, or a regression at a threshold, calls its own.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from heedful.data.tables.table import Table
from heedful.errors import UserError
from heedful.records.stored import parse_json

_NO = frozenset(("0", "0.0", "false", "no", "n", "f", "-1"))
_YES = frozenset(("1", "1.0", "true", "yes", "y", "t"))
PEEKED = 200  # rows by which a column of labels is told
_BETWEEN = re.compile(r"\s*[,;|]\s*")


@dataclass(frozen=True)
class LabelRule:
    """Which of two classes a cell stands for."""

    classes: tuple[str, str]  # no, yes
    holds: Callable[[Any], bool | None]  # of a cell that is not missing; None where it cannot be read
    wanted: str  # what a cell must be
    empty_says_no: bool = False  # otherwise the label of an empty cell is missing

    def __call__(self, cell: Any, *, source: str, place: str, number: str | int) -> str:
        """The class of a cell; "" where it is missing."""
        if cell is None or (isinstance(cell, float) and cell != cell):
            return ""
        if isinstance(cell, str) and not cell.strip():
            return self.classes[0] if self.empty_says_no else ""
        found = self.holds(cell)
        if found is None:
            raise UserError(f"{source} must have {self.wanted}, but {place} {number} has {str(cell)[:60]!r}.")
        return self.classes[found]


def yes_or_no(label: str) -> tuple[str, str]:
    """The two classes of a label that a text has or not."""
    return f"not {label}", label


def marked(label: str) -> LabelRule:
    """A column of its own for the label, with 0 and 1, no and yes, or false and true."""

    def holds(cell: Any) -> bool | None:
        word = str(cell).strip().lower()
        return True if word in _YES else False if word in _NO else None

    return LabelRule(yes_or_no(label), holds, f"0 or 1 in the column {label!r}")


def among(label: str, number: str | None = None) -> LabelRule:
    """A column with all labels of a text: a list, or names with commas, semicolons or bars between them.

    With `number` the column has the labels' numbers, and this is the label's.
    """
    sought = label.lower() if number is None else number

    def holds(cell: Any) -> bool | None:
        return sought in {name.lower() for name in labels_in(cell)}

    return LabelRule(yes_or_no(label), holds, "labels", empty_says_no=True)


def above(threshold: float) -> LabelRule:
    """A column of numbers, decided at a threshold."""

    def holds(cell: Any) -> bool | None:
        try:
            return float(cell) > threshold
        except (TypeError, ValueError):
            return None

    return LabelRule((f"up to {threshold:g}", f"above {threshold:g}"), holds, "numbers for labels")


def labels_in(cell: Any) -> list[str]:
    """The labels that a cell names."""
    if isinstance(cell, str) and cell.strip().startswith("["):
        try:
            cell = parse_json(cell.replace("'", '"'))
        except ValueError:
            cell = cell.strip().strip("[]")
    if isinstance(cell, str):
        return [name for name in _BETWEEN.split(cell.strip()) if name]
    return [str(name) for name in (cell if hasattr(cell, "__iter__") else [cell])]


def rule_for(
    table: Table | None, labels: Sequence[str], label: str, *, column: str | None = None
) -> tuple[LabelRule, str | None]:
    """How a table says whether a text has `label`, one of a model's `labels`; and in which column.

    That is a column of the label's own name, unless another is named; or one with all labels of a text.
    """
    if table is None:
        return among(label), column
    own = [name for name in table.columns if name and name.lower() == label.lower()]
    if column is None and own:
        return marked(label), own[0]
    if column is None or column not in table.columns:
        return among(label), column
    cells = [cells[0] for _, cells in islice(table.rows([column]), PEEKED)]
    names = {name.lower() for cell in cells if cell is not None for name in labels_in(cell)}
    if names and names <= _YES | _NO:
        return marked(label), column
    if names and all(name.isdigit() for name in names) and not names & {name.lower() for name in labels}:
        return among(label, str(list(labels).index(label))), column
    return among(label), column
