"""Several rankings compared over many instances, as `Finding`s (Serrano & Smith, sections 5.3 to 5.5).

The exclusions that such a comparison needs: an instance with one item is left out; so is one that no ranking
of the comparison ever flips; one that only some flip counts as fully removed for the others. All three are
counted. The baselines of a number are the random ranking, and the shuffled weights ranked by themselves.

`coordinates` (corpus, model, …) are handed on to every finding; `seed` is the bootstrap's.
Axes: B instances, S samples of a ranking.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from heedful.errors import UserError, choose_from
from heedful.records import Estimate, Finding, bootstrap, mcnemar_exact
from heedful.records.interval import share_of
from heedful.records.resampling import mean_of
from heedful.trials.erasure.linear_votes import Bools, Floats
from heedful.trials.erasure.until_flip import Erasures

Coordinates = Mapping[str, str | int | float | bool | None]
NULLS = ("random", "shuffled")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Which instances a comparison of rankings keeps, and the counts of the others."""

    kept: Bools  # (B,)
    alone: int  # left out: one item only
    never: int  # left out: no ranking ever flips the decision
    partly: Mapping[
        str, int
    ]  # kept, but never flipped by this ranking (in a sample of it): counted as fully removed


def compare(erasures: Erasures, rankings: Sequence[str] | None = None) -> Comparison:
    """Which instances a comparison of these rankings keeps; by default all but the shuffled null."""
    names = [name for name in erasures.sizes if name != "shuffled"] if rankings is None else list(rankings)
    for name in names:
        choose_from("ranking", name, erasures.sizes)
    several = erasures.items > 1
    flips = np.stack([(erasures.sizes[name] > 0).any(1) for name in names]).any(0)
    kept = several & flips
    partly = {name: int((erasures.sizes[name][kept] < 0).any(1).sum()) for name in names}
    return Comparison(kept, int((~several).sum()), int((several & ~flips).sum()), partly)


def fraction_removed(
    erasures: Erasures,
    rankings: Sequence[str] | None = None,
    *,
    coordinates: Coordinates | None = None,
    seed: int = 0,
) -> list[Finding]:
    """Figs. 5, 6, 10: the share of items removed at the first flip, one finding for each ranking."""
    measured = "mean share of the items erased, in the order of the ranking, when the decision first flips"
    return by_ranking("fraction removed", erasures, rankings, _fractions, measured, coordinates, seed)


def mass_removed(
    erasures: Erasures,
    rankings: Sequence[str] | None = None,
    *,
    coordinates: Coordinates | None = None,
    seed: int = 0,
) -> list[Finding]:
    """Fig. 11: the share of the attention removed at the first flip, one finding for each ranking."""
    measured = (
        "mean share of the attention erased, in the order of the ranking, when the decision first flips"
    )
    return by_ranking("attention mass removed", erasures, rankings, _masses, measured, coordinates, seed)


def tail_share(
    erasures: Erasures,
    rankings: Sequence[str] | None = None,
    *,
    above: float = 0.5,
    coordinates: Coordinates | None = None,
    seed: int = 0,
) -> list[Finding]:
    """Fig. 6's tails: the share of instances where more than this fraction of the items had to go."""

    def late(found: Erasures, name: str) -> Floats:
        shares: Floats = (sizes_of(found, name) / np.maximum(found.items, 1)[:, None] > above).mean(1)
        return shares

    measured = f"share of instances where more than {above:.0%} of the items went before the decision flipped"
    return by_ranking(
        "late flips", erasures, rankings, late, measured, {**(coordinates or {}), "above": above}, seed
    )


def beats(
    erasures: Erasures,
    faster: str = "gradient",
    slower: str = "attention",
    *,
    coordinates: Coordinates | None = None,
    seed: int = 0,
) -> list[Finding]:
    """Section 5.4: how often one ranking needs fewer items than another, and how often vice versa.

    The ratio is left out where the other ranking never needs fewer: there is no such number.
    """
    comparison = compare(erasures, [faster, slower])
    kept = comparison.kept
    if not kept.any():
        raise _nothing_left(comparison)
    gap = (sizes_of(erasures, faster).mean(1) - sizes_of(erasures, slower).mean(1))[kept]
    fewer, more = gap < 0, gap > 0
    where = {**(coordinates or {}), "faster": faster, "slower": slower, **_counts(comparison)}
    where |= {"fewer": int(fewer.sum()), "more": int(more.sum())}
    share = share_of(fewer)
    found = [
        Finding.of(
            f"{faster} needs fewer items than {slower}",
            share,
            count=len(gap),
            unit="of instances",
            coordinates=where,
            measured=f"share of instances that {faster} flips with fewer items than {slower}; "
            f"sign test p = {mcnemar_exact(int(fewer.sum()), int(more.sum())):.3g}",
        )
    ]
    if more.any():
        ratio = bootstrap(
            {"fewer": fewer, "more": more}, lambda means: means["fewer"] / means["more"], seed=seed
        )
        found.append(
            Finding.of(
                f"{faster} beats {slower}",
                ratio,
                count=len(gap),
                unit="times as often as vice versa",
                coordinates=where,
                measured=f"instances where {faster} needs fewer items ÷ those where {slower} does",
            )
        )
    return found


def by_ranking(
    name: str,
    erasures: Erasures,
    rankings: Sequence[str] | None,
    measure: Callable[[Erasures, str], Floats],
    measured: str,
    coordinates: Coordinates | None,
    seed: int,
    *,
    kind: Literal["estimate", "lower bound", "upper bound"] = "estimate",
    better: Literal["higher", "lower"] = "lower",
    kept: Bools | None = None,
    nulls: Sequence[str] = NULLS,
) -> list[Finding]:
    """The mean of measure(erasures, ranking) (B,) over the kept instances, by ranking, beside the nulls."""
    comparison = compare(erasures, rankings)
    kept = comparison.kept if kept is None else kept
    if not kept.any():
        raise _nothing_left(comparison)

    def estimate(ranking: str, rows: Bools = kept) -> Estimate:
        values = measure(erasures, ranking)[rows]
        return mean_of(values, seed=seed)

    # The shuffled weights make another trace, with other decisions: those that nothing flips are left out.
    possible = kept if erasures.smallest_shuffled is None else kept & (erasures.smallest_shuffled > 0)
    rows = {"random": kept, "shuffled": possible}
    beside = {
        null: estimate(null, rows[null]) for null in nulls if null in erasures.sizes and rows[null].any()
    }
    found = []
    for ranking in comparison.partly:
        value = estimate(ranking)
        where = {**(coordinates or {}), "ranking": ranking, **_counts(comparison)}
        found.append(
            Finding.of(
                name,
                value,
                count=int(kept.sum()),
                baselines={null: known for null, known in beside.items() if null != ranking},
                better=better,
                kind=kind,
                coordinates={**where, "fully_removed": int((erasures.sizes[ranking][kept] < 0).any(1).sum())},
                measured=measured,
            )
        )
    return found


def sizes_of(erasures: Erasures, ranking: str) -> Floats:
    """Items erased (B,S) at the first flip; all of them where it never comes."""
    sizes = erasures.sizes[ranking]
    return np.where(sizes < 0, erasures.items[:, None], sizes).astype(np.float64)


def _fractions(erasures: Erasures, ranking: str) -> Floats:
    fractions: Floats = (sizes_of(erasures, ranking) / np.maximum(erasures.items, 1)[:, None]).mean(1)
    return fractions


def _masses(erasures: Erasures, ranking: str) -> Floats:
    masses: Floats = np.where(erasures.sizes[ranking] < 0, 1.0, erasures.masses[ranking]).mean(1)
    return masses


def _counts(comparison: Comparison) -> dict[str, int]:
    return {"excluded_alone": comparison.alone, "excluded_never": comparison.never}


def _nothing_left(comparison: Comparison) -> UserError:
    return UserError(
        f"No instance is left to compare: {comparison.alone} have one item only, "
        f"and {comparison.never} are never flipped."
    )
