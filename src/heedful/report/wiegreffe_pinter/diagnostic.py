"""Wiegreffe & Pinter (2019), 3.3: the worth of each kind of weights as a guide, as a ladder of F1."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.jain_wallace.naming import grid_of, named
from heedful.report.style import BLUE, GREEN, GREY, ORANGE, PURPLE, new_figure
from heedful.report.wiegreffe_pinter.dots import draw_dots

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

GUIDES = {
    "uniform": GREY,
    "learnt": GREEN,
    "trained model": BLUE,
    "adversary, trained": ORANGE,
    "adversary, exact": PURPLE,
}


def diagnostic_figure(tables: "Mapping[str, DataFrame]") -> "Figure":
    """The diagnostic's macro F1 under each guide: a dot a seed, and the mean's interval.

    The exact adversary is a guide for two classes alone; it has no rung where no corpus has two.
    """
    guides = {guide: colour for guide, colour in GUIDES.items() if guide in set(tables["ladder"]["guide"])}
    cells = list(tables["ladder"].groupby(["corpus", "model"], sort=False))
    figure = new_figure(2.6 + 2.1 * min(len(cells), 2), 0.6 + 1.6 * -(-len(cells) // 2))
    for axis, ((corpus, model), rows) in zip(grid_of(figure, len(cells), sharey=True), cells, strict=True):
        for place, (guide, colour) in enumerate(guides.items()):
            runs = rows[rows["guide"] == guide]
            draw_dots(axis, runs, place, colour=colour, errors=tables.get("errors"), kind=guide)
        axis.set_yticks(range(len(guides)), list(guides))
        axis.set_ylim(len(guides) - 0.5, -0.5)
        axis.set_title(f"{corpus}, weights of {named(model)}")
        axis.set_xlabel("macro F1 of the diagnostic, test split")
        axis.label_outer()
        axis.tick_params(labelbottom=True)
    return figure
