"""The findings of section 4 and A.3 for every model: what erasing one item does. JS is in nats."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from heedful.errors import UserError
from heedful.papers.serrano_smith.rows import CellRows, each_cell
from heedful.records import Estimate, Finding, bootstrap, paired_difference

if TYPE_CHECKING:
    from heedful.trials import SingleErasures

CLOSE = 0.05  # nats: what "close to zero" is taken to mean; the largest JS there is is log 2 = 0.69
WIDE = (0.3, 0.5)  # Δα "like 0.4"


def single_table(rows: pd.DataFrame, rankings: Sequence[str] = ("attention",)) -> pd.DataFrame:
    """The findings of section 4 and A.3 for every model."""
    found = [
        finding.to_row()
        for cell in each_cell(rows)
        for ranking in rankings
        if len(cell.single(ranking).tested)
        for finding in _findings(cell, ranking)
    ]
    if not found:
        raise UserError(
            "No text has two items at the final attention layer, so no item can be compared with another: "
            "take a FLAN, or a corpus of longer texts."
        )
    return pd.DataFrame(found)


def _findings(cell: CellRows, ranking: str) -> Iterator[Finding]:
    from heedful.records.interval import share_of
    from heedful.trials import single_findings

    single = cell.single(ranking)
    shuffled = cell.single("shuffled") if "shuffled" in cell.erasures.sizes else None
    yield from single_findings(single, ranking, shuffled=shuffled, coordinates=cell.coordinates)
    tested, about = single.tested, {**cell.coordinates, "ranking": ranking}

    def share(name: str, among: np.ndarray, measured: str, of: np.ndarray) -> Iterator[Finding]:
        if among.any():
            found = share_of(of[among])
            yield _finding(name, found, int(among.sum()), measured, about, unit="of instances")

    negative, everything = tested.delta_js < 0, np.ones(len(tested), dtype=bool)
    close = abs(tested.delta_js) < CLOSE
    within = (tested.delta_weight >= WIDE[0]) & (tested.delta_weight < WIDE[1])
    yield from share(
        "positive ΔJS",
        everything,
        "share of instances where erasing the top item moves the output more than a random other item",
        tested.delta_js > 0,
    )
    yield from share(
        "negative ΔJS close to 0",
        negative,
        f"share of the negative ΔJS that are above −{CLOSE} nats",
        close,
    )
    yield from share(
        "ΔJS close to 0 at a large Δα",
        within & ~negative,
        f"share of the non-negative ΔJS below {CLOSE} nats where Δα is from {WIDE[0]} to {WIDE[1]}",
        close,
    )
    yield from share(
        "either flips",
        everything,
        "share of instances where the top item or the random other item flips the decision alone",
        tested.top_flips | tested.other_flips,
    )
    yield from _two_groups(
        "Δα where ΔJS is negative",
        negative,
        tested.delta_weight,
        "mean Δα of the instances with a negative ΔJS − mean Δα of the others",
        about,
    )
    yield from _wrong_flips(tested, about)
    if ranking != "attention" and "attention" in cell.erasures.sizes:
        usual = cell.single("attention").tested
        more = paired_difference(tested.top_flips, usual.top_flips)
        measured = "share of instances that the top item flips − the share that attention's top item flips"
        yield _finding(
            "flips beyond attention's top item", more, len(tested), measured, about, unit="of instances"
        )


def _wrong_flips(tested: "SingleErasures", about: dict) -> Iterator[Finding]:
    """How often the random other item is the one that flips, of the instances where one alone does."""
    from heedful.records.interval import share_of

    top, other = tested.top_flips & ~tested.other_flips, tested.other_flips & ~tested.top_flips
    if not (top | other).any():
        return
    columns = {"top": top, "other": other, "negative": tested.delta_js < 0}
    one = top | other
    wrong = share_of(other[one])
    measured = "of the instances that exactly one of the two flips, the share that the random other item does"
    yield _finding("wrong flips", wrong, int(one.sum()), measured, about, unit="of instances")
    gap = bootstrap(columns, lambda m: m["other"] / (m["top"] + m["other"]) - m["negative"])
    measured = "share of wrong flips − share of negative ΔJS"
    yield _finding("wrong flips − negative ΔJS", gap, len(tested), measured, about)


def _two_groups(
    name: str, group: np.ndarray, values: np.ndarray, measured: str, about: dict
) -> Iterator[Finding]:
    if not (group.any() and (~group).any()):
        return
    columns = {"a": group, "av": group * values, "b": ~group, "bv": ~group * values}
    difference = bootstrap(columns, lambda m: m["av"] / m["a"] - m["bv"] / m["b"])
    yield _finding(name, difference, len(values), measured, about)


def _finding(
    name: str, found: Estimate, count: int, measured: str, about: dict, *, unit: str = ""
) -> Finding:
    return Finding.of(
        name,
        found,
        count=count,
        measured=measured,
        unit=unit,
        coordinates=about,
    )
