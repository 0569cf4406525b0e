"""One number a seed as dots on a line, with the mean and its interval over seeds."""

from typing import TYPE_CHECKING, Any

import numpy as np

from heedful.records import seeds_interval

if TYPE_CHECKING:
    from pandas import Series


def draw_dots(axis: Any, values: "Series", y: float, *, colour: str) -> None:
    """Seeds as small dots at height y, their mean as a large one, Student's t interval as a line."""
    runs = np.asarray(values, dtype=float)
    runs = runs[np.isfinite(runs)]
    if not len(runs):
        return
    if len(runs) > 1:
        ends = seeds_interval(runs)
        axis.plot([max(ends.low, 0), min(ends.high, 1)], [y, y], color=colour, linewidth=2, alpha=0.6)
        axis.plot(runs, np.full(len(runs), y), ".", color=colour, alpha=0.6, markersize=4)
    axis.plot(runs.mean(), y, "o", color=colour, markersize=6)
