"""From scores to weights with exact zeros: sparsemax and entmax-1.5.

Martins & Astudillo (2016) and Peters et al. (2019). Both give w_j = max(z_j − τ, 0)^p with the threshold τ
that makes the weights sum to 1: p = 1 and z = a for sparsemax, p = 2 and z = a/2 for entmax-1.5. Sorting
finds the support, the tokens above τ, without gradient; given the support, τ is a closed form in its scores,
and differentiating that form gives the exact Jacobian.

With z measured from the largest of its row, τ ≥ −1. So any z below −2 may be raised to −2 without changing a
weight: this is how masked tokens drop out and why no score is too large. (Raised to −1 they would lie on the
threshold itself, and rounding would decide who belongs to the support.) The promises of `normalise` hold.
Where a row is asked for its largest or its threshold a place is added, so that a row of no tokens has them.
Axes: T tokens, the last.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from heedful.attention.normalise import finite


def sparsemax(scores: Tensor, mask: Tensor) -> Tensor:
    """The nearest point of the simplex to the scores."""
    z = below_largest(scores, mask, divisor=1)
    ranked, sizes = ranking(z)
    sums = ranked.cumsum(-1)
    size = (1 + sizes * ranked > sums).sum(-1, keepdim=True).clamp(min=1)
    inside = ~(z <= (F.pad(sums, (0, 1)).gather(-1, size - 1) - 1) / size)  # NaN is inside, so that it shows

    threshold = (z.masked_fill(~inside, 0).sum(-1, keepdim=True) - 1) / inside.sum(-1, keepdim=True)
    weights = (z - threshold).clamp(min=0)
    return weights.masked_fill(~(inside & mask), 0).to(scores.dtype)


def entmax15(scores: Tensor, mask: Tensor) -> Tensor:
    """Entmax with α = 1.5, half-way between softmax (α = 1) and sparsemax (α = 2)."""
    z = below_largest(scores, mask, divisor=2)
    ranked, sizes = ranking(z)
    means = ranked.cumsum(-1) / sizes
    spreads = ranked.square().cumsum(-1) - sizes * means.square()
    thresholds = means - ((1 - spreads) / sizes).clamp(min=0).sqrt()
    size = (thresholds <= ranked).sum(-1, keepdim=True).clamp(min=1)
    inside = ~(z <= F.pad(thresholds, (0, 1)).gather(-1, size - 1))  # NaN is inside, so that it shows

    # The same threshold again, now from deviations about the mean, which lose no digits in long rows.
    size = inside.sum(-1, keepdim=True)
    mean = z.masked_fill(~inside, 0).sum(-1, keepdim=True) / size
    spread = (z - mean).masked_fill(~inside, 0).square().sum(-1, keepdim=True)
    threshold = mean - ((1 - spread) / size).sqrt()
    weights = (z - threshold).clamp(min=0).square()
    return weights.masked_fill(~(inside & mask), 0).to(scores.dtype)


def below_largest(scores: Tensor, mask: Tensor, *, divisor: int) -> Tensor:
    """z = (a − max a) / divisor within [−2, 0], masked tokens at −2; half precision is widened."""
    wide = finite(scores.float() if scores.dtype.itemsize < 4 else scores)
    real = wide.detach().masked_fill(~mask, -torch.inf)
    largest = F.pad(real, (0, 1), value=-torch.inf).amax(-1, keepdim=True)
    return ((wide - largest) / divisor).clamp(min=-2).masked_fill(~mask, -2)


def ranking(z: Tensor) -> tuple[Tensor, Tensor]:
    """z from largest to smallest, without gradient, and the number of tokens down to each: 1, 2, …, T."""
    ranked = z.detach().sort(-1, descending=True).values
    return ranked, torch.arange(1, z.shape[-1] + 1, device=z.device, dtype=z.dtype)
