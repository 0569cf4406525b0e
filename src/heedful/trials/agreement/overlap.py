"""How many of the k highest tokens two scores have in common, for all instances at once.

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
from heedful.trials.agreement.spearman import runs


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
