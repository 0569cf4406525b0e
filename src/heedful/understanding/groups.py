"""What is told of a group of numbers: mean, size, quartiles, count.

Axes: n members of the group; anything before it, such as C columns told at once.
"""

import numpy as np

STATISTICS = ("mean", "size", "low", "middle", "high")


def summaries(values: np.ndarray) -> dict[str, np.ndarray]:
    """Mean, size (mean of absolute values) and quartiles of values (..., n), each (...); NaN of no members.

    Quartiles are those of `np.quantile`, written out because it takes a hundred times as long on small
    arrays.
    """
    count = values.shape[-1]
    if not count:
        return {name: np.full(values.shape[:-1], np.nan) for name in STATISTICS}
    ordered = np.sort(values, axis=-1)  # in their own precision: single sorts twice as fast
    place = np.array([0.25, 0.5, 0.75]) * (count - 1)
    below = place.astype(int)
    above = np.minimum(below + 1, count - 1)
    left, right = ordered[..., below].astype(np.float64), ordered[..., above].astype(np.float64)
    low, middle, high = np.moveaxis(left + (place - below) * (right - left), -1, 0)
    mean, size = (part.sum(-1, dtype=np.float64) / count for part in (ordered, np.abs(ordered)))
    return {"mean": mean, "size": size, "low": low, "middle": middle, "high": high}


def grouped(values: np.ndarray) -> dict[str, float]:
    """The same of one group (n,), as plain numbers, with its count."""
    return {name: float(value) for name, value in summaries(values).items()} | {"count": len(values)}
