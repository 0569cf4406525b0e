"""Scores of runs, one per seed: the table "errors" says how uncertain they are over texts; dots on a line.

Measures hand over what each run decides; of that only errors are kept (`controls.text_errors`), a row for
each kind of weights and each pair that is compared, since decisions would fill a table with all texts of all
runs. Tables without it (of decisions that were not kept) have intervals over seeds alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from heedful.records.crossed import crossed_interval
from heedful.study.controls import error_in, text_errors
from heedful.study.experiment import Tables
from heedful.study.pooling import KEYS, cells

COLUMNS = [*KEYS, "kind", "than", "measure", "error"]


def errors_of(
    table: pd.DataFrame, labels: Mapping[str, ArrayLike], *, pairs: Sequence[tuple[str, str]]
) -> pd.DataFrame:
    """The errors of every cell of a table of runs with `kind` and `decided`, given each corpus's labels."""
    frames = []
    if "decided" in table:
        for where, rows in cells(table.dropna(subset=["decided"])):
            decided = {
                str(kind): np.stack([np.asarray(one) for one in own.sort_values("seed")["decided"]])
                for kind, own in rows.groupby("kind", sort=False)
            }
            both = [pair for pair in pairs if set(pair) <= set(decided)]
            truth = np.asarray(labels[where["corpus"]], dtype=np.int64)
            frames.append(text_errors(decided, truth, both).assign(**where))
    return pd.concat(frames)[COLUMNS].reset_index(drop=True) if frames else pd.DataFrame(columns=COLUMNS)


def of_cell(tables: Tables, where: Mapping[str, str]) -> pd.DataFrame:
    """The errors of one corpus and model; none where the table is missing."""
    errors = tables.get("errors", pd.DataFrame(columns=COLUMNS))
    return errors[(errors["corpus"] == where["corpus"]) & (errors["model"] == where["model"])]


def headed(where: Mapping[str, str]) -> dict[str, str]:
    """The first cells of a line of a summary table: the papers' models without the name they share."""
    return {**where, "model": where["model"].removeprefix("jain-wallace-")}


def draw_dots(axis: Any, rows: pd.DataFrame, y: float, *, colour: str, tables: Tables, kind: str) -> None:
    """The macro F1 of runs of one corpus and model: seeds as small dots at height y, their mean as a large.

    `kind` is what the runs are called in the table of errors.
    """
    rows = rows[np.isfinite(rows["macro_f1"].astype(float))]
    if not len(rows):
        return
    runs = rows["macro_f1"].to_numpy(float)
    error = error_in(of_cell(tables, rows.iloc[0]), kind)
    ends = crossed_interval(runs, count=int(rows["texts"].iloc[0]), error=error, alone=True, within=(0, 1))
    if ends.bounded:
        axis.plot([ends.low, ends.high], [y, y], color=colour, linewidth=2, alpha=0.6)
    if len(runs) > 1:
        axis.plot(runs, np.full(len(runs), y), ".", color=colour, alpha=0.6, markersize=4)
    axis.plot(runs.mean(), y, "o", color=colour, markersize=6)
