"""Spearman's ρ of two scores for all instances at once: the correlation of ranks, ties at their mean rank.

Axes: B instances, T slots.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.trials.agreement.kendall import compact


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
