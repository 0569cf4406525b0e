"""From tables of instances to findings and claims: means over texts and over seeds, with their intervals.

A table has `corpus`, `model`, `seed` and `instance`. One seed has an interval over texts alone, and a claim
about it is a claim about that run; several have one over seeds, crossed with texts (`records.crossed`). So do
tables of runs (one row per seed), where the error over texts is known.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from heedful.records import Estimate, Finding
from heedful.records.crossed import crossed_interval, crossed_mean
from heedful.records.interval import share_of
from heedful.records.wording import decimals, in_brackets, number
from heedful.study.workbench import Bench
from heedful.trials.groups import BINS, weight_bins

KEYS = ["corpus", "model"]
MOST_APART = math.log(2)  # of a Jensen–Shannon divergence, in nats


def cells(table: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Each corpus and model of a table, in their order, with its rows."""
    for names, rows in table.groupby(KEYS, sort=False):
        yield dict(zip(KEYS, map(str, names), strict=True)), rows


def groups(rows: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """All rows of a cell, then those of each decided class, then those of each bin of the largest weight."""
    yield {}, rows
    for name, own in rows.groupby("decided_class"):
        yield {"predicted": str(name)}, own
    if "largest" in rows:
        bins = weight_bins(rows["largest"])
        for number, (low, high) in enumerate(pairwise(BINS)):
            if (bins == number).any():
                yield {"largest_weight": f"{low:g}–{high:g}"}, rows[bins == number]


def grouped_findings(table: pd.DataFrame, find: Callable[..., Iterable[Finding | None]]) -> list[Finding]:
    """What `find(rows, **coordinates)` finds in each cell of a table and in its groups of texts."""
    return [
        finding
        for where, rows in cells(table)
        for group, own in groups(rows)
        for finding in defined(*find(own, **where, **group))
    ]


def mean_over_texts(
    rows: pd.DataFrame,
    column: str,
    *,
    name: str,
    measured: str,
    baselines: Mapping[str, str] | None = None,
    alone: bool = True,
    within: tuple[float, float] = (-math.inf, math.inf),
    **about: Any,
) -> Finding | None:
    """The mean of a column of a cell's rows over texts, and over seeds; None where it is defined for none.

    The interval of one seed is a bootstrap over texts, or unbounded where it must not stand `alone` because
    seeds are what is asked about; that of several is over seeds, crossed with texts.
    """
    mean = _mean(rows, column, alone=alone, within=within)
    if mean is None:
        return None
    others = {label: _mean(rows, other, within=within) for label, other in (baselines or {}).items()}
    return _finding(rows, column, mean, name, measured, others, about)


def lead_over_texts(
    one: pd.DataFrame, other: pd.DataFrame, column: str, *, name: str, measured: str, **about: Any
) -> Finding | None:
    """How much larger a column is in some rows than in others, on the texts that both have.

    Seeds are paired too; where one of the two has a single seed, it is compared with each of the other's.
    None where no text has both.
    """
    wanted = ["seed", "instance", column]
    first, second = one[wanted], other[wanted]
    if second["seed"].nunique() <= 1:
        both = first.merge(second.drop(columns="seed"), on="instance")
    elif first["seed"].nunique() <= 1:
        both = first.drop(columns="seed").merge(second, on="instance")
    else:
        both = first.merge(second, on=["seed", "instance"])
    both["lead"] = both[f"{column}_x"] - both[f"{column}_y"]
    return mean_over_texts(both, "lead", name=name, measured=measured, **about)


def share_of_texts(
    rows: pd.DataFrame,
    column: str,
    *,
    name: str,
    measured: str,
    baselines: Mapping[str, str] | None = None,
    **about: Any,
) -> Finding | None:
    """The share of texts where a column is true (1, 0, or NaN where undefined); None where it is for none.

    The interval of one seed is Wilson's; that of several is over seeds, crossed with texts.
    """
    share = _share(rows, column)
    if share is None:
        return None
    others = {label: _share(rows, other) for label, other in (baselines or {}).items()}
    return _finding(rows, column, share, name, measured, others, about)


def _mean(
    rows: pd.DataFrame,
    column: str,
    *,
    alone: bool = True,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> Estimate | None:
    own = rows.dropna(subset=[column])
    if not len(own):
        return None
    return crossed_mean(own[column], seeds=own["seed"], texts=own["instance"], alone=alone, within=within)


def _share(rows: pd.DataFrame, column: str) -> Estimate | None:
    own = rows.dropna(subset=[column])
    held = own[column].astype(float)
    if own["seed"].nunique() != 1:
        return _mean(own.assign(held=held), "held", within=(0.0, 1.0))
    return share_of(held)


def _finding(
    rows: pd.DataFrame,
    column: str,
    found: Estimate,
    name: str,
    measured: str,
    others: Mapping[str, Estimate | None],
    about: Mapping[str, Any],
) -> Finding:
    own = rows.dropna(subset=[column])
    seeds = own["seed"].nunique()
    return Finding.of(
        name,
        found,
        count=own["instance"].nunique(),
        seeds=seeds,
        measured=measured + (f"; mean over {seeds} seeds, crossed with texts" if seeds > 1 else ""),
        baselines={label: other for label, other in others.items() if other is not None},
        **about,
    )


def mean_over_seeds(
    values: Sequence[float] | pd.Series,
    *,
    name: str,
    measured: str,
    count: int,
    error: float | None = None,
    alone: bool = False,
    within: tuple[float, float] = (-math.inf, math.inf),
    **about: Any,
) -> Finding:
    """The mean of one number per seed, each of the same `count` texts; the interval is `crossed_interval`."""
    runs = np.asarray(values, dtype=np.float64)
    return Finding(
        name,
        float(runs.mean()),
        interval=crossed_interval(runs, count=count, error=error, alone=alone, within=within),
        count=count,
        seeds=len(runs),
        measured=measured,
        **about,
    )


def say_undefined(bench: Bench, table: pd.DataFrame, column: str, why: str) -> None:
    """Say of each cell where a column is defined for no text that there is nothing to find or to claim."""
    for where, rows in cells(table):
        if rows[column].isna().all():
            bench.say(f"{where['corpus']}, {where['model']}: {why}, so nothing is said of it.")


def shown(finding: Finding | None) -> str:
    """A finding as a cell of a summary table: its value and its interval."""
    if finding is None:
        return "–"
    places = decimals(finding.value, finding.interval)
    sign = {"lower bound": "≥ ", "upper bound": "≤ "}.get(finding.kind, "")
    ends = f" {in_brackets(finding.interval, places)}" if finding.interval is not None else ""
    return f"{sign}{number(finding.value, places)}{ends}"


def defined(*findings: Finding | None) -> list[Finding]:
    """Those that there are."""
    return [finding for finding in findings if finding is not None]


def findings_table(findings: Sequence[Finding]) -> pd.DataFrame:
    """Findings as rows of one table, to be stored with an experiment."""
    return pd.DataFrame([finding.to_row() for finding in findings])
