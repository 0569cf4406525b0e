"""Rows of an audit made by hand. Sums of powers of two are exact, so their intervals have no width."""

import numpy as np
import pandas as pd

from heedful.auditing.rule import Thresholds, judge

STEP = 2**-10  # just below and just above a threshold
CLASSES = ("bad", "good")
LIMITS = Thresholds(
    skill=0.625, paint=0.75, first=0.8125, class_skill=0.375, class_paint=0.5, class_first=0.5625,
    class_texts=8, wrong_skill=0.25, wrong_paint=0.40625, wrong_first=0.4375,
    right_paint=0.84375, right_first=0.875, chance=0.0625, against=0.53125,
    linear=0.1875, texts=32, moved=0.25, limit=0.78125,
    room=0.125, default_lost=0.125, default_texts=0.25, default_nothing=0.5, default_alone=0.75,
)  # fmt: skip


def rows_of(count=64, *, classes=2, maps=("attention",), **columns):
    """A map that predicts everything, of a model whose words do everything; columns change that."""
    found = {
        "instance": np.arange(count),
        "decided": np.arange(count) % classes,
        "words": 5,
        "reads": 40,
        "size": 1.0,
        "blank": 0.0,
        "blank_signed": 0.0,
        "limit": 1.0,
        "variance": 0.25,
        "explained": 0.25,
        "lost": 0.5,
        "alone": 0.25,
        "nothing": 0.25,
        "cluster": np.arange(count),
        "weight": 1.0,
    }
    for name in maps:
        found |= {f"{kind}_{name}": 1.0 for kind in ("told", "signed", "paint", "first")}
        found[f"against_{name}"] = 0.0
    return pd.DataFrame({**found, **columns}, index=range(count))


def of_map(name="attention", **numbers):
    """told=0.5 as told_attention=0.5."""
    return {f"{kind}_{name}": value for kind, value in numbers.items()}


def read(rows, *, limits=LIMITS, classes=CLASSES, shown="attention", **more):
    return judge(rows, shown, classes, thresholds=limits, **more)
