"""The interval of a mean over trained models that were all judged on the same texts: seeds × texts, crossed.

    var(mean) = σ²_seeds / S + σ²_texts / N + σ²_both / (S·N)

The spread over seeds tells of the first and the last term, the error over texts of the second and the last;
their sum counts the last twice, so it errs on the side of caution. Seeds alone would call two lucky runs with
one score certain; texts alone would take one training for all trainings.

Means come from a number for each model and text, or for each two models and text; seeds need not have the
same texts. For pairs of models the seeds are what varies: two pairs with a model in common are not
independent, so a whole seed is left out at a time (the jackknife of a U-statistic; Arvesen, 1969), which errs
on the side of caution (Efron & Stein, 1981).
Axes: S seeds, N texts, P = S(S−1)/2 pairs, R rows.
"""

import math
from dataclasses import replace
from itertools import combinations
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.errors import UserError
from heedful.records.interval import Estimate, Interval, seeds_interval, unknown, wilson_interval
from heedful.records.resampling import bootstrap_interval


def crossed_interval(
    values: ArrayLike,
    *,
    count: int,
    error: float | None = None,
    alone: bool = False,
    within: tuple[float, float] = (-math.inf, math.inf),
    level: float = 0.95,
) -> Interval:
    """The interval of the mean of one number per seed (S,), each measured on the same `count` texts.

    `error` is the standard error of that mean over texts, None where it is not known. One seed says nothing
    of others: with `alone` its interval is over texts and says so (a score on a split has a meaning for one
    run), otherwise it is unbounded. The ends stay `within` what the number can be. However alike all numbers
    are, the interval is no narrower than Wilson's for something that `count` texts never showed.
    """
    runs = np.asarray(values, dtype=np.float64)
    least = wilson_interval(0, count, level=level).high
    texts = max(least, NormalDist().inv_cdf((1 + level) / 2) * (error or 0.0))
    seeds = seeds_interval(runs, level=level)
    if error is not None and not 0 <= error < math.inf:
        raise UserError(f"The error over texts is a number of at least 0, and got {error}.")
    if seeds.bounded:
        spread = (seeds.high - seeds.low) / 2
        half = max(spread, least) if error is None else math.hypot(spread, texts)
        method = seeds.method if error is None else f"{seeds.method}, crossed with {count:,} texts"
    elif alone and error is not None:
        half, method = texts, f"over {count:,} texts of one seed: how seeds vary is not in it"
    else:
        return unknown("one seed", level=level)
    mean, (lowest, highest) = float(runs.mean()), within
    return Interval(max(lowest, mean - half), min(highest, mean + half), level=level, method=method)


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
            f"A mean over pairs needs a finite number per text and pair, and got shape {rows.shape}."
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
