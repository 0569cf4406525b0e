"""Seeded chance that belongs to an item: it depends on the seed, the instance and the item alone.

So a random ranking, and how a tie is broken, stays the same when a batch is padded further or when a corpus
is cut into other batches. A hash (the finaliser of splitmix64; Steele, Lea & Flood, 2014) gives the numbers,
not a running generator.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_STEP = np.uint64(0x9E3779B97F4A7C15)


def chance(seed: int, shape: Sequence[int], *, first: int = 0, sample: int = 0) -> NDArray[np.float64]:
    """Numbers (B,N), uniform in [0, 1): one for each instance and item.

    `first` is the number of the first instance in its corpus; other samples give unrelated numbers.
    """
    key = np.array([seed % 2**64], dtype=np.uint64)
    for number in (sample, np.arange(first, first + shape[0])[:, None], np.arange(shape[1])):
        # Always an array: NumPy warns where a single number wraps around, which is what a hash is for.
        key = mixed(key, np.atleast_1d(number).astype(np.uint64))
    return (key >> np.uint64(11)).reshape(shape).astype(np.float64) * 2.0**-53


def mixed(key: NDArray[np.uint64], number: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A new key from a key and a number; neighbours give unrelated keys."""
    z = key + (number + np.uint64(1)) * _STEP
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    hashed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return hashed
