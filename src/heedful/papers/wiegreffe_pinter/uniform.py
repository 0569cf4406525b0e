"""Is attention needed? A trained model beside uniform and frozen weights (Wiegreffe & Pinter, 2019, 3.1)."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from heedful.drawing import BLUE, GREEN, GREY, new_figure
from heedful.papers.debate.panels import grid_of, label_outer, rows_of, width_of
from heedful.papers.debate.stage import Stage
from heedful.papers.debate.trainings import Trainings, main_cells
from heedful.papers.names import model_label
from heedful.papers.wiegreffe_pinter.run_scores import draw_dots, errors_of, headed, of_cell
from heedful.records import Claim, Finding
from heedful.study.controls import MEASURES, TRAINED, gained, judge, reached
from heedful.study.experiment import Tables
from heedful.study.pooling import cells, shown
from heedful.study.workbench import Bench, Measure
from heedful.training.presets import UNIFORM_CONTROL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLACE = "Wiegreffe & Pinter (2019), 3.1"
ALIKE = 0.02  # a difference of F1 within this is called no difference
SEEDS = 8  # trainings, to see how much they vary
COLOURS = {TRAINED: BLUE, "uniform": GREY, "frozen": GREEN}
WORDS = {TRAINED: "learnt", "uniform": "uniform", "frozen": "frozen, of another run"}


def measure(bench: Bench, trainings: Trainings, *, frozen: bool = True) -> Tables:
    """What each kind of weights reaches, a row a run; `frozen` False spares one training a run."""
    from heedful.study.diagnostic import freeze

    study, judged = trainings.study("trained"), Measure(judge)
    trained = bench.measured(study, judged, *([Measure(freeze)] if frozen else []))
    uniform = bench.measured(trainings.study("uniform", **UNIFORM_CONTROL), judged)
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
    errors = errors_of(table, labels, pairs=[(TRAINED, kind) for kind in COLOURS if kind != TRAINED])
    wanted = ["corpus", "model", "seed", "kind", "dev_accuracy", "test_accuracy", "test_macro_f1", "texts"]
    table = table[wanted].rename(columns={"test_accuracy": "accuracy", "test_macro_f1": "macro_f1"})
    return {"runs": table, "errors": errors, "summary": summary({"runs": table, "errors": errors})}


def _kinds(rows: pd.DataFrame) -> list[str]:
    return [kind for kind in COLOURS if kind in set(rows["kind"])]


def findings(tables: Tables) -> list[Finding]:
    """All findings of the table, cell by cell: accuracy and macro F1."""
    found = []
    for where, rows in cells(tables["runs"]):
        errors = of_cell(tables, where)
        for measure in MEASURES:
            found += [
                reached(rows, errors, kind, measure=measure, coordinates=where) for kind in _kinds(rows)
            ]
            found += [
                gained(rows, errors, kind, measure=measure, coordinates=where) for kind in _kinds(rows)[1:]
            ]
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


def claims(tables: Tables) -> Iterator[Claim]:
    """That these tasks hardly need attention, and that it helps at all: corpus by corpus."""
    for where, rows in main_cells(tables["runs"]):
        effect, on = (
            gained(rows, of_cell(tables, where), "uniform", coordinates=where),
            f"On {where['corpus']}",
        )
        yield Claim.decided(
            f"{on}, uniform weights do as well as learnt ones (F1 within {ALIKE:g})",
            PLACE,
            effect=effect,
            comparison="within",
            threshold=ALIKE,
        )
        statement = f"{on}, learnt attention helps (F1 above that of uniform weights)"
        yield Claim.decided(statement, PLACE, effect=effect, comparison=">", threshold=0)


def figure(tables: Tables) -> "Figure":
    """Macro F1 of each kind of weights, every seed a dot, with the interval of the mean."""
    table = tables["runs"]
    corpora, models = list(dict.fromkeys(table["corpus"])), list(dict.fromkeys(table["model"]))
    kinds = _kinds(table)
    figure = new_figure(width_of(len(corpora)), 1.2 + 0.6 * len(models) * rows_of(len(corpora)))
    for axis, corpus in zip(grid_of(figure, len(corpora), sharey=True), corpora, strict=True):
        for place, model in enumerate(models):
            own = table[(table["corpus"] == corpus) & (table["model"] == model)]
            for step, kind in enumerate(kinds):
                y = place + 0.24 * (step - (len(kinds) - 1) / 2)
                draw_dots(axis, own[own["kind"] == kind], y, colour=COLOURS[kind], tables=tables, kind=kind)
        axis.set_yticks(range(len(models)), [model_label(model) for model in models])
        axis.set_ylim(len(models) - 0.5, -0.5)
        axis.set_title(corpus)
        axis.set_xlabel("macro F1, test split")
    label_outer(figure.axes)
    handles = [figure.axes[0].plot([], [], "o", color=COLOURS[kind], label=WORDS[kind])[0] for kind in kinds]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


STAGE = Stage(
    "uniform",
    "Learnt weights beside uniform and frozen ones",
    PLACE,
    measure,
    findings,
    claims,
    {"wiegreffe-pinter-uniform": figure},
    seeds="all",
)
EXPERIMENT = STAGE.in_paper("wiegreffe-pinter", seeds=SEEDS)
