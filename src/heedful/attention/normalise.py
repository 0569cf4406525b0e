"""From scores to weights: softmax and sigmoid over real tokens. (Sparse normalisers are in `sparse`.)

Every normaliser takes scores (..., T) and a boolean mask that broadcasts to them, works over the last axis,
gives masked tokens exactly 0 and a row with no token all 0, and has finite gradients at any score: infinite
scores (a sum that overflowed in half precision) count as the largest finite number. NaN at a real token
stays NaN: it is a fault to be seen.
"""

from collections.abc import Callable

import torch
from torch import Tensor

Normaliser = Callable[[Tensor, Tensor], Tensor]


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """exp(a_j) / Σ exp(a_i) over real tokens: every real token gets some weight."""
    # A row with no token is left open, so that no 0/0 arises, and emptied with the other padding at the end.
    open_to = mask | ~mask.any(-1, keepdim=True)
    weights = finite(scores).masked_fill(~open_to, -torch.inf).softmax(-1)
    return weights.masked_fill(~mask, 0)


def sigmoid_weights(scores: Tensor, mask: Tensor) -> Tensor:
    """1 / (1 + exp(−a_j)), each token by itself: the weights do not sum to 1, by intent."""
    return scores.masked_fill(~mask, 0).sigmoid().masked_fill(~mask, 0)


def finite(scores: Tensor) -> Tensor:
    """Pull ±∞ to the largest finite numbers, because ∞ − ∞ would be NaN."""
    limits = torch.finfo(scores.dtype)
    return scores.clamp(limits.min, limits.max)
