"""Average attention weights by type as boxes with their outliers (main Fig. 5)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.style import BLACK, TYPES, new_figure
from heedful.report.sun_lu.words import types_in_order

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


def draw_weights(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Left, weights by type; right, neutral words' weights against the length of their texts."""
    words = tables["words"]
    words = words[words["seed"] == words["seed"].min()]
    order = types_in_order(words["type"])
    figure = new_figure(7.2, 3.4)
    left, right = figure.subplots(1, 2, width_ratios=(1.1, 1))
    drawn = left.boxplot(
        [words.loc[words["type"] == kind, "weight"] for kind in order],
        tick_labels=[f"{kind}\n{(words['type'] == kind).sum():,}" for kind in order],
        widths=0.6,
        patch_artist=True,
        medianprops={"color": BLACK},
        flierprops={"marker": "o", "markersize": 3, "markeredgecolor": BLACK, "markeredgewidth": 0.5},
    )
    for box, kind in zip(drawn["boxes"], order, strict=True):
        box.set_facecolor(TYPES[kind])
        box.set_alpha(0.75)
    left.set_ylabel("average attention weight on the test split")
    left.grid(axis="x", visible=False)
    neutral = words[words["type"] == "neutral"]
    for name, own, mark in (
        ("outlier", neutral[neutral["outlier"]], "o"),
        ("other", neutral[~neutral["outlier"]], "."),
    ):
        colour = BLACK if name == "outlier" else TYPES["neutral"]
        face = "none" if name == "outlier" else colour
        right.plot(
            own["text length"],
            own["weight"],
            linestyle="none",
            marker=mark,
            markersize=4,
            color=colour,
            markerfacecolor=face,
            alpha=0.8,
            label=name,
            rasterized=True,
        )
    right.set_xlabel("mean length of the word's texts, words")
    right.set_ylabel("average attention weight")
    right.set_title("neutral words")
    right.legend()
    return figure
