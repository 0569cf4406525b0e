"""How far two distributions are apart: Jensen–Shannon divergence in nats, and total variation distance.

Both are over the last axis and broadcast over the others. Two classes given as probabilities (…,2) have a
total variation distance of |p − q|, the change of the one probability.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor


def js_divergence(first: Tensor, second: Tensor, mask: Tensor | None = None) -> Tensor:
    """The Jensen–Shannon divergence (...) of distributions (...,T), between 0 and log 2.

    Slots where `mask` (...,T) is false do not count, whatever they hold. It can be differentiated everywhere,
    also where a weight is 0: the slope there is large and finite.
    """
    if mask is not None:
        first, second = first.masked_fill(~mask, 0), second.masked_fill(~mask, 0)
    both = first + second
    apart = _times_log(first) + _times_log(second) - _times_log(both) + math.log(2) * both
    # Rounding may leave equal distributions a hair below 0.
    return (apart.sum(-1) / 2).clamp(min=0)


def total_variation(first: Tensor, second: Tensor) -> Tensor:
    """The total variation distance (...) of distributions (...,K), between 0 and 1."""
    return (first - second).abs().sum(-1) / 2


DIVERGENCES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"js": js_divergence, "tvd": total_variation}


def _times_log(x: Tensor) -> Tensor:
    return x * x.clamp(min=torch.finfo(x.dtype).tiny).log()
