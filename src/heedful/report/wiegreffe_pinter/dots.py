"""One score a seed as dots on a line, with the mean and its interval over seeds and texts."""

from typing import TYPE_CHECKING, Any

import numpy as np

from heedful.records.crossed import crossed_interval

if TYPE_CHECKING:
    from pandas import DataFrame


def draw_dots(
    axis: Any, rows: "DataFrame", y: float, *, colour: str, errors: "DataFrame | None", kind: str
) -> None:
    """The macro F1 of runs of one corpus and model: seeds as small dots at height y, their mean as a large.

    `errors` is the experiment's table of errors over texts, and `kind` what the runs are called there.
    """
    rows = rows[np.isfinite(rows["macro_f1"].astype(float))]
    if not len(rows):
        return
    runs = rows["macro_f1"].to_numpy(float)
    count = int(rows["texts"].iloc[0])
    error = _error(errors, rows, kind)
    ends = crossed_interval(runs, count=count, error=error, alone=True, within=(0, 1))
    if ends.bounded:
        axis.plot([ends.low, ends.high], [y, y], color=colour, linewidth=2, alpha=0.6)
    if len(runs) > 1:
        axis.plot(runs, np.full(len(runs), y), ".", color=colour, alpha=0.6, markersize=4)
    axis.plot(runs.mean(), y, "o", color=colour, markersize=6)


def _error(errors: "DataFrame | None", rows: "DataFrame", kind: str) -> float | None:
    if errors is None:
        return None
    wanted = {**rows[["corpus", "model"]].iloc[0], "kind": kind, "than": "", "measure": "macro_f1"}
    own = errors[(errors[list(wanted)] == list(wanted.values())).all(axis=1)]
    return float(own["error"].iloc[0]) if len(own) else None
