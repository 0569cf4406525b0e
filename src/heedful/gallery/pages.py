"""Tables of the gallery's pages, filled in from what `heedful gallery` wrote, never typed.

A page has blocks, and what is between comment and end is written anew, once for each size that was written:

    <!-- made: gallery acf
    | | parameters | NDCG@10 |
    | attention | {, parameters} | {.3f NDCG@10, attention} |
    -->
    <!-- end -->

{FORMAT NAME} is a number of the entry: one of its table, or of "figure", "baseline", "yardstick",
"parameters" and "baseline_parameters"; FORMAT is Python's. {FORMAT NAME ±} has the interval over seeds beside
it, {FORMAT NAME by seed} is the number of each seed. A row or column of which a size measures nothing is left
out of its table, and a single number that it does not measure is a dash.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

from heedful.errors import choose_from
from heedful.gallery import ENTRIES
from heedful.gallery.entry import Size
from heedful.records.stored import load_json

BLOCK = re.compile(r"(<!-- made: gallery (\S+)\n(.*?)-->\n)(.*?)(<!-- end -->)", re.DOTALL)
PLACE = re.compile(r"\{(\S+) (.+?)( ±| by seed)?\}")
OWN = ("figure", "baseline", "parameters", "baseline_parameters")


def read_written(folder: str | Path) -> list[dict[str, Any]]:
    """What `heedful gallery` wrote, in the folder and those within, the smallest size first."""
    written = [load_json(path) for path in sorted(Path(folder).rglob("*.json"))]
    return sorted(written, key=lambda one: get_args(Size).index(one["size"]))


def fill_gallery(page: str, written: Sequence[Mapping[str, Any]]) -> str:
    """The page with the table of each of its entries for every size that was written."""

    def made(block: re.Match[str]) -> str:
        head, name, form, _, end = block.groups()
        own = [one for one in written if one["name"] == choose_from("gallery entry", name, ENTRIES)]
        if not own:
            return block[0]
        known = sorted({key for one in own for key in _numbers(one)})
        for _, key, _ in PLACE.findall(form):
            choose_from("number of the entry", key, known)
        first, *rows = [row.split("|")[1:-1] for row in form.strip().splitlines()]
        lines = []
        for one in own:
            filled = _table(first, rows, one)
            seeds = len(one["by_seed"])
            lines += [f"`--size {one['size']}`, {seeds} seed{'s' * (seeds != 1)}:", "", filled, ""]
        return "\n".join([head.rstrip(), "", *lines, end])

    return BLOCK.sub(made, page)


def _table(first: Sequence[str], rows: Sequence[Sequence[str]], one: Mapping[str, Any]) -> str:
    """The rows and columns of which this entry's size measures something, filled."""
    known = _numbers(one)

    def empty(cells: Iterable[str]) -> bool:
        names = [name for cell in cells for _, name, _ in PLACE.findall(cell)]
        return bool(names) and all(known.get(name) is None for name in names)

    rows = [row for row in rows if not empty(row)]
    columns = [column for column in range(len(first)) if not empty(row[column] for row in rows)]
    shown = [first, ["---"] * len(first), *rows]
    lines = ["|".join(["", *(row[column] for column in columns), ""]) for row in shown]
    return PLACE.sub(partial(_number, one), "\n".join(lines))


def _numbers(one: Mapping[str, Any]) -> dict[str, float | None]:
    """All numbers of an entry by name."""
    plain = one["yardstick"] or {"figure": None}
    return {**one["table"], **{name: one[name] for name in OWN}, "yardstick": plain["figure"]}


def _number(one: Mapping[str, Any], place: re.Match[str]) -> str:
    form, name, how = place.groups()
    values = [_numbers(one).get(name)]
    if how == " by seed":
        values = [seed.get(name, seed["table"].get(name)) for seed in one["by_seed"]]
    shown = ["–" if value is None else _shown(value, form) for value in values]
    ends = one["intervals"].get(name) if how == " ±" else None
    beside = "" if ends is None else f" [{', '.join(_shown(end, form) for end in ends)}]"
    return ", ".join(shown) + beside


def _shown(value: float, form: str) -> str:
    return format(value, form).replace("-", "−").replace("%", " %")
