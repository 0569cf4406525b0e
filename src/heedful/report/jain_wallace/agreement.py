"""Jain & Wallace (2019), section 4.1: how far attention agrees with gradients and with leave-one-out."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from heedful.records.crossed_means import crossed_mean
from heedful.report.jain_wallace.naming import class_colours, class_legend, grid_of, label_edges, named
from heedful.report.style import BLACK, BLUE, GREEN, GREY, ORANGE, empty_figure, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

PAIRS = {
    ("attention", "gradient"): BLUE,
    ("attention", "leave-one-out"): ORANGE,
    ("gradient", "leave-one-out"): GREEN,
}
RANDOM: dict[str, Any] = {"histtype": "step", "color": BLACK, "linestyle": ":"}


def agreement_figure(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Mean τ-b of each pair of scores with its 95 % interval, model by model, a panel a corpus."""
    table = tables["agreement"]
    corpora = list(dict.fromkeys(table["corpus"]))
    models = list(dict.fromkeys(table["model"]))
    figure = new_figure(2.6 + 2.1 * min(len(corpora), 2), 1.5 + 0.55 * len(models) * -(-len(corpora) // 2))
    axes = grid_of(figure, len(corpora), sharex=True, sharey=True)
    for axis, corpus in zip(axes, corpora, strict=True):
        for place, model in enumerate(models):
            own = table[(table["corpus"] == corpus) & (table["model"] == model)]
            for step, ((first, second), colour) in enumerate(PAIRS.items()):
                rows = own[(own["first"] == first) & (own["second"] == second)]
                rows = rows.dropna(subset=["tau"])
                if not len(rows):
                    continue
                mean = crossed_mean(rows["tau"], seeds=rows["seed"], texts=rows["instance"], alone=True)
                y = place + 0.22 * (step - 1)
                if mean.interval is not None and mean.interval.bounded:
                    axis.plot([mean.interval.low, mean.interval.high], [y, y], color=colour)
                axis.plot(mean.value, y, "os^"[step], color=colour, markersize=5)
        axis.axvline(0, color=GREY, linewidth=0.8)
        axis.set_title(f"{corpus}, {table[table['corpus'] == corpus]['instance'].nunique()} texts")
        axis.set_yticks(range(len(models)), [named(model) for model in models])
        axis.set_ylim(len(models) - 0.5, -0.5)
        axis.set_xlabel("mean Kendall's τ-b (0: a random ranking)")
    label_edges(axes)
    handles = [
        figure.axes[0].plot([], [], "os^"[step], color=colour, label=f"{first} and {second}")[0]
        for step, ((first, second), colour) in enumerate(PAIRS.items())
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=1 if len(corpora) == 1 else 3)
    return figure


def taus_figure(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Histograms of τ between attention and gradients by decided class, beside a random ranking's."""
    table = tables["agreement"]
    table = table[(table["first"] == "attention") & (table["second"] == "gradient")].dropna(subset=["tau"])
    cells = list(table.groupby(["corpus", "model"], sort=False))
    if not cells:
        return empty_figure("No text has a rank correlation: constant scores, or a single item each.")
    colours = class_colours(table)
    figure = new_figure(6.4, 0.7 + 1.7 * -(-len(cells) // 2))
    bins = np.linspace(-1, 1, 41)
    for axis, ((corpus, model), rows) in zip(
        grid_of(figure, len(cells), sharex=True, sharey=True), cells, strict=True
    ):
        classes = [name for name in colours if name in set(rows["decided_class"])]
        # Filled areas of more than two classes hide each other.
        drawn: dict[str, Any] = (
            {"alpha": 0.45} if len(classes) <= 2 else {"histtype": "step", "linewidth": 1.2}
        )
        for name in classes:
            own = rows.loc[rows["decided_class"] == name, "tau"]
            axis.hist(own, bins, density=True, color=colours[name], **drawn)
        random = axis.hist(rows["random_tau"].dropna(), bins, density=True, **RANDOM, label="random ranking")[
            2
        ]
        axis.set_title(f"{corpus}, {named(model)}")
        axis.set_xlabel("τ-b of attention and gradient, text by text")
        axis.set_ylabel("density")
    label_edges(figure.axes)
    class_legend(figure, colours, random[0])
    return figure
