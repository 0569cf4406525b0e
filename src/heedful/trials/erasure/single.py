"""Single-item tests: does the top item of a ranking matter more than a random other one?

Serrano & Smith (2019), section 4, A.2 and A.3.
For each instance the top item i* and a random *other* item r are erased, each alone. ΔJS = JS(p, q_i*) −
JS(p, q_r) is set against Δα (Figs. 3, 4, 7, 8), and the decision flips of the two are counted against each
other (Table 2, Figs. 9, 12, 13). Divergences are in nats. Instances with one item have no other and are left
out, and counted.

Axes: B instances, N items.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from heedful.models.trace import Trace, decisions, probabilities
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
