"""Rows of five texts as Serrano & Smith's experiments measure them, which a person can check."""

import numpy as np

from heedful.trials.erasure.single import SingleErasures
from heedful.trials.erasure.until_flip import Erasures

NAMES = ("attention", "gradient", "product")


def make_rows(model="flan-conv", corpus="amazon", **sizes):
    """Five texts of 10, 10, 20, 1 and 10 items; sizes at the first flip by ranking, −1 for never."""
    items = np.array([10, 10, 20, 1, 10])
    usual = {
        "attention": [4, 9, 20, 1, -1],
        "gradient": [2, 3, 10, 1, -1],
        "product": [1, 3, 5, 1, -1],
        "random": [[5, 7], [10, 10], [-1, 20], [1, 1], [-1, -1]],
    }
    chosen = {name: np.array(value).reshape(5, -1) for name, value in (usual | sizes).items()}
    erasures = Erasures(
        instance=np.arange(5),
        items=items,
        decided=np.zeros(5, dtype=int),
        sizes=chosen,
        masses={name: np.where(value < 0, np.nan, value / items[:, None]) for name, value in chosen.items()},
        smallest=np.array([1, 2, 5, 1, -1]),
        to_class=np.array([1, 1, 1, 1, -1]),
    )
    frame = erasures.to_frame()
    for name in NAMES:
        weight = np.array([0.95, 0.42, 0.17, 1.0, 0.34])
        single = SingleErasures(
            instance=np.arange(5),
            items=items,
            top=np.zeros(5, dtype=int),
            other=np.array([1, 1, 1, -1, 1]),
            top_weight=weight,
            other_weight=np.array([0.02, 0.04, 0.05, np.nan, 0.01]),
            top_js=np.array([0.3, 0.02, 0.01, 0.2, 0.07]),
            other_js=np.array([0.0, 0.01, 0.03, np.nan, 0.01]),
            top_flips=np.array([True, name == "product", False, False, True]),
            other_flips=np.array([False, False, True, False, True]),
        ).to_frame()
        frame = frame.join(single.drop(columns=["instance", "items"]).add_prefix(f"single_{name}_"))
    return frame.assign(corpus=corpus, model=model, seed=0)
