"""Wiegreffe & Pinter (2019), 3.1: learnt weights beside uniform and frozen ones."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.jain_wallace.naming import grid_of, named
from heedful.report.style import BLUE, GREEN, GREY, new_figure
from heedful.report.wiegreffe_pinter.dots import draw_dots

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

KINDS = {"trained": BLUE, "uniform": GREY, "frozen": GREEN}
WORDS = {"trained": "learnt", "uniform": "uniform", "frozen": "frozen, of another run"}


def uniform_figure(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Macro F1 of each kind of weights, every seed a dot, with the interval of the mean."""
    table = tables["runs"]
    corpora = list(dict.fromkeys(table["corpus"]))
    models = list(dict.fromkeys(table["model"]))
    kinds = [kind for kind in KINDS if kind in set(table["kind"])]
    rows_of_panels = -(-len(corpora) // 2)
    figure = new_figure(2.6 + 2.1 * min(len(corpora), 2), 1.2 + 0.6 * len(models) * rows_of_panels)
    for axis, corpus in zip(grid_of(figure, len(corpora), sharey=True), corpora, strict=True):
        for place, model in enumerate(models):
            own = table[(table["corpus"] == corpus) & (table["model"] == model)]
            for step, kind in enumerate(kinds):
                y = place + 0.24 * (step - (len(kinds) - 1) / 2)
                runs = own[own["kind"] == kind]
                draw_dots(axis, runs, y, colour=KINDS[kind], errors=tables.get("errors"), kind=kind)
        axis.set_yticks(range(len(models)), [named(model) for model in models])
        axis.set_ylim(len(models) - 0.5, -0.5)
        axis.set_title(corpus)
        axis.set_xlabel("macro F1, test split")
        axis.label_outer()
    for axis in figure.axes:
        axis.tick_params(labelbottom=True)
    handles = [figure.axes[0].plot([], [], "o", color=KINDS[kind], label=WORDS[kind])[0] for kind in kinds]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure
