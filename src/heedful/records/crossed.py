"""The interval of a mean over trained models that were all judged on the same texts: seeds × texts, crossed.

    var(mean) = σ²_seeds / S + σ²_texts / N + σ²_both / (S·N)

The spread over seeds tells of the first and the last term, the error over texts of the second and the last;
their sum counts the last twice, so it errs on the side of caution. Seeds alone would call two lucky runs with
one score certain; texts alone would take one training for all trainings.
"""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from heedful.errors import UserError
from heedful.records.closed_form import seeds_interval, wilson_interval
from heedful.records.interval import Interval, unknown


def crossed_interval(
    values: ArrayLike,
    *,
    count: int,
    error: float | None = None,
    alone: bool = False,
    within: tuple[float, float] = (-math.inf, math.inf),
    level: float = 0.95,
) -> Interval:
    """The interval of the mean of one number a seed (S,), each measured on the same `count` texts.

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
