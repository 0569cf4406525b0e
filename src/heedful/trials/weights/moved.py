"""Other weights instead of a model's own, one row per text (Jain & Wallace, 2019, 4.2).

These are measures for `trials.stream.trace_trial`: the audit and the debate take the same. A text of one item
has no other weights: NaN. Axes: B texts, R rows of weights, T slots.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas
import torch
from torch import Tensor

from heedful.models.trace import Trace, decisions
from heedful.trials.erasure.linear_votes import in_numpy
from heedful.trials.rankings.layer_rankings import random_weights, shuffle_weights
from heedful.trials.weights.adversary import Adversary, exact_adversary, is_exact
from heedful.trials.weights.ascent import ascent_adversary
from heedful.trials.weights.permutation import permute_weights


def farthest_weights(
    trace: Trace,
    *,
    epsilon: float = 0.01,
    restarts: int = 5,
    steps: int = 500,
    rate: float = 0.01,
    nulls: bool = False,
    seed: int = 0,
) -> pandas.DataFrame:
    """The farthest weights that move the output by at most ε: exact where that is known, else by ascent.

    Columns: decided, largest (weight), divergence, change (of the output), same (decision), attainable (see
    there), kind; with `nulls` also divergence_shuffled and divergence_random, of permuted weights.
    """
    dealt = {"shuffled": shuffle_weights, "random": random_weights} if nulls else {}
    traces = [trace, *(deal(trace, seed=seed) for deal in dealt.values())]
    if is_exact(trace):
        found, *others = [exact_adversary(of, epsilon) for of in traces]
    else:
        climbing = {"restarts": restarts, "steps": steps, "rate": rate, "seed": seed}
        found, *others = _climbing_together(traces, epsilon, **climbing)
    # A change of at most ε moves a decision that lies that near to the boundary.
    same = decisions(trace.logits(found.weights.to(trace.weights.dtype))) == found.decided
    apart = {"divergence": found.divergence, "attainable": attainable(trace.weights, trace.mask)}
    apart |= {f"divergence_{name}": one.divergence for name, one in zip(dealt, others, strict=True)}
    several = trace.item_counts > 1
    columns = {name: values.double().where(several, torch.nan) for name, values in apart.items()}
    about = {"decided": found.decided, "largest": found.largest.double(), "same": same}
    columns |= {**about, "change": found.change.double()}
    return pandas.DataFrame({name: in_numpy(values) for name, values in columns.items()}).assign(
        kind=found.kind
    )


def _climbing_together(traces: Sequence[Trace], epsilon: float, **climbing: Any) -> list[Adversary]:
    """The ascent from the weights of several traces of the same instances at once, from the same starts."""
    own, copies = traces[0], len(traces)
    every = own.take(torch.arange(len(own), device=own.weights.device).repeat(copies))
    every = replace(every, weights=torch.cat([one.weights for one in traces]))
    found = ascent_adversary(every, epsilon, copies=copies, **climbing)
    names = ("weights", "divergence", "change", "decided", "largest")
    parts = zip(*(getattr(found, name).chunk(copies) for name in names), strict=True)
    return [replace(found, **dict(zip(names, part, strict=True))) for part in parts]


def permuted_weights(trace: Trace, *, permutations: int = 100, seed: int = 0) -> pandas.DataFrame:
    """Columns: decided, largest, and permuted, the median change of the output over permuted weights."""
    found = permute_weights(trace, permutations=permutations, seed=seed)
    columns = {"decided": found.decided, "largest": found.largest, "permuted": found.change}
    return pandas.DataFrame({name: in_numpy(values) for name, values in columns.items()})


def attainable(weights: Tensor, mask: Tensor) -> Tensor:
    """The largest divergence (B,) that any weights can have from these (B,T) or (B,R,T), whatever the output.

    JSD is convex, so nothing is farther from α than all weight on one item, log 2 − ½[(1 + a) log(1 + a) −
    a log a] for its weight a, hence the item of least weight. Of several rows the mean, as of the adversary.
    """
    some = mask.any(-1)
    a = weights.detach().double().masked_fill(~mask, torch.inf).amin(-1).where(some, 0)
    apart: Tensor = math.log(2) - (torch.special.xlogy(1 + a, 1 + a) - torch.special.xlogy(a, a)) / 2
    if apart.dim() == 1:
        return apart
    return (apart * some).sum(-1) / some.sum(-1)
