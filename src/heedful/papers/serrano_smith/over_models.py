"""Statements about many trained models: each model's finding with its interval, combined into one.

The rows are those of `Finding.to_row`. A combined interval is made of the ends of the models' own intervals:
for "every model" the lowest ends, for "so many models" the number that surely are to the number that may be.

That all models are above a threshold is known once each one's own interval is. That some one of m models is
below it is not: of 24 intervals at 95 % one misses by chance more often than not. So the end that speaks
against "every model", and both ends of a count, come from intervals widened to 1 − 0.05/m (Bonferroni; each
half-width by the ratio of the normal distribution's quantiles).

Models of one corpus were tested on the same texts, so their errors go together. A mean takes them to go
together wholly: within a corpus half-widths add, and only over corpora are they combined as independent. Two
models are compared as if their intervals were independent (Zou & Donner, 2008): errors that go together
cancel in a difference, so it is a little better known than that says. All intervals are over texts, for the
models that were trained; how another training would differ is not in them.
"""

import math
from collections.abc import Iterable
from statistics import NormalDist
from typing import Any

import pandas as pd

from heedful.records import Finding, Interval
from heedful.records.interval import unknown

PAIR = ("corpus", "seed")
LEVEL = 0.95
METHOD = "from the ends of the models' 95 % intervals"
WIDENED = f"{METHOD}, widened for their number against the claim"
MEAN_METHOD = "from the models' 95 % intervals, added within a corpus, independent over corpora"


def paper(place: str) -> str:
    """Where a statement stands."""
    return f"Serrano & Smith (2019), {place}"


def part_of(rows: pd.DataFrame, number: int) -> pd.Series:
    """han or flan (0), or the encoder (1), of each row's model."""
    return rows["model"].str.split("-").str[number]


def pick(findings: pd.DataFrame, name: str, **coordinates: Any) -> pd.DataFrame:
    """The rows of one finding, one for each model; a coordinate may be a list of those wanted."""
    if findings.empty:
        return findings
    kept = findings["name"] == name
    for key, value in coordinates.items():
        kept &= findings[key].isin(value if isinstance(value, list | tuple) else [value])
    rows = findings[kept].copy()
    # An estimate without a bounded interval cannot tell.
    rows["low"] = rows["low"].astype(float).fillna(-math.inf)
    rows["high"] = rows["high"].astype(float).fillna(math.inf)
    return rows


def lowest(rows: pd.DataFrame, name: str) -> Finding:
    """The lowest value over the models: what is said of every model is said of this one."""
    return _extreme(rows, name, "lowest")


def highest(rows: pd.DataFrame, name: str) -> Finding:
    """The highest value over the models."""
    return _extreme(rows, name, "highest")


def share_of_models(rows: pd.DataFrame, name: str, *, above: float) -> Finding:
    """The share of the models whose value is above a threshold."""
    if rows.empty:
        return nothing(name)
    wide = widened(rows)
    surely, seen, perhaps = (float((wide[end] > above).mean()) for end in ("low", "value", "high"))
    return Finding(
        name,
        seen,
        interval=Interval(surely, perhaps, level=LEVEL, method=f"{METHOD}, widened for their number"),
        count=len(rows),
        unit="of models",
        measured=f"{round(seen * len(rows))} of {len(rows)} models have a value above {above:g}: "
        f"{_measured(rows)}; from those surely so to those that may be",
    )


def mean_over_models(rows: pd.DataFrame, name: str) -> Finding:
    """The mean over the models, each with the uncertainty of its own interval."""
    if rows.empty:
        return nothing(name)
    value = float(rows["value"].mean())
    below = half_of_sum(rows["value"] - rows["low"], rows["corpus"]) / len(rows)
    above = half_of_sum(rows["high"] - rows["value"], rows["corpus"]) / len(rows)
    return Finding(
        name,
        value,
        interval=_interval(value - below, value + above, rows, MEAN_METHOD),
        count=int(rows["count"].sum()),
        measured=f"mean over {len(rows)} models: {_measured(rows)}",
    )


def widened(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with their intervals widened from the level of one to that of all of them at once."""
    quantile = NormalDist().inv_cdf
    factor = quantile(1 - (1 - LEVEL) / 2 / len(rows)) / quantile((1 + LEVEL) / 2)
    return rows.assign(
        low=rows["value"] - factor * (rows["value"] - rows["low"]),
        high=rows["value"] + factor * (rows["high"] - rows["value"]),
    )


def half_of_sum(halves: pd.Series, corpora: pd.Series) -> float:
    """The half-width of a sum over models: added within a corpus, as a root of squares over corpora."""
    # imdb and imdb-ratings have texts in common, as has a sample with its corpus.
    texts = corpora.str.partition("-")[0]
    return math.sqrt(float((halves.groupby(texts).sum() ** 2).sum()))


def differences(first: pd.DataFrame, second: pd.DataFrame, *, by: Iterable[str]) -> pd.DataFrame:
    """first − second for the rows that agree in `by` (such as the corpus), with combined intervals."""
    keys = list(by)
    columns = [*keys, "value", "low", "high", "count", "measured"]
    if first.empty or second.empty:
        return pd.DataFrame(columns=columns)
    both = first[columns].merge(second[columns], on=keys, suffixes=("", "_2"))
    value = both["value"] - both["value_2"]
    below = ((both["value"] - both["low"]) ** 2 + (both["high_2"] - both["value_2"]) ** 2) ** 0.5
    above = ((both["high"] - both["value"]) ** 2 + (both["value_2"] - both["low_2"]) ** 2) ** 0.5
    both["count"] = both[["count", "count_2"]].min(axis=1)
    both["measured"] = "difference of two models in the " + both["measured"]
    return both.assign(value=value, low=value - below, high=value + above)[columns]


def nothing(name: str) -> Finding:
    """What stands where no model had an instance to measure: it decides nothing."""
    return Finding(
        name,
        0.0,
        interval=unknown("no model has such instances", level=LEVEL),
        count=0,
        measured="nothing could be measured",
    )


def _extreme(rows: pd.DataFrame, name: str, which: str) -> Finding:
    if rows.empty:
        return nothing(name)
    wide = widened(rows)
    pull, ends = (
        ("min", (rows["low"], wide["high"])) if which == "lowest" else ("max", (wide["low"], rows["high"]))
    )
    value, low, high = (float(getattr(own, pull)()) for own in (rows["value"], *ends))
    at = rows.loc[getattr(rows["value"], f"idx{pull}")()]
    where = " ".join(str(at[key]) for key in ("corpus", "model") if key in rows)
    return Finding(
        name,
        value,
        interval=_interval(low, high, rows, WIDENED if len(rows) > 1 else METHOD),
        count=int(rows["count"].sum()),
        coordinates={"models": len(rows), "reached_by": where},
        measured=f"{which} of {len(rows)} models: {_measured(rows)}",
    )


def _interval(low: float, high: float, rows: pd.DataFrame, method: str = METHOD) -> Interval:
    """From end to end, and where one is open, why: some models have too few instances to tell."""
    open_ = int((~(rows["low"].abs() + rows["high"].abs() < math.inf)).sum())
    bounded = math.isfinite(low) and math.isfinite(high)
    why = f"none: too few such instances in {open_} of {len(rows)} models"
    return Interval(low, high, level=LEVEL, method=method if bounded else why)


def _measured(rows: pd.DataFrame) -> str:
    return str(rows["measured"].iloc[0]).partition("; ")[0]
