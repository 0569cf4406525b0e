"""The guide's worth: the diagnostic's F1 under each kind of weights (Wiegreffe & Pinter, 2019, 3.3 and 4)."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from heedful.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE
from heedful.papers.debate.panels import label_outer, panels
from heedful.papers.debate.stage import Stage
from heedful.papers.debate.trainings import MAIN, QUICK_SETTINGS, Trainings, main_cells
from heedful.papers.wiegreffe_pinter.run_scores import draw_dots, errors_of, headed, of_cell
from heedful.records import Claim, Finding
from heedful.study.controls import MEASURES, error_in
from heedful.study.experiment import Tables
from heedful.study.pooling import cells, mean_over_seeds, shown
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLACE = "Wiegreffe & Pinter (2019), 3.3"
OTHER = "Jain & Wallace (2019), 4.2.2, as read by Wiegreffe & Pinter (2019), 4"
ALIKE = 0.02
STRENGTH = 5e-3  # of the trained adversary that is a guide
TRAINED, ADVERSARIES = "trained model", ("adversary, trained", "adversary, exact")
PAIRS = [(TRAINED, guide) for guide in ("uniform", *ADVERSARIES)]
GUIDES = {
    "uniform": GREY,
    "learnt": GREEN,
    TRAINED: BLUE,
    "adversary, trained": ORANGE,
    "adversary, exact": PURPLE,
}


def measure(bench: Bench, trainings: Trainings) -> Tables:
    """The ladder of every cell, one rung a guide."""
    from heedful.study.diagnostic import diagnose

    settings = dict(QUICK_SETTINGS) if bench.quick else {}
    study = trainings.study("diagnostic")
    table = bench.measured(study, Measure(diagnose, {"strength": STRENGTH, "settings": settings}))
    corpora = study.check(data_dir=bench.data_dir)
    labels = {Path(name).stem: corpus.split("test").labels for name, corpus in corpora.items()}
    errors = errors_of(table.rename(columns={"guide": "kind"}), labels, pairs=PAIRS)
    table = table.drop(columns="decided", errors="ignore")
    return {"ladder": table, "errors": errors, "summary": summary({"ladder": table, "errors": errors})}


def rung(
    rows: pd.DataFrame, errors: pd.DataFrame, guide: str, *, measure: str = "macro_f1", **where: str
) -> Finding:
    """The diagnostic's accuracy or macro F1 under one guide, over seeds."""
    own, name = rows[rows["guide"] == guide], MEASURES[measure]
    return mean_over_seeds(
        own[measure],
        name=f"diagnostic's {name}, guide: {guide}",
        measured=f"{name} on the test split of a classifier of single words under these weights",
        count=int(own["texts"].iloc[0]),
        error=error_in(errors, guide, measure=measure),
        alone=True,
        within=(0, 1),
        better="higher",
        coordinates={**where, "guide": guide},
    )


def above(rows: pd.DataFrame, errors: pd.DataFrame, one: str, other: str, **where: str) -> Finding:
    """How much better one guide is than another, seed by seed."""
    wide = rows.pivot(index="seed", columns="guide", values="macro_f1")[[one, other]].dropna()
    return mean_over_seeds(
        wide[one] - wide[other],
        name=f"diagnostic's macro F1, {one} above {other}",
        measured=f"macro F1 under the guide {one} minus that under {other}, seed by seed, on the same texts",
        count=int(rows["texts"].iloc[0]),
        error=error_in(errors, one, than=other),
        within=(-1, 1),
        coordinates=where,
    )


def guides_in(rows: pd.DataFrame) -> list[str]:
    return [guide for guide in GUIDES if guide in set(rows["guide"])]


def findings(tables: Tables) -> list[Finding]:
    """All rungs of the table, cell by cell."""
    return [
        rung(rows, of_cell(tables, where), guide, measure=measure, **where)
        for where, rows in cells(tables["ladder"])
        for measure in MEASURES
        for guide in guides_in(rows)
    ]


def summary(tables: Tables) -> pd.DataFrame:
    """Macro F1 under each guide, by corpus and model."""
    return pd.DataFrame(
        [
            {
                **headed(where),
                **{guide: shown(rung(rows, of_cell(tables, where), guide)) for guide in guides_in(rows)},
                "seeds": rows["seed"].nunique(),
            }
            for where, rows in cells(tables["ladder"])
        ]
    )


def claims(tables: Tables) -> Iterator[Claim]:
    """That trained weights guide better than uniform and adversarial ones; and the reading against it."""
    for where, rows in main_cells(tables["ladder"]):
        errors, own = of_cell(tables, where), f"On {where['corpus']}, a trained model's attention"
        yield Claim.decided(
            f"{own} guides a classifier of single words better than uniform weights",
            PLACE,
            effect=above(rows, errors, TRAINED, "uniform", **where),
            comparison=">",
            threshold=0,
        )
        for guide in ADVERSARIES:
            if guide not in guides_in(rows):
                continue
            effect, other = above(rows, errors, TRAINED, guide, **where), _named(guide)
            statement = f"{own} guides better than {other}"
            yield Claim.decided(statement, PLACE, effect=effect, comparison=">", threshold=0)
            statement = f"{own} and {other} guide alike (F1 within {ALIKE:g})"
            yield Claim.decided(statement, OTHER, effect=effect, comparison="within", threshold=ALIKE)


def _named(guide: str) -> str:
    trained = f"adversarially trained twin (λ = {STRENGTH:g})"
    return f"that of its {trained if guide == 'adversary, trained' else 'exact adversary'}"


def figure(tables: Tables) -> "Figure":
    """The diagnostic's macro F1 under each guide: a dot a seed, and the mean's interval.

    The exact adversary is a guide for two classes alone; it has no rung where no corpus has two.
    """
    guides = guides_in(tables["ladder"])
    figure, cells_drawn = panels(tables["ladder"], 1.6, above=0.6, narrow=True, sharey=True)
    for axis, rows in cells_drawn:
        for place, guide in enumerate(guides):
            runs = rows[rows["guide"] == guide]
            draw_dots(axis, runs, place, colour=GUIDES[guide], tables=tables, kind=guide)
        axis.set_yticks(range(len(guides)), guides)
        axis.set_ylim(len(guides) - 0.5, -0.5)
        axis.set_title(axis.get_title().replace(", ", ", weights of ", 1))
        axis.set_xlabel("macro F1 of the diagnostic, test split")
    label_outer(figure.axes)
    return figure


STAGE = Stage(
    "diagnostic",
    "Each kind of weights as a guide for a classifier of single words",
    PLACE,
    measure,
    findings,
    claims,
    {"wiegreffe-pinter-diagnostic": figure},
    seeds="some",
    flat_only=True,
)
EXPERIMENT = STAGE.in_paper("wiegreffe-pinter", models=(MAIN,))
