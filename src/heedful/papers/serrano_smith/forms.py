"""The paper's forms of figure by themselves, for the rows of any model: `heedful erase` draws them."""

import pandas as pd

from heedful.papers.serrano_smith.flips import contingency, flips
from heedful.papers.serrano_smith.js_gap import bins, js_against_weight, negatives_by_weight, points
from heedful.papers.serrano_smith.removed import Quantity, boxes, fractions, masses
from heedful.study.experiment import Draw, Tables

FORMS: dict[str, Draw] = {
    "flips": contingency,
    "js": js_against_weight,
    "negatives": negatives_by_weight,
    "fractions": fractions,
    "masses": masses,
}

FORMS_OF_BOXES: dict[str, Quantity] = {"fractions": "fraction", "masses": "mass"}


def form_tables(frame: pd.DataFrame, *, corpus: str, model: str) -> dict[str, Tables]:
    """The tables of the paper's forms of figure for one model, by form, from the rows of a layer trial.

    A form that has nothing to show is left out: single-item forms where no text has two items or attention
    was not tried, boxes where no decision ever flips.
    """
    rows = frame.assign(corpus=corpus, model=model, seed=0)
    found: dict[str, Tables] = {}
    if "single_attention_top" in rows and (rows["items"] > 1).any():
        found["flips"] = {"flips": flips(rows)}
        found["js"] = {"points": points(rows), "bins": bins(rows)}
        found["negatives"] = {"bins": bins(rows)}
    for form, quantity in FORMS_OF_BOXES.items():
        drawn = boxes(rows, quantity)
        if not drawn.empty:
            found[form] = {"boxes": drawn}
    return found
