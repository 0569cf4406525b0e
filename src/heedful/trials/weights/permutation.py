"""Permuting the weights (Jain & Wallace, 2019, section 4.2.1): what it does to the output.

For each instance the weights are permuted among its real slots, P times, and the median total variation
distance of the output is kept. With a linear head all permutations of an instance are one product
(P,T)·(T,K); any other head is run again, in batches. In a trace with several rows of weights each row is
permuted by itself.
Axes: P permutations, B instances, R rows of weights, T slots, K classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from heedful.errors import UserError
from heedful.models.trace import Trace, decisions, probabilities
from heedful.records import Finding
from heedful.trials.erasure.forwards import BUDGET, check_head
from heedful.trials.groups import mean_findings
from heedful.trials.rankings.chance import chance
from heedful.trials.to_frames import Framed
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
        permuted = permuted_weights(part, permutations, seed=seed)
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


def permuted_weights(trace: Trace, permutations: int, *, seed: int = 0) -> Tensor:
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
