"""Section 5 in tables: what must go before the decision flips, by ranking, and at least.

`boxes` has the boxes of Figs. 5, 6, 10 and 11, the smallest set as one more ("exact", ours); `multi_table`
the findings that the claims are about. The exclusions are the paper's: instances with one item, and those
that none of the four rankings ever flips; both are counted.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from heedful.errors import UserError
from heedful.records import Estimate, Finding, bootstrap_interval, paired_difference
from heedful.study.serrano_smith.rows import CellRows, each_cell
from heedful.trials.comparisons import (
    beats,
    compare,
    fraction_removed,
    mass_removed,
    sizes_of,
    tail_share,
)
from heedful.trials.optimality import no_short_set, optimal_share, optimality_gap

Floats = NDArray[np.float64]
Quantity = Literal["fraction", "mass"]
QUANTITIES: tuple[Quantity, ...] = ("fraction", "mass")
EXACT = "exact"
# Whose savings over whom the claims ask for: (faster, slower).
PAIRS = (
    ("attention", "random"),
    ("gradient", "attention"),
    ("product", "attention"),
    ("product", "gradient"),
)


def boxes(rows: pd.DataFrame, quantity: Quantity = "fraction") -> pd.DataFrame:
    """Quartiles, ends of the whiskers (1.5 IQR) and mean of each ranking's distribution, by model.

    All samples of the random ranking are in its distribution. The mass of the smallest set is left out: there
    may be several smallest sets, of different mass.
    """
    found = []
    for cell in each_cell(rows):
        comparison = compare(cell.erasures, cell.rankings)
        if not comparison.kept.any():
            continue
        about = {"excluded_one_item": comparison.alone, "excluded_never": comparison.never}
        for ranking in cell.rankings:
            values = _values(cell, ranking, quantity)[comparison.kept]
            partly = {"fully_removed": comparison.partly[ranking]}
            found.append({**cell.coordinates, "ranking": ranking, **about, **partly, **_box(values)})
        if quantity == "fraction" and cell.erasures.smallest is not None:
            least = (cell.erasures.smallest / cell.erasures.items)[comparison.kept]
            found.append({**cell.coordinates, "ranking": EXACT, **about, "fully_removed": 0, **_box(least)})
    return pd.DataFrame(found)


def multi_table(rows: pd.DataFrame) -> pd.DataFrame:
    """The findings of section 5 and A.3 for every model, and those of the smallest sets."""
    found = list(chain.from_iterable(_findings(cell) for cell in each_cell(rows)))
    if not found:
        raise UserError("No decision of these models ever flips, so there is nothing to compare.")
    return pd.DataFrame([finding.to_row() for finding in found])


def exact_table(rows: pd.DataFrame, rankings: Sequence[str]) -> pd.DataFrame:
    """How far each ranking is from the smallest sets, by model."""
    found: list[Finding] = []
    for cell in each_cell(rows):
        erasures, about = cell.erasures, cell.coordinates
        if not compare(erasures, cell.rankings).kept.any():
            continue
        found += optimality_gap(erasures, rankings, coordinates=about)
        found += optimal_share(erasures, rankings, coordinates=about)
        found += [no_short_set(erasures, share=share, coordinates=about) for share in (0.1, 0.5)]
    return pd.DataFrame([finding.to_row() for finding in found])


def _findings(cell: CellRows) -> Iterator[Finding]:
    erasures, about, rankings = cell.erasures, cell.coordinates, cell.rankings
    kept = compare(erasures, rankings).kept
    if not kept.any():
        return
    yield from fraction_removed(erasures, rankings, coordinates=about)
    yield from mass_removed(erasures, rankings, coordinates=about)
    yield from tail_share(erasures, rankings, coordinates=about)
    yield from beats(erasures, "gradient", "attention", coordinates=about)
    for ranking in rankings:
        for quantity in QUANTITIES:
            values = _values(cell, ranking, quantity)[kept].mean(1)
            middle = Estimate(float(np.median(values)), bootstrap_interval(values, "median"))
            yield _finding(
                f"median {quantity} removed",
                middle,
                len(values),
                f"median {quantity} gone when the decision first flips, in the order of the ranking",
                {**about, "ranking": ranking},
            )
    for faster, slower in PAIRS:
        for quantity in QUANTITIES:
            few, many = (_values(cell, name, quantity)[kept].mean(1) for name in (faster, slower))
            yield _finding(
                f"{quantity} saved",
                paired_difference(many, few),
                len(few),
                f"mean {quantity} removed by the slower ranking − by the faster, at the first flip",
                {**about, "faster": faster, "slower": slower},
            )


def _values(cell: CellRows, ranking: str, quantity: Quantity) -> Floats:
    """The fraction of the items, or the mass of the attention, (B,S) gone at the first flip; 1 for never."""
    erasures = cell.erasures
    if quantity == "fraction":
        return sizes_of(erasures, ranking) / np.maximum(erasures.items, 1)[:, None]
    return np.where(erasures.sizes[ranking] < 0, 1.0, erasures.masses[ranking])


def _box(values: Floats) -> dict[str, float]:
    lower, middle, upper = np.quantile(values, [0.25, 0.5, 0.75])
    reach = 1.5 * (upper - lower)
    return {
        "instances": len(values),
        "low": float(values[values >= lower - reach].min()),
        "lower_quartile": float(lower),
        "median": float(middle),
        "upper_quartile": float(upper),
        "high": float(values[values <= upper + reach].max()),
        "mean": float(values.mean()),
        "above_half": float((values > 0.5).mean()),
    }


def _finding(name: str, found: Estimate, count: int, measured: str, about: dict) -> Finding:
    return Finding(
        name, found.value, interval=found.interval, count=count, measured=measured, coordinates=about
    )
