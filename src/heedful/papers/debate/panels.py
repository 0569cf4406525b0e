"""Panels of the figures of both papers: a cell each, two a row, with colours of classes and one legend."""

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pandas as pd

from heedful.drawing import COLOURS, new_figure
from heedful.papers.names import model_label
from heedful.study.pooling import KEYS
from heedful.trials.groups import weight_bins

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUARTERS = ("0–¼", "¼–½", "½–¾", "¾–1")  # of the largest weight
LARGEST = "largest weight of the text"


def panels(
    table: pd.DataFrame, height: float, *, above: float = 0.7, narrow: bool = False, **shared: Any
) -> "tuple[Figure, list[tuple[Any, pd.DataFrame]]]":
    """A figure with a titled panel for each corpus and model of a table: axis and rows; none, no panels.

    `height` is of one row of panels and `above` what the figure has besides, in inches. A `narrow` figure is
    half as wide if it has one panel.
    """
    cells = list(table.groupby(KEYS, sort=False))
    figure = new_figure(width_of(len(cells)) if narrow else 6.4, above + height * rows_of(len(cells)))
    axes = grid_of(figure, len(cells), **shared) if cells else []
    for axis, ((corpus, model), _) in zip(axes, cells, strict=True):
        axis.set_title(f"{corpus}, {model_label(model)}")
    return figure, [(axis, rows) for axis, (_, rows) in zip(axes, cells, strict=True)]


def width_of(count: int) -> float:
    """How wide a figure of so many panels is that is narrow with one."""
    return 2.6 + 2.1 * min(count, 2)


def rows_of(count: int) -> int:
    """How many rows of two so many panels make."""
    return -(-count // 2)


def grid_of(figure: "Figure", count: int, **shared: Any) -> list[Any]:
    """So many panels, two a row; none is left empty."""
    axes = list(figure.subplots(rows_of(count), min(count, 2), squeeze=False, **shared).flat)
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


def label_outer(axes: Sequence[Any]) -> None:
    """Leave labels of shared axes at the edges, and numbers below every panel."""
    for axis in axes:
        axis.label_outer()
        axis.tick_params(labelbottom=True)


def class_colours(table: pd.DataFrame) -> dict[str, str]:
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


def by_quarter(
    axis: Any, rows: pd.DataFrame, column: str, classes: Sequence[str], *, fewest: int
) -> Iterator[tuple[int, float, float, pd.Series]]:
    """A column by quarter of the largest weight, classes side by side: number, place, width and values.

    Groups of fewer texts than `fewest` are left out.
    """
    quarters, width = weight_bins(rows["largest"]), 0.8 / len(classes)
    for number, name in enumerate(classes):
        decided = (rows["decided_class"] == name).to_numpy()
        for quarter in range(len(QUARTERS)):
            own = rows[column][(quarters == quarter) & decided]
            if len(own) >= fewest:
                yield number, quarter + width * (number - (len(classes) - 1) / 2), width, own
    axis.set_xticks(range(len(QUARTERS)), QUARTERS)
    axis.set_xlim(-0.6, len(QUARTERS) - 0.4)


def draw_boxes(axis: Any, rows: pd.DataFrame, column: str, colours: dict[str, str]) -> None:
    """Boxes of a column by quarter of the largest weight, side by side for the decided classes.

    A box is from quartile to quartile, its whiskers from 5 to 95 %; of fewer than five texts none is drawn.
    """
    classes = [name for name in colours if name in set(rows["decided_class"])]
    for number, place, width, own in by_quarter(axis, rows, column, classes, fewest=5):
        colour = colours[classes[number]]
        axis.boxplot(
            own,
            positions=[place],
            widths=0.85 * width,
            patch_artist=True,
            showfliers=False,
            whis=(5, 95),
            manage_ticks=False,
            boxprops={"facecolor": colour, "alpha": 0.5, "edgecolor": colour},
            medianprops={"color": "black"},
            whiskerprops={"color": colour},
            capprops={"color": colour},
        )
