"""Panels of the paper's figures: architectures down, corpora across, by names that a reader knows."""

from itertools import product
from typing import TYPE_CHECKING, Any

from heedful.drawing import RANKINGS as COLOURS
from heedful.drawing import new_figure
from heedful.papers.names import corpus_label, model_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

# The trials' names of rankings, as a figure writes them; their colours are those of all figures.
LABELS = {
    "random": "random",
    "attention": "attention",
    "gradient": "gradient",
    "product": "attention × gradient",
    "exact": "exact smallest set",
}
COLOUR = {name: COLOURS["exact" if name == "exact" else label] for name, label in LABELS.items()}


def panels(
    table: "DataFrame",
    *,
    width: float = 2.1,
    height: float = 1.6,
    beside: float = 0.9,
    extra: float = 0.5,
    **shared: Any,
) -> "tuple[Figure, list[tuple[Axes, str, str]]]":
    """A figure with a titled panel for each model (down) and corpus (across) of a table: axis, model, corpus.

    Panels have this width and height in inches; `beside` and `extra` are what the figure has besides.
    """
    models, corpora = list(table["model"].unique()), list(table["corpus"].unique())
    # One column alone is made wider: the labels of the whole figure need their room.
    figure = new_figure(max(4.8, width * len(corpora) + beside), max(2.2, height * len(models) + extra))
    axes = figure.subplots(len(models), len(corpora), squeeze=False, **shared)
    made = [(axis, *names) for axis, names in zip(axes.flat, product(models, corpora), strict=True)]
    for axis, model, corpus in made:
        # A user's rows may have only one of the two names.
        named = [name for name in (model_label(model), corpus_label(corpus)) if name]
        axis.set_title(", ".join(named), fontsize=8)
    return figure, made


def of_panel(table: "DataFrame", model: str, corpus: str) -> "DataFrame":
    """The rows of one panel."""
    return table[(table["model"] == model) & (table["corpus"] == corpus)]


def say_empty(axis: "Axes") -> None:
    """A panel without instances says so: the model was not tested, or no text has what the figure shows."""
    axis.text(0.5, 0.5, "no instances", transform=axis.transAxes, ha="center", va="center", fontsize=7.5)
    axis.set_axis_off()  # and not without ticks: panels share them
