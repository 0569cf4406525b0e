"""Is attention needed? A trained model beside uniform and frozen weights (Wiegreffe & Pinter, 2019, 3.1)."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from heedful.records import Claim, Finding
from heedful.study.experiment import Tables
from heedful.study.ground import UNIFORM_CONTROL, Ground, main_model
from heedful.study.pooling import cells, mean_over_seeds, shown
from heedful.study.workbench import Bench, Measure

PLACE = "Wiegreffe & Pinter (2019), 3.1"
ALIKE = 0.02  # a difference of F1 within this is called no difference
RESULT = Measure("heedful.study.workbench:result")
FROZEN = Measure("heedful.study.diagnostic:freeze")
KINDS = ("trained", "uniform", "frozen")


def measure_uniform(bench: Bench, ground: Ground, *, frozen: bool = True) -> Tables:
    """What each kind of weights reaches, a row a run; `frozen` False spares one training a run."""
    study = ground.study("trained")
    measures = (RESULT, FROZEN) if frozen else (RESULT,)
    trained = bench.measured(study, *measures)
    uniform = bench.measured(ground.study("uniform", **UNIFORM_CONTROL), RESULT)
    kinds = {"result": "trained", "freeze": "frozen"}
    table = pd.concat(
        [trained.assign(kind=trained["measure"].map(kinds)), uniform.assign(kind="uniform")],
        ignore_index=True,
    )
    texts = {
        Path(name).stem: int((corpus.splits == "test").sum())
        for name, corpus in study.check(data_dir=bench.data_dir).items()
    }
    table["texts"] = table["corpus"].map(texts)
    wanted = ["corpus", "model", "seed", "kind", "dev_accuracy", "test_accuracy", "test_macro_f1", "texts"]
    table = table[wanted].rename(columns={"test_accuracy": "accuracy", "test_macro_f1": "macro_f1"})
    return {"runs": table, "summary": summary(table)}


def reached(rows: pd.DataFrame, kind: str, **where: str) -> Finding:
    """The mean macro F1 of one kind of weights over seeds."""
    own = rows[rows["kind"] == kind]
    return mean_over_seeds(
        own["macro_f1"],
        name=f"macro F1 with {kind} weights",
        measured="macro F1 on the test split, mean over seeds",
        count=int(own["texts"].iloc[0]),
        better="higher",
        coordinates={**where, "kind_of_weights": kind},
    )


def gained(rows: pd.DataFrame, kind: str, **where: str) -> Finding:
    """How much macro F1 the learnt weights gain over another kind, seed by seed."""
    wide = rows.pivot(index="seed", columns="kind", values="macro_f1").dropna()
    return mean_over_seeds(
        wide["trained"] - wide[kind],
        name=f"macro F1 gained over {kind} weights",
        measured=f"macro F1 with learnt weights minus that with {kind} weights, seed by seed",
        count=int(rows["texts"].iloc[0]),
        better="higher",
        coordinates={**where, "kind_of_weights": kind},
    )


def _kinds(rows: pd.DataFrame) -> list[str]:
    return [kind for kind in KINDS if kind in set(rows["kind"])]


def uniform_findings(tables: Tables) -> list[Finding]:
    """All findings of the table, cell by cell."""
    found = []
    for where, rows in cells(tables["runs"]):
        found += [reached(rows, kind, **where) for kind in _kinds(rows)]
        found += [gained(rows, kind, **where) for kind in _kinds(rows) if kind != "trained"]
    return found


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Macro F1 of each kind, by corpus and model."""
    lines = []
    for where, rows in cells(table):
        line = {**where, **{f"F1, {kind}": shown(reached(rows, kind)) for kind in _kinds(rows)}}
        lines.append(
            {**line, "gain over uniform": shown(gained(rows, "uniform")), "seeds": rows["seed"].nunique()}
        )
    return pd.DataFrame(lines)


def uniform_claims(tables: Tables) -> Sequence[Claim]:
    """That these tasks hardly need attention, and that it helps at all: corpus by corpus."""
    claims = []
    for corpus, own in tables["runs"].groupby("corpus", sort=False):
        model = main_model(own["model"])
        rows = own[own["model"] == model]
        effect = gained(rows, "uniform", corpus=str(corpus), model=model)
        claims.append(
            Claim.decided(
                f"On {corpus}, uniform weights do as well as learnt ones (F1 within {ALIKE:g})",
                PLACE,
                effect=effect,
                comparison="within",
                threshold=ALIKE,
            )
        )
        claims.append(
            Claim.decided(
                f"On {corpus}, learnt attention helps (F1 above that of uniform weights)",
                PLACE,
                effect=effect,
                comparison=">",
                threshold=0,
            )
        )
    return claims
