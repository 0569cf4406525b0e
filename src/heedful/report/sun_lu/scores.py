"""Scores of words by type: a dot a word, and a box from quartile to quartile with the median (main Figs. 2 to
4, supplement Figs. 13 to 28)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from heedful.report.style import BLACK, new_figure
from heedful.report.sun_lu.words import colours, settings, short, types_in_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

AXES = {"polarity": "polarity score s", "attention": "attention score a"}
DOTS = 1500  # words of a type that are drawn at most: more would be one blot; boxes are of all
PANEL = 2.7, 2.7  # inches, for up to three types
WIDER = 3.5  # inches, for more


def draw_scores(tables: "Mapping[str, DataFrame]") -> "Figure":
    """A panel for each setting and score; of several seeds, the words of the first."""
    panels = [
        (title, column, words[["type", column]].dropna())
        for title, part in settings(tables["words"])
        for words in [part[part["seed"] == part["seed"].min()]]
        for column in words
        if (column.startswith("polarity") or column == "attention") and words[column].notna().any()
    ]
    return draw_panels(panels)


def draw_panels(panels: "list[tuple[str, str, DataFrame]]") -> "Figure":
    """Panels of (title, column, words): settings beside each other, their scores below each other if even."""
    titles = list(dict.fromkeys(title for title, _, _ in panels))
    even = len(panels) % len(titles) == 0 and len(titles) > 1
    columns = len(titles) if even else len(panels)
    rows = len(panels) // columns
    most = max(words["type"].nunique() for _, _, words in panels)
    width = PANEL[0] if most <= 3 else WIDER
    figure = new_figure(max(columns * width, 3.6), rows * PANEL[1])
    for place, (title, column, words) in enumerate(panels):
        at = (place % rows) * columns + place // rows if even else place
        axes = figure.add_subplot(rows, columns, at + 1)
        draw_types(axes, words["type"].to_numpy(), words[column].to_numpy())
        axes.set_title(title)
        axes.set_ylabel(label_of(column))
    return figure


def label_of(column: str) -> str:
    """What the axis of a score says."""
    kind, _, name = column.partition(" ")
    return AXES[kind] + (f" for {short(name)}" if name else "")


def draw_types(axes: "Axes", types: Any, values: Any) -> None:
    """A strip of dots and a box for each type."""
    order, paint = types_in_order(types), colours(types)
    draw = np.random.default_rng(0)
    for place, kind in enumerate(order):
        own = values[types == kind]
        dots = draw.choice(own, min(DOTS, len(own)), replace=False)
        across = place + draw.uniform(-0.32, 0.32, len(dots))
        # Thousands of dots would make an SVG of megabytes: they go in as one picture.
        axes.scatter(across, dots, s=3, color=paint[kind], alpha=0.35, linewidths=0, rasterized=True)
        low, middle, high = np.quantile(own, [0.25, 0.5, 0.75])
        axes.add_patch(_box(place, low, high))
        axes.plot([place - 0.36, place + 0.36], [middle, middle], color=BLACK, linewidth=1.6)
    axes.axhline(0, color=BLACK, linewidth=0.6, zorder=0)
    axes.set_xlim(-0.6, len(order) - 0.4)
    counts = [f"{short(kind)}\n{(types == kind).sum():,}" for kind in order]
    axes.set_xticks(range(len(order)), counts)
    axes.grid(axis="x", visible=False)


def _box(place: float, low: float, high: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((place - 0.36, low), 0.72, high - low, fill=False, edgecolor=BLACK, linewidth=1.1)
