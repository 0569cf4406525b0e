"""Seeded chance that belongs to a text and its words, as `chance`, for the texts of a batch in any order."""

import numpy as np
from numpy.typing import NDArray

from heedful.data.batches import Batch
from heedful.trials.rankings.chance import mixed


def chance_of(batch: Batch, seed: int, *, sample: int = 0, each: int = 1) -> NDArray[np.float64]:
    """Numbers (B,T·each), uniform in [0, 1): what `chance` gives the texts that `batch.rows` name.

    With `each` a word has several in a row, so more padding only adds numbers at the end.
    """
    key = np.array([seed % 2**64], dtype=np.uint64)
    items = np.arange(batch.mask.shape[1] * each)
    for number in (np.array([sample]), np.asarray(batch.rows)[:, None], items):
        key = mixed(key, number.astype(np.uint64))
    return (key >> np.uint64(11)).astype(np.float64) * 2.0**-53
