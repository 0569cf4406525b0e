"""Sanity checks: what randomised parameters, permuted labels and harmless noise do to attention."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.records import bootstrap_interval
from heedful.report.jain_wallace.naming import grid_of, named
from heedful.report.style import BLUE, GREEN, ORANGE, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

CHECKS = {"random parameters": ORANGE, "permuted labels": BLUE, "noise": GREEN}


def sanity_figure(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Mean divergence from the run's own attention under each check, with its interval over texts."""
    table = tables["sanity"]
    cells = list(table.groupby(["corpus", "model"], sort=False))
    checks = list(dict.fromkeys(zip(table["check"], table["what"], strict=True)))
    figure = new_figure(3.4 + 1.7 * min(len(cells), 2), 0.9 + 0.28 * len(checks) * -(-len(cells) // 2))
    for axis, ((corpus, model), rows) in zip(grid_of(figure, len(cells), sharey=True), cells, strict=True):
        for place, (check, what) in enumerate(checks):
            own = rows[(rows["check"] == check) & (rows["what"] == what)]
            values = own.groupby("instance")["divergence"].mean().dropna()
            if not len(values):
                continue
            ends = bootstrap_interval(values)
            axis.plot([ends.low, ends.high], [place, place], color=CHECKS[check], linewidth=2)
            axis.plot(values.mean(), place, "o", color=CHECKS[check])
        axis.set_yticks(range(len(checks)), [f"{check}: {what}" for check, what in checks])
        axis.set_ylim(len(checks) - 0.5, -0.5)
        axis.set_xlim(-0.02, 0.72)
        axis.set_title(f"{corpus}, {named(model)}")
        axis.set_xlabel("JSD from the run's attention, nats")
        axis.label_outer()
    return figure
