"""How many of the k highest tokens two scores have in common, and Spearman's ρ, for all instances at once.

Tied tokens share the places they compete for: where two tie for the last place, each counts half. That is the
mean over all ways to break the ties of both scores by chance, without drawing any. A random ranking reaches
k/n on average.
Axes: B instances, T slots; n tokens in an instance.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.errors import UserError
from heedful.trials.agreement.kendall import compact


def top_overlap(a: Tensor, b: Tensor, mask: Tensor, *, k: int) -> Tensor:
    """The share (B,) of the k highest tokens of a (B,T) that b has too; NaN with no more than k tokens."""
    if k < 1:
        raise UserError(f"The overlap of the highest tokens needs at least one of them, and got k = {k}.")
    first, second, real = compact(a, b, mask)
    counts = real.sum(1)
    both = (_among_top(first, counts, k) * _among_top(second, counts, k) * real).sum(1) / k
    return torch.from_numpy(np.where(counts > k, both, np.nan))


def random_overlap(mask: Tensor, *, k: int) -> Tensor:
    """What a random ranking reaches on average: k/n (B,); NaN where there are no more than k tokens."""
    counts = mask.sum(1).cpu().double()
    return torch.where(counts > k, k / counts, torch.nan)


def _among_top(values: NDArray, counts: NDArray, k: int) -> NDArray[np.float64]:
    """The probability (B,T) that each token is among the k highest when ties are broken by chance."""
    begins, ends = runs(values)
    higher = counts[:, None] - 1 - ends
    return np.clip((k - higher) / (ends - begins + 1), 0, 1)


def spearman(a: Tensor, b: Tensor, mask: Tensor) -> Tensor:
    """ρ (B,) of scores a and b (B,T) over the slots where `mask` is true; NaN where a score is constant."""
    first, second, real = compact(a, b, mask)
    middle = (real.sum(1, keepdims=True) - 1) / 2
    # Ranks are halves and their mean is exact, so these sums are too, up to their last division.
    x, y = (np.where(real, np.add(*runs(part)) / 2 - middle, 0) for part in (first, second))
    with np.errstate(invalid="ignore"):
        return torch.from_numpy((x * y).sum(1) / np.sqrt((x * x).sum(1)) / np.sqrt((y * y).sum(1)))


def runs(values: NDArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where in the rising order of its row each value's (B,T) run of equals begins, and where it ends."""
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    places = np.arange(values.shape[1])
    new = ordered[:, 1:] != ordered[:, :-1]
    starts, ends = np.zeros_like(order), np.full_like(order, values.shape[1] - 1)
    starts[:, 1:] = np.maximum.accumulate(np.where(new, places[1:], 0), axis=1)
    ends[:, :-1] = np.minimum.accumulate(np.where(new, places[:-1], values.shape[1] - 1)[:, ::-1], axis=1)[
        :, ::-1
    ]
    begins, finishes = np.empty_like(order), np.empty_like(order)
    np.put_along_axis(begins, order, starts, axis=1)
    np.put_along_axis(finishes, order, ends, axis=1)
    return begins, finishes
