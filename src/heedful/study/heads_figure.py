"""The grid of a transformer's layers and heads, drawn: what each predicts, and what its top word does."""

from typing import TYPE_CHECKING

import numpy as np

from heedful.drawing import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

CLEAR = 0.05  # adjusted p-values below this are marked


def draw_heads(frame: "DataFrame", texts: int) -> "Figure":
    """Two grids of `HeadGrid.to_frame()`: layers from below, heads from the left, whole layers at the end."""
    layers, heads = int(frame["layer"].max()), int(frame["head"].max())
    figure = new_figure(1.6 + 0.8 * heads, 1.4 + 0.4 * layers)
    titles = {"skill": "heat-map skill", "erased": "fall of the log-odds\nwithout its first word"}
    for axes, (name, title) in zip(figure.subplots(1, 2), titles.items(), strict=True):
        values, clear = np.full((layers, heads + 1), np.nan), np.zeros((layers, heads + 1), dtype=bool)
        for row in frame.to_dict("records"):
            place = row["layer"] - 1, (row["head"] - 1) % (heads + 1)
            values[place], clear[place] = row[name], row[f"{name}_adjusted"] < CLEAR
        most = max(1e-9, float(np.nanmax(np.abs(values))))
        shown = axes.imshow(values, cmap="PuOr_r", vmin=-most, vmax=most, origin="lower", aspect="auto")
        for layer, column in zip(*np.nonzero(clear), strict=True):
            axes.text(column, layer, "•", ha="center", va="center", color="black")
        axes.grid(visible=False)
        axes.set_xticks(range(heads + 1), [*map(str, range(1, heads + 1)), "all"])
        axes.set_yticks(range(layers), list(map(str, range(1, layers + 1))))
        axes.set_xlabel("head")
        axes.set_ylabel("layer")
        axes.set_title(title)
        figure.colorbar(shown, ax=axes)
    figure.suptitle(f"{texts} texts; • adjusted p < {CLEAR:g} for all cells", fontsize=8)
    return figure
