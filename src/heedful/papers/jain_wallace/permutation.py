"""What permuting the weights does to the output (Jain & Wallace, 2019, section 4.2.1)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from heedful.data.corpus import Corpus
from heedful.drawing import empty_figure
from heedful.papers.debate.panels import (
    LARGEST,
    class_colours,
    class_legend,
    draw_boxes,
    label_edges,
    panels,
)
from heedful.papers.debate.stage import Stage
from heedful.papers.debate.trainings import Trainings
from heedful.papers.jain_wallace.moved_weights import most_texts, moved_rows
from heedful.records import Claim, Finding
from heedful.study.experiment import Tables
from heedful.study.pooling import (
    cells,
    grouped_findings,
    mean_over_texts,
    say_undefined,
    share_of_texts,
    shown,
)
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from heedful.papers.debate.stage import Held

PLACE = "Jain & Wallace (2019), 4.2.1"
SMALL = 0.1  # a change of the output below this is called small here; the paper shows figures


def permutation_rows(run: "Held", corpus: Corpus, *, limit: int | None = None) -> pd.DataFrame:
    """A measure: the median output change of each text over permutations of its weights."""
    from heedful.trials.weights.moved import permuted_weights

    found = moved_rows(run, corpus, limit=limit, measure=permuted_weights)
    return found.rename(columns={"permuted": "change"})


def measure(bench: Bench, trainings: Trainings) -> Tables:
    """Permutations on every cell of the trainings."""
    measured = Measure(permutation_rows, {"limit": trainings.limit})
    table = bench.measured(trainings.study("permutation"), measured)
    say_undefined(bench, table, "change", "no text has two items, and no weights can be permuted")
    return {"permutation": table, "summary": summary(table)}


def changes(rows: pd.DataFrame, **where: str) -> tuple[Finding | None, Finding | None]:
    """The mean of a cell's medians, and the share of texts whose median is small."""
    mean = mean_over_texts(
        rows,
        "change",
        name="output change under permuted weights",
        measured="median TVD of a text's output over permutations of its weights; mean over texts",
        within=(0.0, 1.0),
        coordinates=where,
    )
    share = share_of_texts(
        rows.assign(small=(rows["change"] < SMALL).where(rows["change"].notna())),
        "small",
        name="share of texts whose output hardly changes",
        measured=f"share of texts whose median change under permuted weights is below {SMALL:g}",
        coordinates=where,
    )
    return mean, share


def findings(tables: Tables) -> list[Finding]:
    """All findings of the table, cell by cell."""
    return grouped_findings(tables["permutation"], changes)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mean change and share of small ones, by corpus and model."""
    lines = []
    for where, rows in cells(table):
        mean, small = changes(rows, **where)
        lines.append(
            {
                **where,
                "median TVD, mean": shown(mean),
                f"share below {SMALL:g}": shown(small),
                "texts": rows["instance"].nunique(),
                "seeds": rows["seed"].nunique(),
            }
        )
    return pd.DataFrame(lines)


def claims(tables: Tables) -> Iterator[Claim]:
    """That permuting often changes little, over all texts and where attention is concentrated."""
    statement = f"permuted weights leave the output of most texts as it was (median change below {SMALL:g})"
    return most_texts(
        tables["permutation"], statement, PLACE, lambda rows, **where: changes(rows, **where)[1]
    )


def permutation_figure(tables: Tables) -> "Figure":
    """Boxes of the median change for each quarter of the largest weight, by decided class."""
    table = tables["permutation"].dropna(subset=["change"])
    figure, cells_drawn = panels(table, 1.9, sharey=True)
    if not cells_drawn:
        return empty_figure("No text has two items or more, so there is nothing to permute.")
    colours = class_colours(table)
    for axis, rows in cells_drawn:
        draw_boxes(axis, rows, "change", colours)
        axis.set_xlabel(LARGEST)
        axis.set_ylabel("median TVD of output")
        axis.set_ylim(-0.02, 1)
    label_edges(figure.axes)
    class_legend(figure, colours)
    return figure


STAGE = Stage(
    "permutation",
    "What permuting the weights does to the output",
    PLACE,
    measure,
    findings,
    claims,
    {"jain-wallace-permutation": permutation_figure},
    asks=("trace",),
)
EXPERIMENT = STAGE.in_paper("jain-wallace", place=": Figure 6")
