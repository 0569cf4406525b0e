"""What the exact smallest sets tell of a ranking and of an instance: measures that no paper here could have.

`coordinates` and `seed` are as in `comparisons`. Axes: B instances.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from heedful.errors import UserError
from heedful.records import Finding
from heedful.records.interval import share_of
from heedful.trials.erasure.comparisons import NULLS, Coordinates, by_ranking, sizes_of
from heedful.trials.erasure.linear_votes import Bools, Floats, Longs
from heedful.trials.erasure.until_flip import Erasures


def optimality_gap(
    erasures: Erasures,
    rankings: Sequence[str] | None = None,
    *,
    coordinates: Coordinates | None = None,
    seed: int = 0,
) -> list[Finding]:
    """How many times as many items a ranking needs as are truly needed: 1 is optimal. One finding a ranking.

    Over instances with two items or more that can be flipped at all. Where the ranking never flips, all its
    items count, which is the least it can be charged with. With only an upper bound of the smallest sets, the
    gap is a lower bound.
    """

    def gaps(found: Erasures, name: str) -> Floats:
        least = _smallest(found, name)
        times: Floats = sizes_of(found, name).mean(1) / np.where(least > 0, least, 1)
        return times

    measured = "mean of the items the ranking needs ÷ the items of the smallest set that flips the decision"
    kind: Literal["estimate", "lower bound"] = "estimate" if erasures.kind == "exact" else "lower bound"
    return by_ranking(
        "optimality gap",
        erasures,
        rankings,
        gaps,
        measured,
        coordinates,
        seed,
        kind=kind,
        kept=_possible(erasures),
        nulls=_nulls(erasures),
    )


def optimal_share(
    erasures: Erasures,
    rankings: Sequence[str] | None = None,
    *,
    coordinates: Coordinates | None = None,
    seed: int = 0,
) -> list[Finding]:
    """The share of instances where the top of a ranking *is* a smallest set that flips the decision."""

    def optimal(found: Erasures, name: str) -> Floats:
        sizes = found.sizes[name]
        shares: Floats = ((sizes > 0) & (sizes <= _smallest(found, name)[:, None])).mean(1)
        return shares

    measured = "share of the instances that can be flipped where the ranking needs no more items than needed"
    kind: Literal["estimate", "upper bound"] = "estimate" if erasures.kind == "exact" else "upper bound"
    return by_ranking(
        "top set is a smallest set",
        erasures,
        rankings,
        optimal,
        measured,
        coordinates,
        seed,
        kind=kind,
        better="higher",
        kept=_possible(erasures),
        nulls=_nulls(erasures),
    )


def no_short_set(
    erasures: Erasures, *, share: float = 0.1, coordinates: Coordinates | None = None
) -> Finding:
    """The share of instances for which no set of at most this share of the items flips the decision.

    No explanation so short can exist for them, whatever the ranking. Instances that nothing flips are among
    them, and counted.
    """
    if erasures.kind != "exact":
        raise UserError(
            "That no short set exists can only be said of exact smallest sets, which need a linear head."
        )
    smallest, several = _smallest(erasures), erasures.items > 1
    if not several.any():
        raise UserError("No instance has two items, so there is nothing to measure.")
    long = ((smallest < 0) | (smallest > share * erasures.items))[several]
    found = share_of(long)
    where = {**(coordinates or {}), "share": share, "excluded_alone": int((~several).sum())}
    return Finding.of(
        "no short explanation",
        found,
        count=len(long),
        unit="of instances",
        coordinates={**where, "never_flipped": int((smallest[several] < 0).sum())},
        measured=f"share of instances whose decision no set of up to {share:.0%} of the items can change",
    )


def _smallest(erasures: Erasures, ranking: str = "") -> Longs:
    """The sizes of the smallest sets that a ranking is measured by: the shuffled null has another trace."""
    least = erasures.smallest_shuffled if ranking == "shuffled" else erasures.smallest
    if least is None:
        raise UserError("These erasures have no smallest sets: hand beam_flips(trace) to `erase`.")
    return least


def _possible(erasures: Erasures) -> Bools:
    return (_smallest(erasures) > 0) & (erasures.items > 1)


def _nulls(erasures: Erasures) -> Sequence[str]:
    return NULLS if erasures.smallest_shuffled is not None else ("random",)
