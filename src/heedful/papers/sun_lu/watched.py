"""One's own watched run as a picture: scores, flow terms and VᵀW over training, as in Sun & Lu's figures."""

from typing import TYPE_CHECKING

from heedful.drawing import BLACK, new_figure
from heedful.errors import UserError
from heedful.papers.sun_lu.courses import AXES, PANEL, STYLES, colours, types_in_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
        _draw(axes, rows[rows["quantity"] == name], name)
    for axes in list(grid.flat)[len(shown) :]:
        axes.set_visible(False)
    for axes in list(grid.flat)[max(0, len(shown) - COLUMNS) : len(shown)]:
        axes.set_xlabel("training step")
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(5, max(1, len(labels))))
    return figure


def _draw(axes: "Axes", rows: "DataFrame", name: str) -> None:
    groups = rows["group"].fillna("")
    paint = colours(set(groups))
    for place, group in enumerate(types_in_order(set(groups))):
        own = rows[groups == group].sort_values("step")
        colour = paint.get(group, BLACK) if name != "alignment" else BLACK
        style = STYLES[place % len(STYLES)]
        axes.plot(own["step"], own["mean"], color=colour, linestyle=style, label=group)
        if own["low"].notna().all():
            axes.fill_between(own["step"], own["low"], own["high"], color=colour, alpha=0.12, linewidth=0)
    axes.axhline(0, color=BLACK, linewidth=0.6, zorder=0)
    axes.set_title("VᵀW" if name == "alignment" else AXES.get(name, f"mean term {name}"))
