"""Adversarially trained models: change of output against divergence of attention (W&P, 2019, section 4).

On the same axes: adversaries over a grid of strengths λ, other seeds, the uniform control, and Jain &
Wallace's post-hoc adversary, which needs no model that would produce its weights.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from heedful.records import Claim, Finding
from heedful.records.finding import Scalar
from heedful.study.experiment import Tables
from heedful.study.grid import load_origin
from heedful.study.ground import UNIFORM_CONTROL, Ground, main_model
from heedful.study.pooling import MOST, cells, headed, lead_over_texts, mean_over_texts, shown
from heedful.study.strengths import STRENGTHS, beside
from heedful.study.wiegreffe_pinter.posthoc import is_bound, posthoc_rows
from heedful.study.workbench import Bench, Measure
from heedful.training.run import Run

PLACE = "Wiegreffe & Pinter (2019), 4"
QUICK_STRENGTHS = (0.0, 5e-3, 2e-2)
MARGIN = 0.02  # a model decides alike whose output is no farther from the base's than other seeds', plus this
ADVERSARY, SEED, UNIFORM, POSTHOC = "adversary", "seed", "uniform", "post-hoc adversary"
COLUMNS = (
    *("corpus", "model", "seed", "kind", "strength", "other", "how", "search"),
    *("instance", "change", "divergence", "same"),
)


def measure_curve(bench: Bench, ground: Ground) -> Tables:
    """Adversaries of each cell's first seed, and what else belongs on their axes; a row a text.

    "curve" is about the test split; "dev" about the dev split, which alone chooses an adversary.
    """
    first = (ground.seeds[0],)
    curves, base = {}, ground.study("adversaries", seeds=first)
    strengths = list(QUICK_STRENGTHS if bench.quick else STRENGTHS)
    for split in ("test", "dev"):
        options = {"strengths": strengths, "split": split, "limit": ground.limit}
        found = bench.measured(base, Measure("heedful.study.strengths:adversaries", options))
        curves[split] = [found.assign(kind=ADVERSARY)]
    runs: dict[tuple[str, str], list[Run]] = {}
    for cell, run in bench.runs(ground.study("seeds")):
        runs.setdefault((cell.corpus, cell.model), []).append(run)
    even = {
        (cell.corpus, cell.model): run
        for cell, run in bench.runs(ground.study("uniform", seeds=first, **UNIFORM_CONTROL))
    }
    for (name, model), own in runs.items():
        corpus = load_origin(base.origin(name), bench.data_dir)
        about = {"corpus": Path(name).stem, "model": model, "seed": first[0]}
        for split, frames in curves.items():
            for number, other in enumerate(own[1:], start=1):
                rows = beside(own[0], other, corpus, split=split, limit=ground.limit)
                frames.append(rows.assign(**about, kind=SEED, other=number))
        rows = beside(own[0], even[name, model], corpus, limit=ground.limit)
        curves["test"].append(rows.assign(**about, kind=UNIFORM))
    posthoc = posthoc_rows(bench, ground)
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
        within=(0.0, MOST),
        unit="nats",
        kind="lower bound" if posthoc and is_bound(rows["how"]) else "estimate",
        coordinates=where,
    )
    return change, apart


def curve_findings(tables: Tables) -> list[Finding]:
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


def curve_claims(tables: Tables) -> Sequence[Claim]:
    """That an adversary can be trained, goes beyond seeds, and not as far as the post-hoc one, by corpus.

    The dev split chooses the adversary, the test split judges it. Where none decides alike, nothing can be
    said of one that does: the claims are there all the same, and say so. They are about one base and one
    adversary of it; where it is compared with other seeds, the interval is over those.
    """
    claims = []
    for corpus, own in tables["curve"].groupby("corpus", sort=False):
        model = main_model(own["model"])
        rows = own[own["model"] == model]
        dev = tables["dev"][(tables["dev"]["corpus"] == corpus) & (tables["dev"]["model"] == model)]
        claims += _claims_of(str(corpus), model, rows, *strongest(dev))
    return claims


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
        within=(-MOST, MOST),
        unit="nats",
        kind="lower bound" if found and is_bound(one["how"]) else "estimate",
        coordinates=where,
    )


def _search(rows: pd.DataFrame) -> str:
    """How a post-hoc adversary was looked for, to be added to how something was measured."""
    return f"; {rows['search'].iloc[0]}" if (rows["kind"] == POSTHOC).all() else ""
