"""Pages of results in docs: their numbers are filled in from folders of experiments, never typed.

A page has blocks `<!-- made: KIND NAME -->` … `<!-- end -->` (a name where the kind needs one), and what is
between is written anew.
"""

import re
from collections.abc import Callable, Iterable, Sequence

BLOCK = re.compile(r"(<!-- made: (\w+)(?: (\S+))? -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(page: str, make: Callable[[str, str | None], Iterable[str]]) -> str:
    """The page with the lines that `make` gives for the kind and name of each block."""

    def made(block: re.Match[str]) -> str:
        return "\n".join([block[1].rstrip(), "", *make(block[2], block[3]), "", block[4]])

    return BLOCK.sub(made, page)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    return [_row(columns), "|---" * len(columns) + "|", *map(_row, rows)]


def _row(cells: Sequence[str]) -> str:
    """A line of a table; bars inside would end a cell."""
    return "| " + " | ".join(cell.replace("|", "∣") for cell in cells) + " |"
