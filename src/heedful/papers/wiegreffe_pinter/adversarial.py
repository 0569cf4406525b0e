"""Adversarially trained models: change of output against divergence of attention (W&P, 2019, section 4).

On the same axes: adversaries over a grid of strengths λ, other seeds, the uniform control, and Jain &
Wallace's post-hoc adversary, which needs no model that would produce its weights.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from heedful.drawing import BLACK, BLUE, GREY, ORANGE
from heedful.papers.debate.panels import label_outer, panels
from heedful.papers.debate.stage import Stage
from heedful.papers.debate.trainings import MAIN, Trainings, main_cells
from heedful.papers.jain_wallace.adversary import is_bound, posthoc_rows
from heedful.papers.wiegreffe_pinter.run_scores import headed
from heedful.papers.wiegreffe_pinter.uniform import SEEDS
from heedful.records import Claim, Finding
from heedful.records.finding import Scalar
from heedful.study.experiment import Tables
from heedful.study.grid import load_origin
from heedful.study.pooling import MOST_APART, cells, lead_over_texts, mean_over_texts, shown
from heedful.study.workbench import Bench, Measure
from heedful.training.presets import UNIFORM_CONTROL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from heedful.training import Run

PLACE = "Wiegreffe & Pinter (2019), 4"
STRENGTHS = (0.0, 1e-4, 1e-3, 5e-3, 2e-2, 1e-1)  # of the adversaries: λ
QUICK_STRENGTHS = (0.0, 5e-3, 2e-2)
MARGIN = 0.02  # a model decides alike whose output is no farther from the base's than other seeds', plus this
ADVERSARY, SEED, UNIFORM, POSTHOC = "adversary", "seed", "uniform", "post-hoc adversary"
COLUMNS = (
    *("corpus", "model", "seed", "kind", "strength", "other", "how", "search"),
    *("instance", "change", "divergence", "same"),
)


def measure(bench: Bench, trainings: Trainings) -> Tables:
    """Adversaries of each cell's first seed, and what else belongs on their axes; a row per text.

    "curve" is about the test split; "dev" about the dev split, which alone chooses an adversary.
    """
    from heedful.study.trained_adversaries import adversaries, beside

    first = (trainings.seeds[0],)
    curves, base = {}, trainings.study("adversaries", seeds=first)
    strengths = list(QUICK_STRENGTHS if bench.quick else STRENGTHS)
    for split in ("test", "dev"):
        options = {"strengths": strengths, "split": split, "limit": trainings.limit}
        curves[split] = [bench.measured(base, Measure(adversaries, options)).assign(kind=ADVERSARY)]
    runs: dict[tuple[str, str], list[Run]] = {}
    for cell, run in bench.runs(trainings.study("seeds")):
        runs.setdefault((cell.corpus, cell.model), []).append(run)
    even = {
        (cell.corpus, cell.model): run
        for cell, run in bench.runs(trainings.study("uniform", seeds=first, **UNIFORM_CONTROL))
    }
    for (name, model), own in runs.items():
        corpus = load_origin(base.origin(name), bench.data_dir)
        about = {"corpus": Path(name).stem, "model": model, "seed": first[0]}
        for split, frames in curves.items():
            for number, other in enumerate(own[1:], start=1):
                rows = beside(own[0], other, corpus, split=split, limit=trainings.limit)
                frames.append(rows.assign(**about, kind=SEED, other=number))
        rows = beside(own[0], even[name, model], corpus, limit=trainings.limit)
        curves["test"].append(rows.assign(**about, kind=UNIFORM))
    posthoc = posthoc_rows(bench, trainings)
    curves["test"].append(posthoc.assign(how=posthoc["kind"], kind=POSTHOC))
    curve, dev = (pd.concat(curves[name], ignore_index=True).reindex(columns=COLUMNS) for name in curves)
    return {"curve": curve, "dev": dev, "summary": summary(curve)}


def points(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The places on the axes of one cell, named, with the rows of each."""
    found = [
        (f"adversary, λ = {strength:g}", own)
        for strength, own in rows[rows["kind"] == ADVERSARY].groupby("strength", sort=True)
    ]
    found += [(SEED, _other_seeds(rows))]
    found += [(kind, rows[rows["kind"] == kind]) for kind in (UNIFORM, POSTHOC)]
    return [(name, own) for name, own in found if len(own)]


def _other_seeds(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of other seeds, each under its own number."""
    own = rows[rows["kind"] == SEED]
    return own.assign(seed=own["other"])


def at(rows: pd.DataFrame, name: str, **where: Scalar) -> tuple[Finding | None, Finding | None]:
    """The mean change of output and the mean divergence of attention at one place on the axes.

    The divergence of a post-hoc adversary that was climbed for, and not solved exactly, is a lower bound.
    """
    posthoc, others = (rows["kind"] == POSTHOC).all(), (rows["kind"] == SEED).all()
    change = mean_over_texts(
        rows,
        "change",
        name=f"change of output, {name}",
        measured="total variation distance of the two outputs, mean over texts",
        alone=not others,
        within=(0.0, 1.0),
        better="lower",
        coordinates=where,
    )
    apart = mean_over_texts(
        rows,
        "divergence",
        name=f"divergence of attention, {name}",
        measured="JSD of the two attentions, mean over texts" + _search(rows),
        alone=not others,
        within=(0.0, MOST_APART),
        unit="nats",
        kind="lower bound" if posthoc and is_bound(rows["how"]) else "estimate",
        coordinates=where,
    )
    return change, apart


def findings(tables: Tables) -> list[Finding]:
    """Both numbers of every place, cell by cell."""
    return [
        finding
        for where, rows in cells(tables["curve"])
        for name, own in points(rows)
        for finding in at(own, name, **where)
        if finding is not None
    ]


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Change, divergence and agreement of decisions at each place on the axes."""
    lines = []
    for where, rows in cells(table):
        for name, own in points(rows):
            change, apart = at(own, name)
            lines.append(
                {
                    **headed(where),
                    "what": name,
                    "TVD": shown(change),
                    "JSD, nats": shown(apart),
                    "same decision": f"{own['same'].astype(float).mean():.3f}",
                    "texts": own["instance"].nunique(),
                }
            )
    return pd.DataFrame(lines)


def strongest(dev: pd.DataFrame) -> tuple[float, bool]:
    """The strength of the adversary that goes farthest among those that decide alike on dev, and True.

    Seeds are the yardstick: two trainings of one model do not agree in their outputs either. Where no
    adversary decides alike it is that of the nearest output, and False.
    """
    usual = dev.loc[dev["kind"] == SEED, "change"].mean() if (dev["kind"] == SEED).any() else 0.0
    means = dev[dev["kind"] == ADVERSARY].groupby("strength")[["change", "divergence"]].mean()
    alike = means[means["change"] <= usual + MARGIN]
    if len(alike):
        return float(alike["divergence"].idxmax()), True
    return float(means["change"].idxmin()), False


def claims(tables: Tables) -> Iterator[Claim]:
    """That an adversary can be trained, goes beyond seeds, and not as far as the post-hoc one, by corpus.

    The dev split chooses the adversary, the test split judges it. Where none decides alike, nothing can be
    said of one that does: the claims are there all the same, and say so. They are about one base and one
    adversary of it; where it is compared with other seeds, the interval is over those.
    """
    dev = {where["corpus"]: rows for where, rows in main_cells(tables["dev"])}
    for where, rows in main_cells(tables["curve"]):
        yield from _claims_of(where["corpus"], where["model"], rows, *strongest(dev[where["corpus"]]))


def _claims_of(corpus: str, model: str, rows: pd.DataFrame, strength: float, alike: bool) -> list[Claim]:
    where: dict[str, Scalar] = {"corpus": corpus, "model": model, "strength": strength}
    best = rows[(rows["kind"] == ADVERSARY) & (rows["strength"] == strength)]
    seeds, posthoc = _other_seeds(rows), rows[rows["kind"] == POSTHOC]
    chosen = f"λ = {strength:g}, " + ("chosen on dev" if alike else "the nearest on dev, where none does")
    output = _apart(best, seeds, where)
    if output is None:
        return []
    first = Claim.decided(
        f"On {corpus}, a model can be trained to decide as its base does ({chosen}): its output is no "
        f"farther from the base's than other seeds' are, + {MARGIN:g}",
        PLACE,
        effect=output,
        comparison="<=",
        threshold=MARGIN,
    )
    found = [first]
    for statement, effect in (
        (
            f"On {corpus}, this trained adversary attends farther away from its base than other seeds do",
            _farther(best, seeds, "the trained adversary", "other seeds", where),
        ),
        (
            f"On {corpus}, this trained adversary does not attend as far away as the weights found text by "
            "text",
            _farther(posthoc, best, "the post-hoc adversary", "the trained one", where),
        ),
    ):
        if effect is None:
            continue  # no text has two words
        claim = Claim.decided(statement, PLACE, effect=effect, comparison=">", threshold=0)
        if not len(seeds) and len(found) == 1:
            claim = _undecided(claim, "there is no other seed")
        found.append(_conditional(claim, first))
    return found


def _conditional(claim: Claim, first: Claim) -> Claim:
    """A claim about a model that decides alike, as far as there is one."""
    if first.outcome == "does not hold":
        return _undecided(claim, "no trained model decides alike")
    if first.outcome == "undecided" and claim.outcome == "holds":
        return _undecided(claim, "whether this one decides alike is undecided")
    return claim


def _undecided(claim: Claim, why: str) -> Claim:
    return replace(claim, statement=f"{claim.statement}: {why}", outcome="undecided")


def _apart(best: pd.DataFrame, seeds: pd.DataFrame, where: dict[str, Scalar]) -> Finding | None:
    """How much farther the output of the adversary is from the base than those of other seeds, if any."""
    other = seeds if len(seeds) else best.assign(change=0.0)
    return lead_over_texts(
        best,
        other,
        "change",
        name="change of output of the trained adversary" + (" beyond that of other seeds" * bool(len(seeds))),
        measured="difference of the total variation distance from the run's output, paired over texts; one "
        "base and one adversary of it",
        alone=not len(seeds),
        within=(-1.0, 1.0),
        better="lower",
        coordinates=where,
    )


def _farther(
    one: pd.DataFrame, other: pd.DataFrame, name: str, than: str, where: dict[str, Scalar]
) -> Finding | None:
    """How much farther one attends from the run than the other does; without another, how far."""
    found = (one["kind"] == POSTHOC).all()
    return lead_over_texts(
        one,
        other if len(other) else one.assign(divergence=0.0),
        "divergence",
        name=f"divergence of {name}" + (f" beyond that of {than}" if len(other) else ""),
        measured="difference of the JSD from the run's attention, paired over texts; one base and one "
        "adversary of it" + _search(one),
        alone=not (other["kind"] == SEED).any(),
        within=(-MOST_APART, MOST_APART),
        unit="nats",
        kind="lower bound" if found and is_bound(one["how"]) else "estimate",
        coordinates=where,
    )


def _search(rows: pd.DataFrame) -> str:
    """How a post-hoc adversary was looked for, to be added to how something was measured."""
    return f"; {rows['search'].iloc[0]}" if (rows["kind"] == POSTHOC).all() else ""


def figure(tables: Tables) -> "Figure":
    """Adversaries over λ as a line, seeds as a cloud, the uniform control and the post-hoc adversary.

    "≥" beside the last says that it was climbed for: its divergence is a lower bound.
    """
    figure, cells_drawn = panels(tables["curve"], 2.3, above=0.9, narrow=True, sharex=True)
    for axis, rows in cells_drawn:
        _draw(axis, rows)
        axis.set_xlabel("JSD of attention from the base, nats")
        axis.set_ylabel("change of output (TVD)")
        axis.set_xlim(-0.02, 0.74)
    label_outer(figure.axes)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure


def _draw(axis: Any, rows: pd.DataFrame) -> None:
    means = rows.groupby(["kind", "strength", "other"], dropna=False)[["divergence", "change"]].mean()
    means = means.reset_index()
    curve = means[means["kind"] == ADVERSARY].sort_values("strength")
    axis.plot(curve["divergence"], curve["change"], "o-", color=BLUE, label="trained adversary, by λ")
    for _, point in curve.iterrows():
        # Below: the curve rises, and its points lie closer together to the right.
        _note(axis, f"{point['strength']:g}", point, (5, -10), fontsize=7, color=BLUE)
    for kind, mark, colour, size, label in (
        (SEED, "+", GREY, 8, "other seeds"),
        (UNIFORM, "^", ORANGE, 6, "uniform weights, trained"),
        (POSTHOC, "*", BLACK, 10, "post-hoc adversary"),
    ):
        own = means[means["kind"] == kind]
        axis.plot(own["divergence"], own["change"], mark, color=colour, markersize=size, label=label)
    climbed = rows[(rows["kind"] == POSTHOC) & (rows["how"] != "exact")]
    if len(climbed):
        _note(axis, "≥", climbed[["divergence", "change"]].mean(), (-8, 6), ha="center", fontsize=8)
    axis.axvline(MOST_APART, color=GREY, linestyle=":", linewidth=0.8, label="log 2, the largest JSD")
    axis.set_ylim(bottom=-0.01)


def _note(axis: Any, text: str, point: pd.Series, shift: tuple[int, int], **style: Any) -> None:
    place = point["divergence"], point["change"]
    axis.annotate(text, place, textcoords="offset points", xytext=shift, **style)


STAGE = Stage(
    "adversarial",
    "Models trained to decide alike and attend elsewhere",
    PLACE,
    measure,
    findings,
    claims,
    {"wiegreffe-pinter-adversarial": figure},
    seeds="all",
    flat_only=True,
)
EXPERIMENT = STAGE.in_paper("wiegreffe-pinter", models=(MAIN,), seeds=SEEDS)
