"""Means over trained models and texts, of a number for each model and text, or for each two models and text.

Both have the interval of `crossed`: over seeds, crossed with the error over texts. Seeds need not have the
same texts. For pairs of models the seeds are what varies: two pairs with a model in common are not
independent, so a whole seed is left out at a time (the jackknife of a U-statistic; Arvesen, 1969), which errs
on the side of caution (Efron & Stein, 1981).
Axes: S seeds, N texts, P = S(S−1)/2 pairs, R rows.
"""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.errors import UserError
from heedful.records.crossed import crossed_interval
from heedful.records.interval import Estimate, unknown
from heedful.records.resampling import bootstrap_interval

Floats = NDArray[np.float64]


def crossed_mean(
    values: ArrayLike,
    *,
    seeds: ArrayLike,
    texts: ArrayLike,
    alone: bool = False,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> Estimate:
    """The mean over seeds of each seed's mean, from rows (R,) that say whose seed and which text they are.

    One seed has no interval, or with `alone` a bootstrap over its texts: a claim about that one run.
    """
    column = np.asarray(values, dtype=np.float64)
    _, seed = np.unique(np.asarray(seeds), return_inverse=True)
    _, text = np.unique(np.asarray(texts), return_inverse=True)
    if not len(column) or not np.isfinite(column).all():
        raise UserError("A mean over seeds and texts needs finite numbers: leave out what is undefined.")
    if alone and not seed.any():
        own = np.bincount(text, column) / np.bincount(text)
        return Estimate(float(own.mean()), bootstrap_interval(own))
    sizes = np.bincount(seed)
    means = np.bincount(seed, column) / sizes
    # What each text adds to the mean; where every seed has all texts, its own mean's distance from it, by N.
    each = np.bincount(text, (column - means[seed]) / (sizes[seed] * len(sizes)))
    count = len(each)
    error = math.sqrt(float((each**2).sum()) * count / (count - 1)) if count > 1 else 0.0
    interval = crossed_interval(means, count=count, error=error, within=within)
    return Estimate(float(means.mean()), interval)


def pairs_mean(table: ArrayLike, *, within: tuple[float, float] = (-math.inf, math.inf)) -> Estimate:
    """The mean of a table (N,P) of a number for each text and each two of S models, and its interval.

    The columns are in the order of `itertools.combinations`. One pair alone cannot tell how others vary.
    """
    rows = np.asarray(table, dtype=np.float64)
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise UserError(
            f"A mean over pairs needs a finite number a text and pair, and got shape {rows.shape}."
        )
    count, pairs = rows.shape
    seeds = (1 + math.isqrt(1 + 8 * pairs)) // 2
    if seeds * (seeds - 1) != 2 * pairs:
        raise UserError(f"There are 1, 3, 6, 10 … pairs of models, and got {pairs}.")
    mean, texts = float(rows.mean()), rows.mean(1)
    if seeds == 2:
        return Estimate(mean, unknown("one pair of seeds", level=0.95))
    own = np.zeros(seeds)  # the mean of the pairs that a seed is in
    for column, (first, second) in zip(rows.T, combinations(range(seeds), 2), strict=True):
        own[[first, second]] += column.mean() / (seeds - 1)
    # S·mean − (S − 1)·(the mean without the pairs of this seed): Tukey's pseudo-values.
    alike = (2 * (seeds - 1) * own - seeds * mean) / (seeds - 2)
    error = float(texts.std(ddof=1)) / math.sqrt(count) if count > 1 else 0.0
    ends = crossed_interval(alike, count=count, error=error, within=within)
    return Estimate(mean, replace(ends, method=f"jackknife over {seeds} seeds, crossed with {count:,} texts"))
