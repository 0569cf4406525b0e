"""From tables of words to effects with intervals: over seeds where there are several, over words otherwise.

A statistic reads the words of one run and gives an estimate whose interval is over words. `effect` takes it
on every seed's run: of several seeds, the mean with Student's t; of one, the estimate itself. Accuracies,
which are of texts, are crossed with them instead (`accuracy_effect`). Tables keep only the errors over texts
that come of a run's hits: those would fill a table with all texts of all runs. Axes: S seeds, N texts.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from statistics import NormalDist

import numpy as np
import pandas as pd

from heedful.errors import UserError
from heedful.records import Estimate, Finding, Interval
from heedful.records.crossed import crossed_interval
from heedful.records.interval import seeds_interval, share_of
from heedful.study.controls import error_of

Statistic = Callable[[pd.DataFrame], Estimate]
LEVEL = 0.95
OF_SHARES = ("DeLong, over words", "Wilson score")  # how intervals of shares are made
_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


def effect(name: str, words: pd.DataFrame, statistic: Statistic, *, measured: str, unit: str = "") -> Finding:
    """The statistic of the words of each seed's run; `words` are those of one setting."""
    runs = dict(list(words.groupby("seed")))
    found = [statistic(frame) for frame in runs.values()]
    varied = {
        key: words[key].iloc[0]
        for key in ("corpus", "model", "scale", "l2")
        if key in words and words[key].nunique(dropna=False) == 1
    }
    count = min(map(len, runs.values()))
    make = partial(Finding, name, count=count, measured=measured, unit=unit, coordinates=varied)
    if len(found) == 1:
        return make(found[0].value, interval=found[0].interval)
    values = [one.value for one in found]
    span = seeds_interval(values, level=LEVEL)
    if all(one.interval is not None and one.interval.method in OF_SHARES for one in found):
        # Student's t does not know that a share ends at 0 and 1.
        span = Interval(max(0.0, span.low), min(1.0, span.high), LEVEL, span.method)
    return make(float(np.mean(values)), interval=span, seeds=len(values))


def effect_of_runs(
    name: str,
    values: Sequence[float],
    *,
    measured: str,
    count: int,
    unit: str = "",
    within: tuple[float, float] = (-math.inf, math.inf),
) -> Finding:
    """The mean of one number per seed, whose ends stay `within` what it can be; one seed decides nothing."""
    span = seeds_interval(values, level=LEVEL)
    if span.bounded:
        span = Interval(max(within[0], span.low), min(within[1], span.high), LEVEL, span.method)
    return Finding(
        name,
        float(np.mean(values)),
        count=count,
        measured=measured,
        unit=unit,
        interval=span,
        seeds=len(values),
    )


def error_over_texts(runs: pd.DataFrame, than: pd.DataFrame | None = None) -> float:
    """The standard error of these seeds' mean accuracy, or of its lead over other runs, text by text."""
    each = _mean_hits(runs)
    return error_of(each if than is None else each - _mean_hits(than))


def accuracy_effect(
    name: str, values: Sequence[float], *, measured: str, texts: int, error: float, alone: bool = False
) -> Finding:
    """The mean of one accuracy a seed (S,), or of a difference of two, in points: seeds crossed with texts.

    One seed alone decides nothing, unless `alone` asks for its interval over texts (see `records.crossed`).
    """
    span = crossed_interval(values, count=texts, error=error, alone=alone, within=(-1, 1))
    return Finding(
        name,
        100 * float(np.mean(values)),
        interval=Interval(100 * span.low, 100 * span.high, span.level, span.method),
        count=texts,
        seeds=len(values),
        measured=measured,
        unit="points",
    )


def rank_correlation(first: pd.Series, second: pd.Series) -> Estimate:
    """ρ over words, ties sharing their mean rank; a constant column has none and is refused."""
    if len(first) < 4:
        raise UserError(f"A correlation over words needs at least 4 of them, but there are {len(first)}.")
    a, b = first.rank().to_numpy(), second.rank().to_numpy()
    if not (a.std() and b.std()):
        raise UserError("A correlation needs values that differ, but all words have the same.")
    value = float(np.clip(np.corrcoef(a, b)[0, 1], -1, 1))
    bounded = math.copysign(min(abs(value), 1 - 1e-12), value)
    half = _Z * math.sqrt((1 + value**2 / 2) / (len(a) - 3))
    middle = math.atanh(bounded)
    method = "Bonett & Wright, over words"
    return Estimate(value, Interval(math.tanh(middle - half), math.tanh(middle + half), LEVEL, method))


def above(column: str, first: Sequence[str], second: Sequence[str]) -> Statistic:
    """How often a word of the first types has more than one of the second, a tie counting half.

    The interval is that of DeLong, DeLong & Clarke-Pearson (1988).
    """
    return partial(_above, column=column, first=tuple(first), second=tuple(second))


def gap(column: str, first: str, second: str) -> Statistic:
    """The difference of two types' means in standard deviations (Cohen's d; Hedges & Olkin's interval)."""
    return partial(_gap, column=column, first=first, second=second)


def share(column: str, types: Sequence[str]) -> Statistic:
    """The share of these types' words whose value is above 0 (Wilson's interval)."""
    return partial(_share, column=column, types=tuple(types))


def polar_types(words: pd.DataFrame) -> tuple[str, ...]:
    """The types that are not neutral, positive before negative."""
    found = sorted(set(words["type"]) - {"neutral"})
    return ("positive", "negative") if found == ["negative", "positive"] else tuple(found)


def above_neutral(words: pd.DataFrame, column: str = "attention") -> np.ndarray:
    """Of each seed's run (S,), how often a polar word has more of a score than a neutral one."""
    statistic = above(column, polar_types(words), ["neutral"])
    return np.array([statistic(run).value for _, run in words.groupby("seed")])


def _values(words: pd.DataFrame, column: str, types: Sequence[str]) -> np.ndarray:
    values = words.loc[words["type"].isin(types), column].to_numpy(np.float64)
    numbers: np.ndarray = values[~np.isnan(values)]
    return numbers


def _above(words: pd.DataFrame, *, column: str, first: Sequence[str], second: Sequence[str]) -> Estimate:
    x, y = _values(words, column, first), _values(words, column, second)
    ranks = pd.Series(np.concatenate([x, y])).rank().to_numpy()
    beaten = (ranks[: len(x)] - pd.Series(x).rank().to_numpy()) / len(y)  # share of y below each x
    beating = (ranks[len(x) :] - pd.Series(y).rank().to_numpy()) / len(x)  # share of x below each y
    value = float(beaten.mean())
    half = _Z * math.sqrt(_variance(beaten) + _variance(beating))
    return Estimate(value, Interval(max(0.0, value - half), min(1.0, value + half), LEVEL, OF_SHARES[0]))


def _variance(values: np.ndarray) -> float:
    """Of the mean; one value has none that we could know."""
    return float(values.var(ddof=1)) / len(values) if len(values) > 1 else math.inf


def _gap(words: pd.DataFrame, *, column: str, first: str, second: str) -> Estimate:
    x, y = _values(words, column, [first]), _values(words, column, [second])
    m, n = len(x), len(y)
    pooled = math.sqrt(((m - 1) * x.var(ddof=1) + (n - 1) * y.var(ddof=1)) / (m + n - 2))
    value = float(x.mean() - y.mean()) / pooled
    half = _Z * math.sqrt((m + n) / (m * n) + value**2 / (2 * (m + n)))
    return Estimate(value, Interval(value - half, value + half, LEVEL, "Hedges & Olkin, over words"))


def _share(words: pd.DataFrame, *, column: str, types: Sequence[str]) -> Estimate:
    values = _values(words, column, types)
    return share_of(values > 0, level=LEVEL)


def _mean_hits(runs: pd.DataFrame) -> np.ndarray:
    each: np.ndarray = np.stack([np.asarray(own, dtype=np.float64) for own in runs["hits"]]).mean(0)
    return each
