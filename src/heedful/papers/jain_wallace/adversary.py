"""Weights that are far from a model's own and leave its decision as it is (Jain & Wallace, 2019, 4.2.2).

Two classes under a linear head have the exact maximum; more classes the published ascent, a lower bound.

How far weights can be at all depends on the text: JSD is convex, so nothing is farther from α than all weight
on one item, log 2 − ½[(1 + a) log(1 + a) − a log a] for its weight a, hence the item of least weight. From
even weights over two items that is 0.22 nats, over eight 0.497. So "far" is asked only of texts where it can
be, and a text of one item has no other weights at all: NaN.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from heedful.data.corpus import Corpus
from heedful.drawing import BLACK, BLUE, empty_figure
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
    MOST_APART,
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

PLACE = "Jain & Wallace (2019), 4.2.2"
EPSILON = 0.01
FAR = 0.5  # nats, of at most log 2 = 0.693
PUBLISHED = {"restarts": 5, "steps": 500}  # of the ascent
EXACT = "exact"
HOW = {EXACT: "exact", "lower bound": "ascent: at least"}
NONE = "No text has two items or more, so none has other weights."


def adversary_rows(
    run: "Held",
    corpus: Corpus,
    *,
    limit: int | None = None,
    epsilon: float = EPSILON,
    restarts: int = PUBLISHED["restarts"],
    steps: int = PUBLISHED["steps"],
) -> pd.DataFrame:
    """A measure: the farthest weights of each text, by the exact way where there is one."""
    from heedful.trials.weights.moved import farthest_weights

    farthest = partial(farthest_weights, epsilon=epsilon, restarts=restarts, steps=steps)
    found = moved_rows(run, corpus, limit=limit, measure=farthest)
    return found.assign(epsilon=epsilon)


def adversary_measure(trainings: Trainings) -> Measure:
    """The adversary as both papers' experiments measure it, hence once; by the whole ascent also when quick.

    With a fifth of its steps the ascent finds nothing for half of the texts of agnews, and saves a second.
    """
    return Measure(adversary_rows, {"limit": trainings.limit, "epsilon": EPSILON, **PUBLISHED})


def posthoc_rows(bench: Bench, trainings: Trainings) -> pd.DataFrame:
    """The adversary of every cell's first seed, a row per text; `search` says how it was looked for."""
    measured = adversary_measure(trainings)
    table = bench.measured(trainings.study("adversary", seeds=trainings.seeds[:1]), measured)
    found = np.where(table["kind"] == EXACT, "the exact maximum", searched(measured.options))
    return table.assign(search=found)


def searched(options: Mapping[str, int]) -> str:
    """How the ascent was run, and that it was shortened where it was."""
    own, published = ([where[name] for name in PUBLISHED] for where in (options, PUBLISHED))
    shortened = "" if own == published else f", fewer than the published {published[0]} × {published[1]}"
    return f"gradient ascent, {own[0]} restarts × {own[1]} steps{shortened}: a lower bound"


def is_bound(how: pd.Series) -> bool:
    """Whether the adversary of some text is only a lower bound."""
    return bool((how != EXACT).any())


def measure(bench: Bench, trainings: Trainings) -> Tables:
    """The adversary on every cell of the trainings."""
    table = bench.measured(trainings.study("adversary"), adversary_measure(trainings))
    say_undefined(bench, table, "divergence", "no text has two items, and so no other weights")
    return {"adversary": table, "summary": summary(table)}


def divergences(rows: pd.DataFrame, **where: str) -> tuple[Finding | None, Finding | None]:
    """The mean divergence of a cell's adversary, and the share of texts where it is far, of those it can be.

    Beside the mean stands what any weights could reach, whatever the output.
    """
    if not len(rows):
        return None, None
    exact = not is_bound(rows["kind"])
    how = "the exact maximum" if exact else "the best that gradient ascent found"
    epsilon = float(rows["epsilon"].iloc[0])
    mean = mean_over_texts(
        rows,
        "divergence",
        name="adversary's divergence",
        measured=f"JSD to the farthest weights that move the output by at most {epsilon:g}, {how}; mean"
        + _left_out(rows, rows["divergence"].notna(), "of a single item"),
        baselines={"attainable": "attainable"},
        unit="nats",
        kind="estimate" if exact else "lower bound",
        within=(0.0, MOST_APART),
        coordinates=where,
    )
    can = rows["attainable"] >= FAR
    far = share_of_texts(
        rows.assign(far=rows["divergence"] >= FAR)[can],
        "far",
        name="share of texts with far other weights",
        measured=f"share of texts with weights at a JSD of at least {FAR:g} nats and an output within "
        f"{epsilon:g}, {how}" + _left_out(rows, can, "where no weights at all are that far"),
        kind="estimate" if exact else "lower bound",
        coordinates=where,
    )
    return mean, far


def _left_out(rows: pd.DataFrame, taken: pd.Series, why: str) -> str:
    """How many texts were not counted, and why, to be added to how something was measured."""
    counts = (~taken).groupby(rows["seed"]).sum()
    if not counts.any():
        return ""
    shown = f"{counts.min()}" if counts.nunique() == 1 else f"{counts.min()} to {counts.max()} a seed"
    return f"; {shown} of {rows['instance'].nunique()} texts left out, {why}"


def findings(tables: Tables) -> list[Finding]:
    """All findings of the table, cell by cell."""
    return grouped_findings(tables["adversary"], divergences)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mean divergence and share of far ones, by corpus and model."""
    lines = []
    for where, rows in cells(table):
        mean, far = divergences(rows, **where)
        lines.append(
            {
                **where,
                "ε-max JSD, nats": shown(mean),
                f"share ≥ {FAR:g}, where it can be": shown(far),
                "how": rows["kind"].iloc[0],
                "texts": rows["instance"].nunique(),
                "where it can be": far.count if far is not None else 0,
                "seeds": rows["seed"].nunique(),
            }
        )
    return pd.DataFrame(lines)


def claims(tables: Tables) -> Iterator[Claim]:
    """That most texts have far other weights, also where attention is concentrated."""
    statement = f"most texts that can have quite other weights (JSD ≥ {FAR:g}) have them with the same output"
    return most_texts(
        tables["adversary"], statement, PLACE, lambda rows, **where: divergences(rows, **where)[1]
    )


def adversary_figure(tables: Tables) -> "Figure":
    """Histograms of the largest divergence that leaves the output as it is."""
    table = tables["adversary"].dropna(subset=["divergence"])
    figure, cells_drawn = panels(table, 1.7, sharex=True, sharey=True)
    bins = np.linspace(0, MOST_APART, 29)
    for axis, rows in cells_drawn:
        axis.hist(rows["divergence"], bins, color=BLUE, alpha=0.7, weights=np.full(len(rows), 1 / len(rows)))
        mean = rows["divergence"].mean()
        axis.axvline(mean, color=BLACK, linewidth=1)
        axis.annotate(f"mean {mean:.2f} ", (mean, 0.92), xycoords=("data", "axes fraction"), ha="right")
        axis.set_title(f"{axis.get_title()} ({HOW[rows['kind'].iloc[0]]})")
        axis.set_xlabel("ε-max JSD, nats (at most log 2)")
        axis.set_ylabel("share of texts")
    label_edges(figure.axes)
    return figure if cells_drawn else empty_figure(NONE)


def adversary_weights_figure(tables: Tables) -> "Figure":
    """The same divergence for each quarter of the largest weight, by decided class."""
    table = tables["adversary"].dropna(subset=["divergence"])
    figure, cells_drawn = panels(table, 1.9, sharey=True)
    if not cells_drawn:
        return empty_figure(NONE)
    colours = class_colours(table)
    for axis, rows in cells_drawn:
        draw_boxes(axis, rows, "divergence", colours)
        axis.axhline(MOST_APART, color=BLACK, linewidth=0.8, linestyle=":")
        axis.set_title(f"{axis.get_title()} ({HOW[rows['kind'].iloc[0]]})")
        axis.set_xlabel(LARGEST)
        axis.set_ylabel("ε-max JSD, nats")
        axis.set_ylim(0, 0.75)
    label_edges(figure.axes)
    class_legend(figure, colours)
    return figure


STAGE = Stage(
    "adversary",
    "Far other weights with the same output",
    PLACE,
    measure,
    findings,
    claims,
    {"jain-wallace-adversary": adversary_figure, "jain-wallace-adversary-weights": adversary_weights_figure},
    asks=("trace",),
)
EXPERIMENT = STAGE.in_paper("jain-wallace", place=": Figures 7 and 8")
