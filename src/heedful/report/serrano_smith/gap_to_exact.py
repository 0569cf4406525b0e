"""How many times as many items a ranking needs as the smallest set has, by architecture: not in the paper."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.serrano_smith.layout import corpus_label, model_label
from heedful.report.style import RANKINGS, YELLOW, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

SHOWN = {
    "random": ("random", RANKINGS["random"], "s"),
    "attention": ("attention", RANKINGS["attention"], "o"),
    "gradient": ("gradient", RANKINGS["gradient"], "^"),
    "product": ("attention × gradient", RANKINGS["attention × gradient"], "D"),
    "contribution": ("contribution", YELLOW, "v"),
}

TICKS = (1, 2, 5, 10, 20, 50, 100)


def optimality(tables: "Mapping[str, DataFrame]") -> "Figure":
    """The mean optimality gap of each ranking with its 95 % interval, on a logarithmic axis; 1 is optimal."""
    findings = tables["findings"]
    gaps = findings[findings["name"] == "optimality gap"]
    models, corpora = list(gaps["model"].unique()), list(gaps["corpus"].unique())
    figure = new_figure(max(6.0, 2.6 * len(corpora) + 1.0), 0.42 * len(models) + 1.5)
    axes = figure.subplots(1, len(corpora), squeeze=False, sharex=True, sharey=True)[0]
    for axis, corpus in zip(axes, corpora, strict=True):
        for ranking, (label, colour, marker) in SHOWN.items():
            rows = gaps[(gaps["corpus"] == corpus) & (gaps["ranking"] == ranking)]
            axis.errorbar(
                rows["value"],
                [models.index(model) for model in rows["model"]],
                xerr=[rows["value"] - rows["low"], rows["high"] - rows["value"]],
                linestyle="none",
                marker=marker,
                markersize=4.5,
                color=colour,
                label=label,
            )
        axis.set_xscale("log")
        axis.axvline(1, color="black", linewidth=0.8)
        axis.set_title(corpus_label(corpus), fontsize=9)
        axis.set_yticks(range(len(models)), [model_label(model) for model in models])
        axis.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
        axis.minorticks_off()
    most = max(2.0, float(gaps["high"].max()))
    axes[0].set_xlim(0.9, 1.15 * most)
    axes[0].set_ylim(len(models) - 0.5, -0.5)
    figure.supxlabel("items needed ÷ items of the smallest set (mean; 1 is optimal)", fontsize=9)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=5, fontsize=7.5)
    return figure
