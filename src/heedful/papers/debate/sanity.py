"""Sanity checks of a model's attention: what they must come to, as findings and claims, and their figure.

`sanity_rows` measures them. Intervals of checks that draw something are over the draws, crossed with texts:
one random start tells what one start does. They are judged by |τ|, beside that of a random ranking. A start
with the opposite context vector is as likely and turns every ranking round, so τ itself is 0 on average over
starts whatever attention does, and a check of it could not fail.

Thresholds are ours. Where something random is drawn, |τ| may be this much above a random ranking's; where the
meaning stays, attention may move by this much.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from heedful.drawing import BLACK, BLUE, GREEN, ORANGE, new_figure
from heedful.papers.debate.stage import Stage
from heedful.papers.debate.trainings import Trainings
from heedful.papers.names import model_label
from heedful.records import Claim, Estimate, Finding, bootstrap_interval
from heedful.records.crossed import crossed_interval
from heedful.study.experiment import Tables
from heedful.study.pooling import (
    KEYS,
    MOST_APART,
    cells,
    defined,
    mean_over_seeds,
    mean_over_texts,
    share_of_texts,
    shown,
)
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLACE = "sanity checks of the wider field"
RANDOMISED, PERMUTED, NOISE = "random parameters", "permuted labels", "noise"
STARTS = 5  # of random parameters
TRAININGS = 3  # on permuted labels
ALL = "all before the head"
ABOVE = "|τ| with the run's attention above a random ranking's"
LIMITS = {"divergence": (0.0, MOST_APART), "tau": (-1.0, 1.0), "above": (-1.0, 1.0)}  # others: 0 and 1
GONE = 0.1  # of |τ|, above a random ranking's
STILL = 0.01  # nats
SHORT = {
    "divergence from the run's attention": "JSD, nats",
    "Kendall's τ with the run's attention": "τ-b",
    "Kendall's |τ| with the run's attention": "|τ-b|",
    "share of texts with the run's decision": "same decision",
}
COLOURS = {RANDOMISED: ORANGE, PERMUTED: BLUE, NOISE: GREEN}
AXES = {"divergence": "JSD from the run's, nats", "size": "|τ-b| with the run's"}


def measure(bench: Bench, trainings: Trainings) -> Tables:
    """The checks on every cell of the trainings."""
    from heedful.papers.debate.sanity_rows import sanity_rows

    options = {"limit": trainings.limit, "starts": STARTS, "trainings": TRAININGS}
    table = bench.measured(trainings.study("sanity"), Measure(sanity_rows, options))
    return {"sanity": table, "summary": summary(table)}


def findings(tables: Tables) -> list[Finding]:
    """All findings of the table, cell by cell."""
    return [one for where, rows in cells(tables["sanity"]) for one in of_cell(rows, **where)]


def of_cell(rows: pd.DataFrame, **coordinates: str) -> list[Finding]:
    """Of each check the divergence, τ and top overlap with the run's attention, and the decisions."""
    found = []
    for (check, what), own in rows.groupby(["check", "what"], sort=False):
        where = {**coordinates, "check": str(check), "what": str(what)}
        found += (_noise_findings if check == NOISE else _drawn_findings)(own, where)
    return found


def kept_ranking(rows: pd.DataFrame, where: Mapping[str, str]) -> Finding:
    """How far |τ| with the run's attention is above that of a random ranking, over the draws of a check."""
    apart = rows.assign(above=rows["tau"].abs() - rows["random_tau"].abs())
    return _over_draws(
        apart,
        "above",
        name=ABOVE,
        measured="difference of the mean |τ-b| over texts",
        where=where,
        better="lower",
    )


def _drawn_findings(rows: pd.DataFrame, where: Mapping[str, str]) -> list[Finding]:
    rows = rows.assign(size=rows["tau"].abs(), random_size=rows["random_tau"].abs())
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("divergence", "divergence from the run's attention", {"unit": "nats", "better": "higher"}),
        ("tau", "Kendall's τ with the run's attention", {"beside": "random_tau"}),
        ("size", "Kendall's |τ| with the run's attention", {"beside": "random_size", "better": "lower"}),
        ("overlap", "overlap of the top item with the run's", {"beside": "random_overlap"}),
    ]
    found = [
        _over_draws(rows, column, name=name, measured="mean over texts", where=where, **about)
        for column, name, about in asked
        if rows[column].notna().any()
    ]
    if rows["tau"].notna().any():
        found.append(kept_ranking(rows, where))
    same = rows.assign(same=rows["same"].astype(float))
    share = "share of texts with the run's decision"
    return [*found, _over_draws(same, "same", name=share, measured="share of texts", where=where)]


def _over_draws(
    rows: pd.DataFrame,
    column: str,
    *,
    name: str,
    measured: str,
    where: Mapping[str, str],
    beside: str | None = None,
    **about: Any,
) -> Finding:
    """The mean of a column over texts in each draw; the interval is over draws, crossed with texts."""
    rows = rows.dropna(subset=[column])
    draws, texts = rows.groupby(["seed", "draw"]), rows.groupby("instance")[column].mean()
    values = draws[column].mean()
    random = rows[beside].dropna() if beside is not None else []
    what = "random starts" if where["check"] == RANDOMISED else "trainings"
    return mean_over_seeds(
        values,
        name=name,
        measured=f"{measured}, {where['check']}: {where['what']}; over {len(values)} {what}",
        count=len(texts),
        error=float(texts.std(ddof=1) / np.sqrt(len(texts))) if len(texts) > 1 else 0.0,
        within=LIMITS.get(column, (0.0, 1.0)),
        baselines={"random": Estimate(float(np.mean(random)))} if len(random) else {},
        coordinates=where,
        **about,
    )


def _noise_findings(rows: pd.DataFrame, where: Mapping[str, str]) -> list[Finding]:
    better: dict[str, Literal["lower", "higher"]] = {"divergence": "lower", "tau": "higher"}
    names = {
        "divergence": "divergence from the run's attention",
        "tau": "Kendall's τ with the run's attention",
        "overlap": "overlap of the top item with the run's",
    }
    measured = f"{where['check']}: {where['what']}"
    found = [
        mean_over_texts(
            rows,
            column,
            name=name,
            measured=f"mean over texts, {measured}",
            unit="nats" if column == "divergence" else "",
            better=better.get(column, "higher"),
            baselines=None if column == "divergence" else {"random": f"random_{column}"},
            coordinates=where,
        )
        for column, name in names.items()
    ]
    share = share_of_texts(
        rows,
        "same",
        name="share of texts with the run's decision",
        measured=f"share of texts, {measured}",
        coordinates=where,
    )
    return defined(*found, share)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Each check with its numbers and their intervals, the random ranking's |τ| beside."""
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for where, rows in cells(table):
        for finding in of_cell(rows, **where):
            about = {**where, "check": finding.coordinates["check"], "what": finding.coordinates["what"]}
            line = lines.setdefault(tuple(map(str, about.values())), {k: str(v) for k, v in about.items()})
            if finding.name in SHORT:
                line[SHORT[finding.name]] = shown(finding)
            if SHORT.get(finding.name) == "|τ-b|":
                line["|τ-b|, random"] = f"{finding.baselines['random'].value:.2f}"
    return pd.DataFrame(list(lines.values())).fillna("–")


def claims(tables: Tables) -> Iterator[Claim]:
    """Random parameters and permuted labels must leave no ranking, noise must leave attention alone."""
    for finding in findings(tables):
        check, what = finding.coordinates["check"], finding.coordinates["what"]
        if finding.name == ABOVE and (check == PERMUTED or what == ALL):
            after = "With random parameters" if check == RANDOMISED else "Trained on permuted labels,"
            yield Claim.decided(
                f"{after} attention no longer ranks words as it did (|τ| at most {GONE:g} above a random "
                "ranking's)",
                "sanity check, after Adebayo et al. (2018)",
                effect=finding,
                comparison="<=",
                threshold=GONE,
            )
        elif finding.name.startswith("divergence") and check == NOISE:
            yield Claim.decided(
                f"Noise that keeps the meaning ({what}) leaves attention as it was (JSD ≤ {STILL:g} nats)",
                "sanity check",
                effect=finding,
                comparison="<=",
                threshold=STILL,
            )


def figure(tables: Tables) -> "Figure":
    """Divergence from the run's own attention under each check, and |τ| with it beside a random ranking's.

    Intervals are over texts for noise, and over draws crossed with texts for what is drawn; each draw is a
    stroke.
    """
    table = tables["sanity"]
    table = table.assign(size=table["tau"].abs(), random_size=table["random_tau"].abs())
    by_cell = list(table.groupby(KEYS, sort=False))
    checks = list(dict.fromkeys(zip(table["check"], table["what"], strict=True)))
    figure = new_figure(6.4, 0.6 + (0.5 + 0.25 * len(checks)) * len(by_cell))
    panels = figure.subplots(len(by_cell), len(AXES), squeeze=False, sharey=True, sharex="col")
    for axes, ((corpus, model), rows) in zip(panels, by_cell, strict=True):
        for axis, (column, label) in zip(axes, AXES.items(), strict=True):
            for place, (check, what) in enumerate(checks):
                own = rows[(rows["check"] == check) & (rows["what"] == what)].dropna(subset=[column])
                if len(own):
                    _draw(axis, place, own, column, COLOURS[check])
            axis.set_xlabel(label)
            axis.set_title(f"{corpus}, {model_label(model)}")
        axes[0].set_xlim(left=-0.005)
        axes[1].set_xlim(0, 1.05)
        axes[1].axvline(rows["random_size"].mean(), color=BLACK, linestyle=":", linewidth=1)
        axes[0].set_yticks(range(len(checks)), [f"{check}: {what}" for check, what in checks])
        axes[0].set_ylim(len(checks) - 0.5, -0.5)
    _legend(figure)
    return figure


def _draw(axis: Any, place: int, own: pd.DataFrame, column: str, colour: str) -> None:
    draws, texts = own.groupby(["seed", "draw"])[column].mean(), own.groupby("instance")[column].mean()
    if len(draws) == 1:
        ends = bootstrap_interval(texts)
    else:
        error = float(texts.std(ddof=1) / len(texts) ** 0.5) if len(texts) > 1 else 0.0
        ends = crossed_interval(draws, count=len(texts), error=error, within=(0, 1))
    axis.plot([ends.low, ends.high], [place, place], color=colour, linewidth=2)
    if len(draws) > 1:
        axis.plot(draws, [place] * len(draws), "|", color=BLACK, markersize=8, markeredgewidth=0.8)
    axis.plot(draws.mean(), place, "o", color=colour, markersize=5)


def _legend(figure: "Figure") -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=BLACK, marker="o", markersize=5, linewidth=2, label="mean, 95 % interval"),
        Line2D([], [], color=BLACK, marker="|", markersize=8, linestyle="", label="single draw"),
        Line2D([], [], color=BLACK, linestyle=":", linewidth=1, label="random ranking"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)


STAGE = Stage(
    "sanity",
    "Random parameters, permuted labels, harmless noise",
    PLACE,
    measure,
    findings,
    claims,
    {"debate-sanity": figure},
)
