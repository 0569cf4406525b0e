"""How figures of several seeds are drawn: the mean, and a bar from the lowest seed to the highest."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def mean_and_bar(values: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """The mean over seeds of values (seeds, ...), and how far the lowest and the highest are off (2, ...).

    Rounding can put the mean of equal numbers beside them: no bar is below 0, as matplotlib demands.
    """
    seeds = np.asarray(values, dtype=float)
    mean = seeds.mean(0)
    return mean, np.maximum(np.stack([mean - seeds.min(0), seeds.max(0) - mean]), 0)
