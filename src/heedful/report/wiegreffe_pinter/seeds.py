"""Wiegreffe & Pinter (2019), 3.2: how far the attention of seeds is apart, by largest weight and class."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from heedful.report.jain_wallace.naming import grid_of, named
from heedful.report.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, empty_figure, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

BINS = (0.0, 0.25, 0.5, 0.75, 1.0)
LABELS = ("0–¼", "¼–½", "½–¾", "¾–1")
FEWEST = 10  # texts of which a violin is drawn


def seeds_figure(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Violins of the mean divergence between seeds; lines show shuffled weights and the adversary.

    "≥" at the adversary's line says that it was climbed for: its divergence is a lower bound.
    """
    table = tables["seeds"].dropna(subset=["divergence"])
    cells = list(table.groupby(["corpus", "model"], sort=False))
    if not cells:
        return empty_figure("No text has two words or more, so seeds cannot differ.")
    figure = new_figure(6.4, 1.2 + 2.1 * -(-len(cells) // 2))
    for axis, ((corpus, model), rows) in zip(grid_of(figure, len(cells), sharey=True), cells, strict=True):
        _draw(axis, rows)
        axis.set_title(f"{corpus}, {named(model)}, {int(rows['runs'].iloc[0])} seeds")
        axis.set_xlabel("largest weight of the text (first seed)")
        axis.set_ylabel("JSD between seeds, nats")
        axis.set_ylim(0, 0.72)
        axis.label_outer()
        axis.tick_params(labelbottom=True)
    # Corpora have classes of their own, so every panel may have something to add.
    entries: dict[str, Any] = {}
    for axis in figure.axes:
        handles, labels = axis.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    lines = {label: handle for label, handle in entries.items() if not label.startswith("decided")}
    entries = {**{label: handle for label, handle in entries.items() if label not in lines}, **lines}
    columns = 2 if len(entries) <= 4 else 3
    figure.legend(entries.values(), entries.keys(), loc="outside upper center", ncols=columns)
    return figure


def _draw(axis, rows: "DataFrame") -> None:  # type: ignore[no-untyped-def]
    bins = np.clip(np.digitize(rows["largest"], BINS) - 1, 0, len(LABELS) - 1)
    classes = list(dict.fromkeys(rows.sort_values("decided")["decided_class"]))
    width = 0.8 / len(classes)
    for number, name in enumerate(classes):
        colour = (BLUE, ORANGE, GREEN, GREY)[number % 4]
        chosen = (rows["decided_class"] == name).to_numpy()
        for place in range(len(LABELS)):
            own = rows["divergence"][(bins == place) & chosen]
            if len(own) < FEWEST:
                continue
            at = place + width * (number - (len(classes) - 1) / 2)
            parts = axis.violinplot(
                own, positions=[at], widths=0.9 * width, showmedians=True, showextrema=False
            )
            for body in parts["bodies"]:
                body.set_facecolor(colour)
                body.set_alpha(0.6)
            parts["cmedians"].set_color(BLACK)
        axis.plot([], [], "s", color=colour, alpha=0.6, label=f"decided: {name}")
    shuffled, adversary = rows["shuffled_divergence"].mean(), rows["adversary_divergence"].mean()
    axis.axhline(shuffled, color=PURPLE, linestyle="--", linewidth=1, label="shuffled weights, mean")
    axis.axhline(adversary, color=BLACK, linestyle=":", linewidth=1, label="post-hoc adversary, mean")
    axis.set_xticks(range(len(LABELS)), LABELS)
    axis.set_xlim(-0.6, len(LABELS) - 0.4)
    if (rows["adversary_kind"].dropna() != "exact").any():
        axis.text(
            len(LABELS) - 0.45, adversary + 0.01, "≥ (lower bound)", ha="right", va="bottom", fontsize=7
        )
