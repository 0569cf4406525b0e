"""Spearman's ρ of two columns of words, with the interval of Bonett & Wright (2000)."""

import math
from statistics import NormalDist

import numpy as np
import pandas as pd

from heedful.errors import UserError
from heedful.records import Estimate, Interval

LEVEL = 0.95


def rank_correlation(first: pd.Series, second: pd.Series) -> Estimate:
    """ρ over words, ties sharing their mean rank; a constant column has none and is refused."""
    if len(first) < 4:
        raise UserError(f"A correlation over words needs at least 4 of them, but there are {len(first)}.")
    a, b = first.rank().to_numpy(), second.rank().to_numpy()
    if not (a.std() and b.std()):
        raise UserError("A correlation needs values that differ, but all words have the same.")
    value = float(np.clip(np.corrcoef(a, b)[0, 1], -1, 1))
    bounded = math.copysign(min(abs(value), 1 - 1e-12), value)
    half = NormalDist().inv_cdf((1 + LEVEL) / 2) * math.sqrt((1 + value**2 / 2) / (len(a) - 3))
    middle = math.atanh(bounded)
    method = "Bonett & Wright, over words"
    return Estimate(value, Interval(math.tanh(middle - half), math.tanh(middle + half), LEVEL, method))
