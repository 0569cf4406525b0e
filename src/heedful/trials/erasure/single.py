"""Single-item tests: does the top item of a ranking matter more than a random other one?

Serrano & Smith (2019), section 4, A.2 and A.3.
For each instance the top item i* and a random *other* item r are erased, each alone. ΔJS = JS(p, q_i*) −
JS(p, q_r) is set against Δα (Figs. 3, 4, 7, 8), and the decision flips of the two are counted against each
other (Table 2, Figs. 9, 12, 13). Divergences are in nats. Instances with one item have no other and are left
out, and counted. In findings `coordinates` (corpus, model, …) are handed on, and `seed` is the bootstrap's.

Axes: B instances, N items, M bins.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from heedful.errors import UserError
from heedful.models.trace import Trace, decisions, probabilities
from heedful.records import Finding, mcnemar_exact, paired_difference
from heedful.records.interval import share_of
from heedful.records.resampling import mean_of
from heedful.trials.erasure.comparisons import Coordinates
from heedful.trials.erasure.erased import decided, logits_without, whole_logits
from heedful.trials.erasure.linear_votes import Bools, Floats, Longs, in_numpy
from heedful.trials.rankings.chance import chance
from heedful.trials.rankings.layer_rankings import attention, order_of, shuffle_weights
from heedful.trials.rankings.ranking import Ranking
from heedful.trials.weights.divergence import js_divergence

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class SingleErasures:
    """One row for each instance. Where it has one item `other` is −1, and what belongs to it NaN or false."""

    instance: Longs  # its number in the corpus
    items: Longs  # how many it has
    top: Longs  # i*
    other: Longs  # r
    top_weight: Floats  # α of i*
    other_weight: Floats
    top_js: Floats  # JS(p, q_i*), nats
    other_js: Floats
    top_flips: Bools  # whether erasing i* changes the decision
    other_flips: Bools

    def __len__(self) -> int:
        return len(self.items)

    @property
    def tested(self) -> "SingleErasures":
        """The instances with two items or more."""
        several = self.items > 1
        return SingleErasures(*(getattr(self, name)[several] for name in COLUMNS))

    @property
    def alone(self) -> int:
        """How many instances have one item only, and are left out of the tests."""
        return int((self.items < 2).sum())

    @property
    def delta_js(self) -> Floats:
        """ΔJS, nats: positive where the top item mattered more."""
        return self.top_js - self.other_js

    @property
    def delta_weight(self) -> Floats:
        """Δα: negative where the ranking puts an item with less attention on top."""
        return self.top_weight - self.other_weight

    def to_frame(self) -> "pandas.DataFrame":
        """One row per instance."""
        import pandas

        return pandas.DataFrame({name: getattr(self, name) for name in COLUMNS})

    @classmethod
    def from_frame(cls, frame: "pandas.DataFrame") -> Self:
        """What `to_frame` gave, perhaps of many batches."""
        return cls(*(frame[name].to_numpy() for name in COLUMNS))

    @classmethod
    def joined(cls, parts: Iterable[Self]) -> Self:
        """Several batches as one."""
        parts = list(parts)
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS))


COLUMNS = tuple(field.name for field in fields(SingleErasures))


def single_erasures(
    trace: Trace, ranking: str | Ranking | ArrayLike | Tensor = "attention", *, seed: int = 0
) -> SingleErasures:
    """Erase the top item of a ranking, and a random other one, in every instance that has two items or more.

    The ranking "shuffled" is tested on the trace with shuffled weights.
    """
    if isinstance(ranking, str) and ranking == "shuffled":
        return single_erasures(shuffle_weights(trace, seed=seed), seed=seed)
    order = order_of(ranking, trace, seed=seed)
    counts = trace.item_counts
    top, other = order[:, :1].flatten(), _random_other(order, counts, seed, trace.first)
    picked = torch.stack([top, other])  # (2,B)
    erased = torch.zeros(2, *trace.present.shape, dtype=torch.bool, device=order.device)
    erased.scatter_(2, picked[..., None], True)

    without = logits_without(trace, erased)
    js = js_divergence(probabilities(whole_logits(trace).double()), probabilities(without.double()))
    flips = decisions(without) != decided(trace)
    weights = attention(trace).double().expand(2, -1, -1).gather(2, picked[..., None])[..., 0]
    several = counts > 1
    other, flips = other.where(several, -1), flips & several
    js[1], weights[1] = (x[1].where(several, torch.nan) for x in (js, weights))
    number = torch.arange(trace.first, trace.first + len(trace))
    return SingleErasures(*(in_numpy(x) for x in (number, counts, top, other, *weights, *js, *flips)))


def _random_other(order: Tensor, counts: Tensor, seed: int, first: int) -> Tensor:
    """A random item of each instance that is not its top item; where there is no other, the top item."""
    drawn = torch.from_numpy(chance(seed, (len(order), 1), first=first, sample=-(2**20))).to(order.device)
    place = 1 + (drawn[:, 0] * (counts - 1)).long()
    return order.gather(1, torch.minimum(place, counts - 1).clamp(min=0)[:, None])[:, 0]


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
    count = len(tested)
    return [
        Finding.of(
            "flips by the top item",
            share_of(tested.top_flips),
            count=count,
            baselines=nulls,
            unit="of instances",
            better="higher",
            coordinates=where,
            measured="share of instances whose decision changes when only the top item is erased",
        ),
        Finding.of(
            "flips by the top item beyond a random other",
            paired_difference(tested.top_flips, tested.other_flips, seed=seed),
            count=count,
            baselines=lead_nulls,
            unit="of instances",
            better="higher",
            coordinates={**where, "top_only": table.top_only, "other_only": table.other_only},
            measured="share where only the top item flips minus share where only the random other item does; "
            f"McNemar's exact test p = {table.p_value:.3g}",
        ),
        Finding.of(
            "negative ΔJS",
            share_of(tested.delta_js < 0),
            count=count,
            baselines=negative_nulls,
            unit="of instances",
            better="lower",
            coordinates=where,
            measured="share of instances where erasing the random other item moves the output more (by JS)",
        ),
        Finding.of(
            "mean ΔJS",
            mean_of(tested.delta_js, seed=seed),
            count=count,
            baselines=mean_nulls,
            unit="nats",
            better="higher",
            coordinates=where,
            measured="mean of JS after erasing the top item minus JS after erasing a random other item",
        ),
    ]
