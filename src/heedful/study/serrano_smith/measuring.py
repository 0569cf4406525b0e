"""What each experiment of the paper measures: tables from the shared rows of trained models."""

import pandas as pd

from heedful.study.experiment import Tables
from heedful.study.serrano_smith import paths
from heedful.study.serrano_smith.cells import MODELS, cells
from heedful.study.serrano_smith.many_items import Quantity, boxes, exact_table, multi_table
from heedful.study.serrano_smith.one_item import bins, flips, points, shares, single_table
from heedful.study.serrano_smith.rows import COORDINATES, RANKINGS, rows_of
from heedful.study.workbench import Bench

FORMS_OF_BOXES: dict[str, Quantity] = {"fractions": "fraction", "masses": "mass"}


def gap_tables(bench: Bench, *, models: tuple[str, ...] = MODELS) -> Tables:
    """ΔJS against Δα: Figs. 3, 4, 7, 8."""
    rows = rows_of(bench, models)
    findings = single_table(rows)
    names = ("positive ΔJS", "negative ΔJS close to 0", "Δα where ΔJS is negative", "mean ΔJS")
    return {
        "summary": _wide(findings, names),
        "points": points(rows),
        "bins": bins(rows),
        "findings": findings,
    }


def flip_tables(bench: Bench, *, models: tuple[str, ...] = MODELS, ranking: str = "attention") -> Tables:
    """The contingency tables of one ranking's top item: Table 2, Figs. 9, 12, 13."""
    rows = rows_of(bench, models)
    counted = flips(rows, ranking)
    findings = single_table(rows, (ranking,))
    return {"summary": shares(counted), "flips": counted, "findings": findings}


def box_tables(bench: Bench, *, models: tuple[str, ...] = MODELS, quantity: Quantity = "fraction") -> Tables:
    """What must go before the first flip: Figs. 5, 6, 10, 11."""
    rows = rows_of(bench, models)
    findings, drawn = multi_table(rows), boxes(rows, quantity)
    shown = [*COORDINATES, "ranking", "instances", "median", "mean", "above_half"]
    excluded = ["excluded_one_item", "excluded_never", "fully_removed"]
    return {"summary": drawn[[*shown, *excluded]].round(3), "boxes": drawn, "findings": findings}


def exact_tables(bench: Bench) -> Tables:
    """The smallest sets, how far each ranking is from them, and the mathematics checked: ours."""
    rows = rows_of(bench)
    found = exact_table(rows, [name for name in RANKINGS if name != "shuffled"])
    checked = bench.measured(cells(bench), paths.MEASURE)
    shown = found[found["name"] != "no short explanation"]
    table = shown.pivot_table(
        index=["name", "corpus", "model"], columns="ranking", values="value", sort=False
    )
    return {"summary": table.reset_index().round(3), "findings": found, "paths": checked}


def form_tables(frame: pd.DataFrame, *, corpus: str, model: str) -> dict[str, dict[str, pd.DataFrame]]:
    """The tables of the paper's forms of figure for one model, by form, from the rows of a layer trial.

    A form that has nothing to show is left out: single-item forms where no text has two items or attention
    was not tried, boxes where no decision ever flips.
    """
    rows = frame.assign(corpus=corpus, model=model, seed=0)
    found: dict[str, dict[str, pd.DataFrame]] = {}
    if "single_attention_top" in rows and (rows["items"] > 1).any():
        found["flips"] = {"flips": flips(rows)}
        found["js"] = {"points": points(rows), "bins": bins(rows)}
        found["negatives"] = {"bins": bins(rows)}
    for form, quantity in FORMS_OF_BOXES.items():
        drawn = boxes(rows, quantity)
        if not drawn.empty:
            found[form] = {"boxes": drawn}
    return found


def _wide(findings: pd.DataFrame, names: tuple[str, ...]) -> pd.DataFrame:
    """One row a model, one column a finding."""
    shown = findings[findings["name"].isin(names)]
    keys = [*COORDINATES]
    table = shown.pivot_table(index=keys, columns="name", values="value", sort=False)
    counted = shown[shown["name"] == names[0]].set_index(keys)["count"]
    return table[[name for name in names if name in table]].round(4).assign(tested=counted).reset_index()
