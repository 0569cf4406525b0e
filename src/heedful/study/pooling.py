"""From tables of instances to findings and claims: instances averaged over seeds, then resampled.

A table has `corpus`, `model`, `seed` and `instance`; the same texts are tried under every seed, so a text's
mean over seeds is one number, and intervals are bootstraps over texts. Tables of runs (one row a seed) have
intervals over seeds, crossed with the texts where their error is known (`records.crossed`).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pandas as pd

from heedful.records import (
    Estimate,
    Finding,
    bootstrap_interval,
    paired_difference,
    wilson_interval,
)
from heedful.records.crossed import crossed_interval
from heedful.records.finding import Scalar
from heedful.records.wording import decimals, in_brackets, number
from heedful.trials.groups import BINS, weight_bins

KEYS = ["corpus", "model"]


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


def over_seeds(rows: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """One row a text: its mean over the seeds under which all columns are defined, so that pairs stay pairs.

    A text without such a seed is left out.
    """
    wanted = list(columns)
    return rows.dropna(subset=wanted).groupby("instance")[wanted].mean()


def mean_over_texts(
    rows: pd.DataFrame,
    column: str,
    *,
    name: str,
    measured: str,
    baselines: Mapping[str, str] | None = None,
    unit: str = "",
    better: Literal["higher", "lower"] | None = None,
    kind: Literal["exact", "estimate", "lower bound"] = "estimate",
    coordinates: Mapping[str, Scalar] | None = None,
) -> Finding | None:
    """The mean of a column of a cell's rows over texts; None where it is defined for none."""
    texts = over_seeds(rows, [column])[column]
    if not len(texts):
        return None
    beside = {}
    for label, other in (baselines or {}).items():
        values = over_seeds(rows, [other])[other]
        if len(values):
            beside[label] = Estimate(float(values.mean()), bootstrap_interval(values))
    return Finding(
        name,
        float(texts.mean()),
        interval=bootstrap_interval(texts),
        count=len(texts),
        seeds=rows["seed"].nunique(),
        measured=measured,
        baselines=beside,
        unit=unit,
        better=better,
        kind=kind,
        coordinates=coordinates or {},
    )


def lead_over_texts(
    one: pd.DataFrame, other: pd.DataFrame, column: str, *, name: str, measured: str, **about: Any
) -> Finding:
    """How much larger a column is in some rows than in others, paired over the texts that both have."""
    first, second = (over_seeds(rows, [column])[column] for rows in (one, other))
    both = pd.concat([first, second], axis=1, keys=["first", "second"]).dropna()
    gain = paired_difference(both["first"], both["second"])
    return Finding(
        name,
        gain.value,
        interval=gain.interval,
        count=len(both),
        seeds=one["seed"].nunique(),
        measured=measured,
        **about,
    )


def share_of_texts(
    hits: pd.Series, *, name: str, measured: str, seeds: int = 1, **about: Any
) -> Finding | None:
    """The share of texts where something holds, with Wilson's interval; None where there is no text."""
    held = np.asarray(hits, dtype=bool)
    if not len(held):
        return None
    return Finding(
        name,
        float(held.mean()),
        interval=wilson_interval(int(held.sum()), len(held)),
        count=len(held),
        seeds=seeds,
        measured=measured,
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
    """The mean of one number a seed, each of the same `count` texts; the interval is `crossed_interval`."""
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


def headed(where: Mapping[str, str]) -> dict[str, str]:
    """The first cells of a line of a summary table: the papers' models without the name they share."""
    return {**where, "model": where["model"].removeprefix("jain-wallace-")}


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
