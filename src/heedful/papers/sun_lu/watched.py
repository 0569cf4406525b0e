"""One's own watched run as a picture: scores, flow terms and VᵀW over training, as in Sun & Lu's figures."""

from typing import TYPE_CHECKING

from heedful.drawing import new_figure
from heedful.errors import UserError
from heedful.papers.sun_lu.courses import AXES, PANEL, draw_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

WATCH = "watch"
SHOWN = ("polarity", "attention", "alignment", *"ABCDEF")
COLUMNS = 3


def draw_watched(history: "DataFrame") -> "Figure":
    """A panel for each quantity that the watch recorded; one line for each type of word."""
    rows = history[history["kind"] == WATCH]
    if not len(rows):
        raise UserError("This run was not watched: train it with --watch, and its terms are recorded.")
    shown = [name for name in SHOWN if name in set(rows["quantity"])]
    lines = -(-len(shown) // COLUMNS)
    figure = new_figure(min(len(shown), COLUMNS) * PANEL[0] + 0.4, lines * PANEL[1] + 0.5)
    grid = figure.subplots(lines, min(len(shown), COLUMNS), squeeze=False)
    for axes, name in zip(grid.flat, shown, strict=False):
        own = rows[rows["quantity"] == name]
        draw_lines(axes, own.assign(group=own["group"].fillna("")))
        axes.set_title("VᵀW" if name == "alignment" else AXES.get(name, f"mean term {name}"))
    for axes in list(grid.flat)[len(shown) :]:
        axes.set_visible(False)
    for axes in list(grid.flat)[max(0, len(shown) - COLUMNS) : len(shown)]:
        axes.set_xlabel("training step")
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(5, max(1, len(labels))))
    return figure
