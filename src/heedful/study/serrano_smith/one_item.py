"""Section 4 in tables: ΔJS against Δα, its negative values by Δα, and who flips the decision alone.

`points` is a sample of the scatter of Figs. 3 and 7, `bins` what Figs. 4 and 8 count, `flips` the contingency
tables (Table 2, Figs. 9, 12, 13), `findings` the numbers that the claims are about. JS is in nats.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from heedful.errors import UserError
from heedful.records import (
    Estimate,
    Finding,
    benjamini_hochberg,
    bootstrap,
    paired_difference,
)
from heedful.study.serrano_smith.rows import CellRows, each_cell
from heedful.trials.comparisons import share_of
from heedful.trials.single import SingleErasures
from heedful.trials.single_findings import flip_table, single_findings

MOST_POINTS = 800  # of a panel: more would only be ink
EDGES = np.linspace(0, 1, 11)
CLOSE = 0.05  # nats: what "close to zero" is taken to mean; the largest JS there is is log 2 = 0.69
WIDE = (0.3, 0.5)  # Δα "like 0.4"


def points(rows: pd.DataFrame, ranking: str = "attention", *, seed: int = 0) -> pd.DataFrame:
    """Δα and ΔJS of at most `MOST_POINTS` instances of each model, drawn by the seed."""
    parts = []
    for cell in each_cell(rows):
        tested = cell.single(ranking).tested
        drawn = np.random.default_rng(seed).permutation(len(tested))[:MOST_POINTS]
        columns = {"delta_weight": tested.delta_weight[drawn], "delta_js": tested.delta_js[drawn]}
        parts.append(pd.DataFrame(columns).assign(**cell.coordinates, tested=len(tested)))
    return pd.concat(parts, ignore_index=True)


def bins(rows: pd.DataFrame, ranking: str = "attention") -> pd.DataFrame:
    """By tenths of Δα: instances, those with a negative ΔJS, and its mean with its standard error."""
    found = []
    for cell in each_cell(rows):
        tested = cell.single(ranking).tested
        place = np.clip(np.digitize(tested.delta_weight, EDGES) - 1, 0, len(EDGES) - 2)
        for number, (low, high) in enumerate(pairwise(EDGES)):
            values = tested.delta_js[place == number]
            several = len(values) > 1
            found.append(
                {
                    **cell.coordinates,
                    "from": low,
                    "to": high,
                    "instances": len(values),
                    "negatives": int((values < 0).sum()),
                    "mean_delta_js": values.mean() if len(values) else np.nan,
                    "standard_error": values.std(ddof=1) / np.sqrt(len(values)) if several else np.nan,
                }
            )
    return pd.DataFrame(found)


def flips(rows: pd.DataFrame, ranking: str = "attention") -> pd.DataFrame:
    """In how many instances the top item of a ranking, and a random other one, flips the decision alone.

    McNemar's p-values are also adjusted for the number of models (Benjamini & Hochberg).
    """
    found = []
    for cell in each_cell(rows):
        table = flip_table(cell.single(ranking))
        found.append(
            {
                **cell.coordinates,
                "ranking": ranking,
                "tested": table.count,
                "both": table.both,
                "top_only": table.top_only,
                "other_only": table.other_only,
                "neither": table.neither,
                "one_item": table.alone,
                "p": table.p_value,
            }
        )
    frame = pd.DataFrame(found)
    return frame.assign(p_adjusted=benjamini_hochberg(frame["p"]))


def shares(flipped: pd.DataFrame) -> pd.DataFrame:
    """The contingency tables in percent, as the paper prints them."""
    cells = ["both", "top_only", "other_only", "neither"]
    percent = 100 * flipped[cells].div(flipped["tested"].clip(lower=1), axis=0)
    return flipped.assign(**{f"{name}_%": percent[name].round(1) for name in cells}).drop(columns=cells)


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


def _wrong_flips(tested: SingleErasures, about: dict) -> Iterator[Finding]:
    """How often the random other item is the one that flips, of the instances where one alone does."""
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
    return Finding(
        name,
        found.value,
        interval=found.interval,
        count=count,
        measured=measured,
        unit=unit,
        coordinates=about,
    )
