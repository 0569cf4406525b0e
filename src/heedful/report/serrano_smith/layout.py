"""Panels of the paper's figures: architectures down, corpora across, by names that a reader knows."""

from typing import TYPE_CHECKING, Any

from heedful.report.style import RANKINGS as COLOURS
from heedful.report.style import new_figure

if TYPE_CHECKING:
    import numpy as np
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
# The corpora as the paper or their authors write them.
CORPORA = {
    "agnews": "AG News",
    "imdb-ratings": "IMDB, ratings",
    "imdb": "IMDB",
    "amazon": "Amazon",
    "yelp": "Yelp",
    "yahoo": "Yahoo Answers",
    "20news": "20 Newsgroups",
}


def model_label(model: str) -> str:
    """han-rnn as HANrnn; any other name stays."""
    family, _, encoder = model.partition("-")
    return f"{family.upper()}{encoder}" if family in ("han", "flan") else model


def corpus_label(corpus: str) -> str:
    """The corpus as its authors write it, and that it is a sample."""
    name = corpus.removesuffix("-sample")
    return CORPORA.get(name, name) + (" (sample)" if name != corpus else "")


def panel_title(model: str, corpus: str) -> str:
    """Model and corpus, or the one that has a name."""
    return ", ".join(name for name in (model_label(model), corpus_label(corpus)) if name)


def panels(
    table: "DataFrame", *, width: float = 2.1, height: float = 1.6, extra: float = 0.5, **shared: Any
) -> "tuple[Figure, np.ndarray, list[str], list[str]]":
    """A figure with one panel for each model (down) and corpus (across) of a table, titled."""
    models, corpora = list(table["model"].unique()), list(table["corpus"].unique())
    # One column alone is made wider: the labels of the whole figure need their room.
    figure = new_figure(max(4.8, width * len(corpora) + 0.9), max(2.2, height * len(models) + extra))
    axes = figure.subplots(len(models), len(corpora), squeeze=False, **shared)
    for row, model in enumerate(models):
        for column, corpus in enumerate(corpora):
            axes[row, column].set_title(panel_title(model, corpus), fontsize=8)
    return figure, axes, models, corpora


def of_panel(table: "DataFrame", model: str, corpus: str) -> "DataFrame":
    """The rows of one panel."""
    return table[(table["model"] == model) & (table["corpus"] == corpus)]


def say_empty(axis: "Axes") -> None:
    """A panel without instances says so: the model was not tested, or no text has what the figure shows."""
    axis.text(0.5, 0.5, "no instances", transform=axis.transAxes, ha="center", va="center", fontsize=7.5)
    axis.set_axis_off()  # and not without ticks: panels share them
