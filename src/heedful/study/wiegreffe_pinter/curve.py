"""Adversarially trained models: change of output against divergence of attention (W&P, 2019, section 4).

On the same axes: adversaries over a grid of strengths λ, other seeds, the uniform control, and Jain &
Wallace's post-hoc adversary, which needs no model that would produce its weights.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from heedful.records import Claim, Finding
from heedful.records.finding import Scalar
from heedful.study.experiment import Tables
from heedful.study.grid import load_origin
from heedful.study.ground import UNIFORM_CONTROL, Ground, main_model
from heedful.study.jain_wallace.adversary import adversary_rows
from heedful.study.pooling import cells, lead_over_texts, mean_over_texts, shown
from heedful.study.strengths import STRENGTHS, beside
from heedful.study.workbench import Bench, Measure
from heedful.training.run import Run

PLACE = "Wiegreffe & Pinter (2019), 4"
QUICK_STRENGTHS = (0.0, 5e-3, 2e-2)
MARGIN = 0.02  # a model decides alike whose output is no farther from the base's than other seeds', plus this
ADVERSARY, SEED, UNIFORM, POSTHOC = "adversary", "seed", "uniform", "post-hoc adversary"


def measure_curve(bench: Bench, ground: Ground) -> Tables:
    """Adversaries of each cell's first seed, and what else belongs on their axes; a row a text."""
    strengths = QUICK_STRENGTHS if bench.quick else STRENGTHS
    options = {"strengths": list(strengths), "limit": ground.limit}
    first = (ground.seeds[0],)
    base = ground.study("adversaries", seeds=first)
    curve = bench.measured(base, Measure("heedful.study.strengths:adversaries", options)).assign(
        kind=ADVERSARY
    )
    runs: dict[tuple[str, str], list[Run]] = {}
    for cell, run in bench.runs(ground.study("seeds")):
        runs.setdefault((cell.corpus, cell.model), []).append(run)
    even = {
        (cell.corpus, cell.model): run
        for cell, run in bench.runs(ground.study("uniform", seeds=first, **UNIFORM_CONTROL))
    }
    frames = [curve]
    for (name, model), own in runs.items():
        corpus = load_origin(base.origin(name), bench.data_dir)
        about = {"corpus": Path(name).stem, "model": model, "seed": first[0]}
        for number, other in enumerate(own[1:], start=1):
            rows = beside(own[0], other, corpus, limit=ground.limit)
            frames.append(rows.assign(**about, kind=SEED, other=number))
        rows = beside(own[0], even[name, model], corpus, limit=ground.limit)
        frames.append(rows.assign(**about, kind=UNIFORM))
        posthoc = adversary_rows(own[0], corpus, limit=ground.limit, restarts=3, steps=100)
        frames.append(
            posthoc[["instance", "change", "divergence", "same"]].assign(
                **about, kind=POSTHOC, how=posthoc["kind"].iloc[0]
            )
        )
    wanted = [
        "corpus",
        "model",
        "seed",
        "kind",
        "strength",
        "other",
        "how",
        "instance",
        "change",
        "divergence",
        "same",
    ]
    table = pd.concat(frames, ignore_index=True).reindex(columns=wanted)
    return {"curve": table, "summary": summary(table)}


def points(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The places on the axes of one cell, named, with the rows of each."""
    found = [
        (f"adversary, λ = {strength:g}", own)
        for strength, own in rows[rows["kind"] == ADVERSARY].groupby("strength", sort=True)
    ]
    found += [(kind, rows[rows["kind"] == kind]) for kind in (SEED, UNIFORM, POSTHOC)]
    return [(name, own) for name, own in found if len(own)]


def at(rows: pd.DataFrame, name: str, **where: str) -> tuple[Finding | None, Finding | None]:
    """The mean change of output and the mean divergence of attention at one place on the axes."""
    change = mean_over_texts(
        rows,
        "change",
        name=f"change of output, {name}",
        measured="total variation distance of the two outputs, mean over texts",
        better="lower",
        coordinates=where,
    )
    apart = mean_over_texts(
        rows,
        "divergence",
        name=f"divergence of attention, {name}",
        measured="JSD of the two attentions, mean over texts",
        unit="nats",
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
                    **where,
                    "what": name,
                    "TVD": shown(change),
                    "JSD, nats": shown(apart),
                    "same decision": f"{own['same'].astype(float).mean():.3f}",
                    "texts": own["instance"].nunique(),
                }
            )
    return pd.DataFrame(lines)


def strongest(rows: pd.DataFrame) -> tuple[float, pd.DataFrame] | None:
    """The adversary of the largest divergence among those that decide alike, if there is one.

    Seeds are the yardstick: two trainings of one model do not agree in their outputs either.
    """
    usual = rows.loc[rows["kind"] == SEED, "change"].mean() if (rows["kind"] == SEED).any() else 0.0
    best: tuple[float, pd.DataFrame] | None = None
    for strength, own in rows[rows["kind"] == ADVERSARY].groupby("strength"):
        farther = best is None or own["divergence"].mean() > best[1]["divergence"].mean()
        if own["change"].mean() <= usual + MARGIN and farther:
            best = float(strength), own
    return best


def curve_claims(tables: Tables) -> Sequence[Claim]:
    """That a trained adversary goes beyond seeds, and not as far as the post-hoc one: corpus by corpus."""
    claims = []
    for corpus, own in tables["curve"].groupby("corpus", sort=False):
        model = main_model(own["model"])
        rows = own[own["model"] == model]
        found = strongest(rows)
        if found is None:
            continue
        strength, best = found
        where: dict[str, Scalar] = {"corpus": str(corpus), "model": model, "strength": strength}
        seeds, posthoc = rows[rows["kind"] == SEED], rows[rows["kind"] == POSTHOC]
        if len(seeds):
            claims.append(
                Claim.decided(
                    f"On {corpus}, a model can be trained to decide alike (its output as near as other "
                    f"seeds', + {MARGIN:g}) and attend farther away than they do",
                    PLACE,
                    effect=_farther(best, seeds, "the trained adversary", "other seeds", where),
                    comparison=">",
                    threshold=0,
                )
            )
        exact = (posthoc["how"] == "exact").all()
        claims.append(
            Claim.decided(
                f"On {corpus}, no such model attends as far away as the weights found text by text",
                PLACE,
                effect=_farther(
                    posthoc, best, "the post-hoc adversary", "the trained one", where, bound=not exact
                ),
                comparison=">",
                threshold=0,
            )
        )
    return claims


def _farther(
    one: pd.DataFrame,
    other: pd.DataFrame,
    name: str,
    than: str,
    where: dict[str, Scalar],
    *,
    bound: bool = False,
) -> Finding:
    return lead_over_texts(
        one,
        other,
        "divergence",
        name=f"divergence of {name} beyond that of {than}",
        measured="difference of the JSD from the run's attention, paired over texts",
        unit="nats",
        kind="lower bound" if bound else "estimate",
        coordinates=where,
    )
