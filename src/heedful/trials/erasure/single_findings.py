"""What the single-item tests found: Table 2's counts, ΔJS by Δα, and both as `Finding`s.

`coordinates` (corpus, model, …) are handed on to every finding; `seed` is the bootstrap's. ΔJS is in nats.
Axes: M bins.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heedful.errors import UserError
from heedful.records import Finding, mcnemar_exact, paired_difference
from heedful.records.interval import share_of
from heedful.records.resampling import mean_of
from heedful.trials.erasure.comparisons import Coordinates
from heedful.trials.erasure.linear_votes import Floats, Longs
from heedful.trials.erasure.single import SingleErasures


@dataclass(frozen=True)
class FlipTable:
    """Table 2: in how many instances erasing the top item, and a random other one, changes the decision."""

    both: int
    top_only: int
    other_only: int
    neither: int
    alone: int  # instances with one item, left out

    @property
    def count(self) -> int:
        """The instances tested."""
        return self.both + self.top_only + self.other_only + self.neither

    @property
    def p_value(self) -> float:
        """McNemar's exact test that the two flip equally often."""
        return mcnemar_exact(self.top_only, self.other_only)


@dataclass(frozen=True, eq=False)
class GapBins:
    """Figs. 3, 4, 7, 8 in numbers: instances by Δα, how many have a negative ΔJS, and its mean (nats)."""

    edges: Floats  # (M+1,)
    counts: Longs  # (M,)
    negatives: Longs  # (M,)
    mean_delta_js: Floats  # (M,) NaN in an empty bin


def flip_table(single: SingleErasures) -> FlipTable:
    """Count the decision flips of the top item against those of the random other item."""
    tested = single.tested
    top, other = tested.top_flips, tested.other_flips
    return FlipTable(
        both=int((top & other).sum()),
        top_only=int((top & ~other).sum()),
        other_only=int((~top & other).sum()),
        neither=int((~top & ~other).sum()),
        alone=single.alone,
    )


def js_by_weight_gap(single: SingleErasures, edges: Sequence[float] | None = None) -> GapBins:
    """ΔJS by bins of Δα: tenths from 0 to 1, or from −1 if there are negative Δα; the last bin is closed."""
    tested = single.tested
    tenths = np.linspace(-1, 1, 21) if (tested.delta_weight < 0).any() else np.linspace(0, 1, 11)
    sides = tenths if edges is None else np.asarray(edges, dtype=np.float64)
    counts, negatives = (
        np.histogram(tested.delta_weight[rows], sides)[0] for rows in (slice(None), tested.delta_js < 0)
    )
    sums = np.histogram(tested.delta_weight, sides, weights=tested.delta_js)[0]
    return GapBins(sides, counts, negatives, np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))


def single_findings(
    single: SingleErasures,
    ranking: str,
    *,
    shuffled: SingleErasures | None = None,
    coordinates: Coordinates | None = None,
    seed: int = 0,
) -> list[Finding]:
    """Section 4 for one ranking: flips of the top item, against a random other one, and ΔJS."""
    table, tested = flip_table(single), single.tested
    if table.count == 0:
        raise UserError(
            "No instance has two items, so no item can be compared with another: there is nothing to test."
        )
    where = {**(coordinates or {}), "ranking": ranking, "excluded_alone": table.alone}
    nulls = {"random": share_of(tested.other_flips)}
    lead_nulls, negative_nulls, mean_nulls = {}, {}, {}
    if shuffled is not None:
        beside = shuffled.tested
        nulls["shuffled"] = share_of(beside.top_flips)
        lead_nulls["shuffled"] = paired_difference(beside.top_flips, beside.other_flips, seed=seed)
        negative_nulls["shuffled"] = share_of(beside.delta_js < 0)
        mean_nulls["shuffled"] = mean_of(beside.delta_js, seed=seed)
    flips = share_of(tested.top_flips)
    difference = paired_difference(tested.top_flips, tested.other_flips, seed=seed)
    negative = share_of(tested.delta_js < 0)
    mean = mean_of(tested.delta_js, seed=seed)
    count = len(tested)
    return [
        Finding(
            "flips by the top item",
            flips.value,
            interval=flips.interval,
            count=count,
            baselines=nulls,
            unit="of instances",
            better="higher",
            coordinates=where,
            measured="share of instances whose decision changes when only the top item is erased",
        ),
        Finding(
            "flips by the top item beyond a random other",
            difference.value,
            interval=difference.interval,
            count=count,
            baselines=lead_nulls,
            unit="of instances",
            better="higher",
            coordinates={**where, "top_only": table.top_only, "other_only": table.other_only},
            measured="share where only the top item flips minus share where only the random other item does; "
            f"McNemar's exact test p = {table.p_value:.3g}",
        ),
        Finding(
            "negative ΔJS",
            negative.value,
            interval=negative.interval,
            count=count,
            baselines=negative_nulls,
            unit="of instances",
            better="lower",
            coordinates=where,
            measured="share of instances where erasing the random other item moves the output more (by JS)",
        ),
        Finding(
            "mean ΔJS",
            mean.value,
            interval=mean.interval,
            count=count,
            baselines=mean_nulls,
            unit="nats",
            better="higher",
            coordinates=where,
            measured="mean of JS after erasing the top item minus JS after erasing a random other item",
        ),
    ]
