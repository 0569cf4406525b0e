"""Seeded chance that belongs to an item: it depends on the seed, the instance and the item alone.

So a random ranking, and how a tie is broken, stays the same when a batch is padded further or when a corpus
is cut into other batches. A hash (the finaliser of splitmix64; Steele, Lea & Flood, 2014) gives the numbers,
not a running generator.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.data.batches import Batch

_STEP = np.uint64(0x9E3779B97F4A7C15)


def chance(seed: int, shape: Sequence[int], *, first: int = 0, sample: int = 0) -> NDArray[np.float64]:
    """Numbers (B,N), uniform in [0, 1): one for each instance and item.

    `first` is the number of the first instance in its corpus; other samples give unrelated numbers.
    """
    return _numbers(seed, sample, np.arange(first, first + shape[0]), shape[1])


def mixed(key: NDArray[np.uint64], number: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A new key from a key and a number; neighbours give unrelated keys."""
    z = key + (number + np.uint64(1)) * _STEP
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    hashed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return hashed


def chance_of(batch: Batch, seed: int, *, sample: int = 0, each: int = 1) -> NDArray[np.float64]:
    """Numbers (B,T·each), uniform in [0, 1): what `chance` gives the texts that `batch.rows` name.

    With `each` a word has several in a row, so more padding only adds numbers at the end.
    """
    return _numbers(seed, sample, np.asarray(batch.rows), batch.mask.shape[1] * each)


def falling(
    scores: NDArray[np.float64], there: NDArray[np.bool_], drawn: Callable[[], NDArray[np.float64]]
) -> NDArray[np.int64]:
    """Places (B,N) by descending score, ties by the chance `drawn` (B,N), what is not there last."""
    # Not NaN, which NumPy would sort last too, but without its fast way.
    keys = np.where(there, -scores, np.inf)
    order = keys.argsort(1)
    ranked = np.take_along_axis(keys, order, 1)
    tied = ((ranked[:, 1:] == ranked[:, :-1]) & (ranked[:, 1:] < np.inf)).any(1)
    tied |= (there & (keys == np.inf)).any(1)  # a score of −∞ still comes before what is not there
    if tied.any():
        order[tied] = np.lexsort((drawn()[tied], keys[tied], ~there[tied]), axis=1)
    return order


def _numbers(seed: int, sample: int, instances: NDArray[np.int64], items: int) -> NDArray[np.float64]:
    key = np.array([seed % 2**64], dtype=np.uint64)
    # Always arrays: NumPy warns where a single number wraps around, which is what a hash is for.
    for number in (np.array([sample]), instances[:, None], np.arange(items)):
        key = mixed(key, number.astype(np.uint64))
    return (key >> np.uint64(11)).astype(np.float64) * 2.0**-53
