"""Scores under a penalty on VᵀW, and both kinds of scores of an LSTM (supplement Fig. 13)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.sun_lu.scores import draw_panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


def draw_penalty(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Attention scores, a panel a strength of the penalty."""
    words = tables["words"]
    words = words[words["seed"] == words["seed"].min()]
    return draw_panels(
        [
            ("no penalty" if penalty == 0 else f"penalty {penalty:g} × |VᵀW|", "attention", own)
            for penalty, own in words.groupby("penalty")
        ]
    )


def draw_local_and_global(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Attention averaged over occurrences, and of each word fed alone; a pair for each strength of L2."""
    words = tables["words"]
    words = words[words["seed"] == words["seed"].min()]
    return draw_panels(
        [
            (f"{kind}, L2 {strength:g}", "attention", own)
            for (strength, kind), own in words.groupby(["l2_encoder", "kind"], sort=False)
        ]
    )
