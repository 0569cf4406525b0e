"""Is attention needed? A trained model beside uniform and frozen weights (Wiegreffe & Pinter, 2019, 3.1)."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from heedful.records import Claim, Finding
from heedful.study.controls import MEASURES, TRAINED
from heedful.study.experiment import Tables
from heedful.study.ground import UNIFORM_CONTROL, Ground, main_model
from heedful.study.pooling import cells, headed, mean_over_seeds, shown
from heedful.study.wiegreffe_pinter.errors import error_in, errors_of, of_cell
from heedful.study.workbench import Bench, Measure

PLACE = "Wiegreffe & Pinter (2019), 3.1"
ALIKE = 0.02  # a difference of F1 within this is called no difference
JUDGED = Measure("heedful.study.controls:judge")
FROZEN = Measure("heedful.study.diagnostic:freeze")
KINDS = (TRAINED, "uniform", "frozen")


def measure_uniform(bench: Bench, ground: Ground, *, frozen: bool = True) -> Tables:
    """What each kind of weights reaches, a row a run; `frozen` False spares one training a run."""
    study = ground.study("trained")
    measures = (JUDGED, FROZEN) if frozen else (JUDGED,)
    trained = bench.measured(study, *measures)
    uniform = bench.measured(ground.study("uniform", **UNIFORM_CONTROL), JUDGED)
    kinds = {"judge": TRAINED, "freeze": "frozen"}
    table = pd.concat(
        [trained.assign(kind=trained["measure"].map(kinds)), uniform.assign(kind="uniform")],
        ignore_index=True,
    )
    labels = {
        Path(name).stem: corpus.split("test").labels
        for name, corpus in study.check(data_dir=bench.data_dir).items()
    }
    table["texts"] = table["corpus"].map({name: len(own) for name, own in labels.items()})
    errors = errors_of(table, labels, pairs=[(TRAINED, kind) for kind in KINDS if kind != TRAINED])
    wanted = ["corpus", "model", "seed", "kind", "dev_accuracy", "test_accuracy", "test_macro_f1", "texts"]
    table = table[wanted].rename(columns={"test_accuracy": "accuracy", "test_macro_f1": "macro_f1"})
    return {"runs": table, "errors": errors, "summary": summary({"runs": table, "errors": errors})}


def reached(
    rows: pd.DataFrame, errors: pd.DataFrame, kind: str, *, measure: str = "macro_f1", **where: str
) -> Finding:
    """The mean accuracy or macro F1 of one kind of weights over seeds."""
    own, name = rows[rows["kind"] == kind], MEASURES[measure]
    return mean_over_seeds(
        own[measure],
        name=f"{name} with {kind} weights",
        measured=f"{name} on the test split, mean over seeds",
        count=int(own["texts"].iloc[0]),
        error=error_in(errors, kind, measure=measure),
        alone=True,
        within=(0, 1),
        better="higher",
        coordinates={**where, "kind_of_weights": kind},
    )


def gained(
    rows: pd.DataFrame, errors: pd.DataFrame, kind: str, *, measure: str = "macro_f1", **where: str
) -> Finding:
    """How much accuracy or macro F1 the learnt weights gain over another kind, seed by seed."""
    wide = rows.pivot(index="seed", columns="kind", values=measure)[[TRAINED, kind]].dropna()
    name = MEASURES[measure]
    return mean_over_seeds(
        wide[TRAINED] - wide[kind],
        name=f"{name} gained over {kind} weights",
        measured=f"{name} with learnt weights minus that with {kind} ones, seed by seed, on the same texts",
        count=int(rows["texts"].iloc[0]),
        error=error_in(errors, TRAINED, than=kind, measure=measure),
        within=(-1, 1),
        better="higher",
        coordinates={**where, "kind_of_weights": kind},
    )


def _kinds(rows: pd.DataFrame) -> list[str]:
    return [kind for kind in KINDS if kind in set(rows["kind"])]


def uniform_findings(tables: Tables) -> list[Finding]:
    """All findings of the table, cell by cell: accuracy and macro F1."""
    found = []
    for where, rows in cells(tables["runs"]):
        errors = of_cell(tables, where)
        for measure in MEASURES:
            found += [reached(rows, errors, kind, measure=measure, **where) for kind in _kinds(rows)]
            found += [gained(rows, errors, kind, measure=measure, **where) for kind in _kinds(rows)[1:]]
    return found


def summary(tables: Tables) -> pd.DataFrame:
    """Accuracy and macro F1 of each kind, by corpus and model."""
    lines = []
    for where, rows in cells(tables["runs"]):
        errors = of_cell(tables, where)
        for measure, name in MEASURES.items():
            kinds = {kind: shown(reached(rows, errors, kind, measure=measure)) for kind in _kinds(rows)}
            gain = shown(gained(rows, errors, "uniform", measure=measure))
            lines.append(
                {
                    **headed(where),
                    "score": name,
                    **kinds,
                    "over uniform": gain,
                    "seeds": rows["seed"].nunique(),
                }
            )
    return pd.DataFrame(lines)


def uniform_claims(tables: Tables) -> Sequence[Claim]:
    """That these tasks hardly need attention, and that it helps at all: corpus by corpus."""
    claims = []
    for corpus, own in tables["runs"].groupby("corpus", sort=False):
        model = main_model(own["model"])
        where = {"corpus": str(corpus), "model": model}
        effect = gained(own[own["model"] == model], of_cell(tables, where), "uniform", **where)
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
