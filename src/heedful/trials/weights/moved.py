"""Other weights instead of a model's own (Jain & Wallace, 2019, 4.2): permuted, or as far away as may be.

For each instance the weights are permuted among its real slots, P times, and the median total variation
distance of the output is kept. With a linear head all permutations of an instance are one product
(P,T)·(T,K); any other head is run again, in batches. In a trace with several rows of weights each row is
permuted by itself. The measures for `trials.stream.trace_trial`, one row per text, are what the audit and the
debate take. A text of one item has no other weights: NaN.
Axes: P permutations, B instances, R rows of weights, T slots, K classes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas
import torch
from torch import Tensor

from heedful.errors import UserError
from heedful.models.trace import Trace, decisions, probabilities
from heedful.records import Finding
from heedful.trials.erasure.forwards import BUDGET, check_head
from heedful.trials.erasure.linear_votes import in_numpy
from heedful.trials.groups import mean_findings
from heedful.trials.rankings.chance import chance
from heedful.trials.rankings.layer_rankings import random_weights, shuffle_weights
from heedful.trials.to_frames import Framed
from heedful.trials.weights.adversary import Adversary, exact_adversary, is_exact
from heedful.trials.weights.ascent import ascent_adversary
from heedful.trials.weights.divergence import total_variation


@dataclass(frozen=True, eq=False)
class Permutation(Framed):
    """What permuting the weights does to the output of each instance."""

    change: (
        Tensor  # (B,) the median total variation distance; NaN where a single token leaves nothing to permute
    )
    largest: Tensor  # (B,) the largest weight
    decided: Tensor  # (B,) the class the model decides
    permutations: int

    def findings(
        self, *, classes: Sequence[str] | None = None, level: float = 0.95, seed: int = 0
    ) -> list[Finding]:
        """The mean of the medians over all instances, by predicted class, and by largest weight."""
        return mean_findings(
            self.change,
            name="output change under permuted weights",
            measured=f"median total variation distance of an instance's output over {self.permutations} "
            "permutations of its weights; the mean over instances",
            decided=self.decided,
            classes=classes,
            largest=self.largest,
            level=level,
            seed=seed,
        )


@torch.no_grad()
def permute_weights(
    trace: Trace, *, permutations: int = 100, seed: int = 0, budget: int = BUDGET
) -> Permutation:
    """The median change of the output over permutations of each instance's weights.

    A corpus cut into other batches has the same permutations where its traces are numbered (`trace.first`).
    `budget` is the work space in bytes.
    """
    check_head(trace)
    if permutations < 1:
        raise UserError(f"This trial needs at least one permutation, better 100, and got {permutations}.")
    logits = trace.logits()
    # Keys while they are drawn, orders, permuted weights and, for other heads, the attended vectors.
    rows, slots = trace.mask.shape[1:-1].numel(), trace.mask.shape[-1]
    each = rows * (slots * 64 + trace.values.shape[-1] * 8)
    size = max(1, budget // (each * permutations))
    changes = [logits.new_zeros(0)]  # so that there is something to join where there is no instance
    for start in range(0, len(trace), size):
        numbers = torch.arange(start, min(start + size, len(trace)), device=trace.weights.device)
        part = trace.take(numbers).numbered(trace.first + start)
        permuted = dealt_weights(part, permutations, seed=seed)
        before = probabilities(part.logits())
        changes.append(total_variation(probabilities(_logits(part, permuted)), before).quantile(0.5, dim=0))
    change = torch.cat(changes).double()
    alone = (trace.mask.sum(-1) <= 1).flatten(1).all(1) if trace.mask.dim() == 3 else trace.mask.sum(-1) <= 1
    return Permutation(
        change=change.masked_fill(alone, torch.nan),
        largest=trace.weights.flatten(1).amax(1).double(),
        decided=decisions(logits),
        permutations=permutations,
    )


def dealt_weights(trace: Trace, permutations: int, *, seed: int = 0) -> Tensor:
    """The weights (P,B,T) or (P,B,R,T) permuted among the real slots of each row."""
    count, slots = trace.mask.shape[0], trace.mask.shape[-1]
    mask = trace.mask.reshape(count, -1, slots)  # (B,R,T)
    # The slot is the slowest axis of the numbers drawn, so more padding only adds numbers that are not used.
    keys = chance(seed, (count, slots * mask.shape[1] * permutations), first=trace.first)
    keys = keys.reshape(count, slots, -1, permutations).transpose(3, 0, 2, 1)  # (P,B,R,T)
    by_chance = np.argsort(np.where(mask.cpu().numpy(), keys, 2.0), axis=-1)
    # Both orders have the real slots first: theirs as they stand, and theirs by chance.
    standing = (~mask).to(torch.uint8).argsort(dim=-1, stable=True)
    weights = trace.weights.reshape(mask.shape).gather(-1, standing).expand(permutations, *mask.shape)
    dealt = torch.zeros_like(weights).scatter_(-1, torch.from_numpy(by_chance).to(mask.device), weights)
    return dealt.reshape(permutations, *trace.weights.shape)


def _logits(trace: Trace, weights: Tensor) -> Tensor:
    """The logits (P,B,K) under these weights (P,B,T): one product an instance where the head is linear."""
    linear = trace.linear
    if linear is None:
        return trace.logits(weights)
    products = torch.bmm(weights.transpose(0, 1), trace.token_logits).transpose(0, 1)  # (P,B,K)
    return products if linear.bias is None else products + linear.bias


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
