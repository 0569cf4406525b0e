"""ΔJS against Δα (section 4.1, A.2: Figs. 3 and 7), and where it is negative (Figs. 4 and 8). JS in nats.

Where the paper has a word instead of a number ("vast majority", "close to 0", "many"), the number taken for
it is in the statement. "Models" are all models that were trained here.
"""

from collections.abc import Iterator
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from heedful.drawing import BLACK, BLUE, ORANGE
from heedful.papers.serrano_smith.layout import of_panel, panels, say_empty
from heedful.papers.serrano_smith.over_models import (
    LEVEL,
    PAIR,
    half_of_sum,
    highest,
    lowest,
    mean_over_models,
    nothing,
    paper,
    part_of,
    pick,
)
from heedful.papers.serrano_smith.rows import COORDINATES, MODELS, each_cell, rows_of
from heedful.papers.serrano_smith.single_items import CLOSE, WIDE, single_table
from heedful.records import Claim, Finding, Interval
from heedful.study.experiment import Experiment, Tables
from heedful.study.workbench import Bench

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_POINTS = 800  # of a panel: more would only be ink
EDGES = np.linspace(0, 1, 11)
MODERATE = (0.1, 0.6)  # Δα over which the upswing of two models is compared
FEWEST = 10  # instances that a bin needs to be compared
GAP = "Δα: attention of the top item − of a random other item"
TENTHS = (0, 0.2, 0.4, 0.6, 0.8)  # not 1: it would touch the next panel's 0


def points(rows: pd.DataFrame, ranking: str = "attention", *, seed: int = 0) -> pd.DataFrame:
    """Δα and ΔJS of at most `MOST_POINTS` instances of each model, drawn by the seed."""
    parts = []
    for cell in each_cell(rows):
        tested = cell.single(ranking).tested
        drawn = np.random.default_rng(seed).permutation(len(tested))[:MOST_POINTS]
        columns = {"delta_weight": tested.delta_weight[drawn], "delta_js": tested.delta_js[drawn]}
        parts.append(pd.DataFrame(columns).assign(**cell.coordinates, tested=len(tested)))
    return pd.concat(parts, ignore_index=True)


def bins(rows: pd.DataFrame) -> pd.DataFrame:
    """By tenths of Δα: instances, those with a negative ΔJS, and its mean with its standard error."""
    found = []
    for cell in each_cell(rows):
        tested = cell.single("attention").tested
        place = np.clip(np.digitize(tested.delta_weight, EDGES) - 1, 0, len(EDGES) - 2)
        for number, (low, high) in enumerate(pairwise(EDGES)):
            values = tested.delta_js[place == number]
            several = len(values) > 1
            found.append(
                {
                    **cell.coordinates,
                    "from": low,
                    "to": high,
                    "instances": len(values),
                    "negatives": int((values < 0).sum()),
                    "mean_delta_js": values.mean() if len(values) else np.nan,
                    "standard_error": values.std(ddof=1) / np.sqrt(len(values)) if several else np.nan,
                }
            )
    return pd.DataFrame(found)


def measure(bench: Bench, *, models: tuple[str, ...] = MODELS) -> Tables:
    """ΔJS against Δα: Figs. 3, 4, 7, 8."""
    rows = rows_of(bench, models)
    findings = single_table(rows)
    names = ("positive ΔJS", "negative ΔJS close to 0", "Δα where ΔJS is negative", "mean ΔJS")
    return {
        "summary": _wide(findings, names),
        "points": points(rows),
        "bins": bins(rows),
        "findings": findings,
    }


def _wide(findings: pd.DataFrame, names: tuple[str, ...]) -> pd.DataFrame:
    """One row per model, one column per finding."""
    shown = findings[findings["name"].isin(names)]
    keys = [*COORDINATES]
    table = shown.pivot_table(index=keys, columns="name", values="value", sort=False)
    counted = shown[shown["name"] == names[0]].set_index(keys)["count"]
    return table[[name for name in names if name in table]].round(4).assign(tested=counted).reset_index()


def js_claims(tables: Tables) -> Iterator[Claim]:
    """Figs. 3 and 7."""
    findings = tables["findings"]
    yield Claim.decided(
        "Erasing the top item moves the output more than a random other item in the vast majority (75 %) of "
        "instances of every model",
        paper("section 4.1"),
        effect=lowest(pick(findings, "positive ΔJS"), "positive ΔJS"),
        comparison=">",
        threshold=0.75,
    )
    yield Claim.decided(
        f"Nearly all (90 %) negative ΔJS are close to 0 (less than {CLOSE} nats) in every model",
        paper("section 4.1"),
        effect=lowest(pick(findings, "negative ΔJS close to 0"), "negative ΔJS close to 0"),
        comparison=">",
        threshold=0.9,
    )
    name = "ΔJS close to 0 at a large Δα"
    yield Claim.decided(
        f"Even for Δα like 0.4 ({WIDE[0]} to {WIDE[1]}) many (a quarter) of the positive ΔJS are close to 0 "
        f"(less than {CLOSE} nats), on average over models",
        paper("section 4.1"),
        effect=mean_over_models(pick(findings, name), name),
        comparison=">",
        threshold=0.25,
    )
    yield Claim.decided(
        "ΔJS swings up where Δα is large: its mean is higher above 0.6 than from 0.3 to 0.5, on average over "
        "models",
        paper("section 4.1"),
        effect=mean_over_models(_upswing(tables["bins"]), "upswing of ΔJS"),
        comparison=">",
        threshold=0,
    )


def context_claims(tables: Tables) -> Iterator[Claim]:
    """Fig. 7: A.2's earlier upswing with less context."""
    for more, less in (("rnn", "conv"), ("conv", "noenc"), ("rnn", "noenc")):
        yield Claim.decided(
            f"The upswing of ΔJS comes earlier with less context: at equal Δα ({MODERATE[0]} to "
            f"{MODERATE[1]}) its mean is higher for {less} than for {more}",
            paper("A.2"),
            effect=_earlier(tables["bins"], less, more),
            comparison=">",
            threshold=0,
        )


def negative_claims(tables: Tables) -> Iterator[Claim]:
    """Figs. 4 and 8."""
    rows = pick(tables["findings"], "Δα where ΔJS is negative")
    yield Claim.decided(
        "Where the top item had the smaller effect, the gap in attention tends to be small: mean Δα is lower "
        "there than elsewhere, in every model",
        paper("sections 4.1 and A.2"),
        effect=highest(rows, "Δα where ΔJS is negative"),
        comparison="<",
        threshold=0,
    )
    yield Claim.decided(
        "Negative ΔJS are a small fraction (less than a quarter) of the instances of every model",
        paper("Fig. 4"),
        effect=highest(pick(tables["findings"], "negative ΔJS"), "negative ΔJS"),
        comparison="<",
        threshold=0.25,
    )


def _upswing(bins: pd.DataFrame) -> pd.DataFrame:
    """Mean ΔJS at Δα above 0.6 − from 0.3 to 0.5, for each model that has both."""
    found = []
    for key, rows in bins.groupby(["corpus", "model", "seed"], sort=False):
        steep, middle = _pooled(rows, 0.6, 1.0), _pooled(rows, *WIDE)
        if steep is not None and middle is not None:
            found.append(_normal(steep, middle, dict(zip(("corpus", "model", "seed"), key, strict=True))))
    return pd.DataFrame(found)


def _pooled(rows: pd.DataFrame, low: float, high: float) -> tuple[float, float, int] | None:
    """The mean ΔJS of some bins, its standard error, and the instances in them."""
    middle = (rows["from"] + rows["to"]) / 2
    inside = rows[(middle > low) & (middle < high) & (rows["instances"] >= FEWEST)]
    if inside.empty:
        return None
    part = inside["instances"] / inside["instances"].sum()
    mean = float((part * inside["mean_delta_js"]).sum())
    # Of a mean over all instances: within the bins, and between them.
    within = (inside["standard_error"] ** 2) * inside["instances"]
    spread = float((part * (within + (inside["mean_delta_js"] - mean) ** 2)).sum())
    count = int(inside["instances"].sum())
    return mean, float(np.sqrt(spread / count)), count


def _normal(first: tuple[float, float, int], second: tuple[float, float, int], about: dict) -> dict:
    value, half = first[0] - second[0], 1.96 * float(np.hypot(first[1], second[1]))
    measured = "mean ΔJS (nats) at one range of Δα − at another, normal interval"
    row = {"value": value, "low": value - half, "high": value + half, "measured": measured}
    return {**about, **row, "count": first[2] + second[2]}


def _earlier(bins: pd.DataFrame, less: str, more: str) -> Finding:
    """Mean ΔJS of one encoder − of another, averaged over the bins of Δα, families and corpora they share.

    Bins of one pair of models hold different texts, pairs of one corpus the same (see `over_models`).
    """
    name = f"ΔJS at equal Δα, {less} − {more}"
    rows = bins.assign(family=part_of(bins, 0), encoder=part_of(bins, 1))
    middle = (rows["from"] + rows["to"]) / 2
    rows = rows[(middle > MODERATE[0]) & (middle < MODERATE[1]) & (rows["instances"] >= FEWEST)]
    keys = [*PAIR, "family", "from"]
    one, other = (rows[rows["encoder"] == encoder] for encoder in (less, more))
    both = one.merge(other, on=keys, suffixes=("", "_2"))
    if both.empty:
        return nothing(name)
    value = float((both["mean_delta_js"] - both["mean_delta_js_2"]).mean())
    both["variance"] = both["standard_error"] ** 2 + both["standard_error_2"] ** 2
    pairs = both.groupby([*PAIR, "family"], as_index=False)["variance"].sum()
    half = 1.96 * half_of_sum(pairs["variance"] ** 0.5, pairs["corpus"]) / len(both)
    method = "normal, bins as strata, added within a corpus, independent over corpora"
    return Finding(
        name,
        value,
        interval=Interval(value - half, value + half, level=LEVEL, method=method),
        count=int(both[["instances", "instances_2"]].sum().sum()),
        unit="nats",
        measured=f"mean difference of the mean ΔJS over {len(both)} bins of Δα with {FEWEST} instances "
        "or more in both models",
    )


def js_against_weight(tables: Tables) -> "Figure":
    """A dot for each (sampled) test text, with the mean of each tenth of Δα; orange where ΔJS is negative."""
    points, bins = tables["points"], tables["bins"]
    figure, made = panels(points, sharex=True, sharey=True)
    for axis, model, corpus in made:
        dots = of_panel(points, model, corpus)
        if dots.empty:
            say_empty(axis)
            continue
        for kept, colour in ((dots["delta_js"] >= 0, BLUE), (dots["delta_js"] < 0, ORANGE)):
            axis.scatter(
                dots["delta_weight"][kept],
                dots["delta_js"][kept],
                s=4,
                alpha=0.35,
                color=colour,
                linewidths=0,
                rasterized=True,
            )
        for _, means in of_panel(bins, model, corpus).groupby("seed"):
            known = means[means["instances"] > 0]
            middle = (known["from"] + known["to"]) / 2
            axis.plot(middle, known["mean_delta_js"], color=BLACK, marker="o", markersize=2.5, linewidth=1)
        axis.axhline(0, color=BLACK, linewidth=0.6)
        axis.set_xlim(-0.02, 1.02)
        axis.set_xticks(TENTHS)
    figure.supxlabel(GAP, fontsize=9)
    figure.supylabel("ΔJS (nats)", fontsize=9)
    figure.suptitle("Dots: test texts (a sample); line: mean by tenth of Δα", fontsize=8)
    return figure


def negatives_by_weight(tables: Tables) -> "Figure":
    """How many texts have a negative ΔJS, by tenths of Δα, and of how many."""
    figure, made = panels(tables["bins"], sharex=True)
    for axis, model, corpus in made:
        counted = of_panel(tables["bins"], model, corpus).groupby("from", as_index=False)
        counted = counted[["negatives", "instances"]].sum()
        total, negative = int(counted["instances"].sum()), int(counted["negatives"].sum())
        if not total:
            say_empty(axis)
            continue
        axis.bar(counted["from"] + 0.05, counted["negatives"], width=0.09, color=ORANGE)
        axis.text(
            0.97,
            0.93,
            f"{negative:,} of {total:,} texts",
            transform=axis.transAxes,
            ha="right",
            va="top",
            fontsize=7.5,
        )
        axis.set_xlim(0, 1)
        axis.set_xticks(TENTHS)
        axis.margins(y=0.25)
        axis.locator_params(axis="y", integer=True)
    figure.supxlabel(GAP, fontsize=9)
    figure.supylabel("texts with a negative ΔJS", fontsize=9)
    return figure


HAN_RNN = partial(measure, models=("han-rnn",))


def all_js_claims(tables: Tables) -> Iterator[Claim]:
    """Fig. 7, which has all architectures."""
    return chain(js_claims(tables), context_claims(tables))


EXPERIMENTS = {
    name: Experiment(name, title, paper(place), measured, claims, {name: figure})
    for name, title, place, measured, claims, figure in (
        (
            "serrano-smith-fig3",
            "ΔJS against Δα, HANrnn",
            "Fig. 3",
            HAN_RNN,
            js_claims,
            js_against_weight,
        ),
        (
            "serrano-smith-fig4",
            "Where ΔJS is negative, HANrnn",
            "Fig. 4",
            HAN_RNN,
            negative_claims,
            negatives_by_weight,
        ),
        (
            "serrano-smith-fig7",
            "ΔJS against Δα, all architectures",
            "Fig. 7",
            measure,
            all_js_claims,
            js_against_weight,
        ),
        (
            "serrano-smith-fig8",
            "Where ΔJS is negative, all architectures",
            "Fig. 8",
            measure,
            negative_claims,
            negatives_by_weight,
        ),
    )
}
