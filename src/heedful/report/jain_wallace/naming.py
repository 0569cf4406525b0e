"""Names of models, colours of classes, and panels side by side: shared by the figures of both papers."""

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from heedful.report.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

PREFIX = "jain-wallace-"
SCORES = {"tanh": "additive", "dot": "dot"}


def named(model: str) -> str:
    """biLSTM, additive for jain-wallace-bilstm-tanh; other models by their own names."""
    if not model.startswith(PREFIX):
        return model
    encoder, _, score = model.removeprefix(PREFIX).partition("-")
    return f"{encoder.replace('bilstm', 'biLSTM').replace('cnn', 'CNN')}, {SCORES.get(score, score)}"


def class_colours(table: "DataFrame") -> dict[str, str]:
    """A colour for each class of a figure, by its name: corpora number other classes alike."""
    numbered = table[["corpus", "decided", "decided_class"]].drop_duplicates()
    corpora = {name: place for place, name in enumerate(dict.fromkeys(table["corpus"]))}
    ordered = numbered.assign(place=numbered["corpus"].map(corpora)).sort_values(["place", "decided"])
    return dict(zip(dict.fromkeys(map(str, ordered["decided_class"])), cycle(COLOURS), strict=False))


def class_legend(figure: "Figure", colours: dict[str, str], *others: Any) -> None:
    """What the colours stand for, above all panels; `others` are handles of what is drawn besides.

    The figure grows by the height that the legend takes.
    """
    from matplotlib.patches import Patch

    classes = [Patch(color=colour, alpha=0.6, label=f"decided: {name}") for name, colour in colours.items()]
    handles = [*others, *classes]
    width, height = figure.get_size_inches()
    longest = max(len(handle.get_label()) for handle in handles)
    columns = max(1, min(len(handles), int(width / (0.062 * longest + 0.55))))  # inches of text and handle
    figure.set_size_inches(width, height + 0.17 * -(-len(handles) // columns) + 0.1)
    figure.legend(handles=handles, loc="outside upper center", ncols=columns)


def grid_of(figure: "Figure", count: int, **shared: Any) -> list[Any]:
    """So many panels, two a row; none is left empty."""
    columns = min(count, 2)
    rows = -(-count // columns)
    axes = list(figure.subplots(rows, columns, squeeze=False, **shared).flat)
    for axis in axes[count:]:
        axis.remove()
    return axes[:count]


def label_edges(axes: Sequence[Any]) -> None:
    """Leave labels and numbers of shared axes at the left and below the lowest panel of each column."""
    columns = min(len(axes), 2)
    for place, axis in enumerate(axes):
        label = axis.get_xlabel()
        axis.label_outer()
        if place + columns >= len(axes):  # nothing is below, also where the last row is short
            axis.tick_params(labelbottom=True)
            axis.set_xlabel(label)
