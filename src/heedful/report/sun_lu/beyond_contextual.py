"""Scores of words by type over a contextual encoder, and without it (`sun-lu-contextual`)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.sun_lu.scores import draw_panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


def draw_contextual(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Polarity and attention, a column a model; of several seeds, the words of the first."""
    words = tables["words"]
    words = words[words["seed"] == words["seed"].min()]
    return draw_panels(
        [
            (f"SST, {model}, λ = 10", column, own)
            for model, own in words.groupby("model", sort=False)
            for column in ("polarity", "attention")
        ]
    )
