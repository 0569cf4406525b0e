"""Table 3: how well the six architectures classify, with the paper's numbers on its larger corpora beside."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from heedful.data.corpus import Corpus
from heedful.papers.serrano_smith.over_models import paper
from heedful.papers.serrano_smith.rows import MODELS, measured
from heedful.records import wilson_interval
from heedful.study.experiment import Experiment, Tables
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from heedful.training import Run

# Table 3, in the order of MODELS. Ours are other texts, and far fewer of them.
THEIRS = {
    "yahoo": (74.6, 75.5, 72.8, 73.1, 73.1, 72.3),
    "imdb-ratings": (50.3, 49.1, 48.9, 48.2, 46.1, 45.4),
    "amazon": (56.9, 56.6, 55.3, 54.4, 51.2, 50.2),
    "yelp": (63.0, 62.3, 61.0, 60.7, 58.6, 58.2),
}


def accuracy(run: "Run", corpus: Corpus) -> pd.DataFrame:
    """A measure: what a training reached on the test split, and what the most frequent class would."""
    test = corpus.split("test")
    share = float(np.bincount(test.labels).max() / len(test))
    known = ("test_accuracy", "dev_accuracy", "epoch", "epochs", "seconds")
    row = {name: run.result[name] for name in known}
    return pd.DataFrame(
        [{**row, "texts": len(test), "classes": len(corpus.label_names), "most_frequent": share}]
    )


def measure(bench: Bench) -> Tables:
    """Percent of the test texts, with Wilson's interval."""
    found = []
    for row in measured(bench, Measure(accuracy)).to_dict("records"):
        hits = round(row["test_accuracy"] * row["texts"])
        ends = wilson_interval(hits, row["texts"])
        theirs = dict(zip(MODELS, THEIRS.get(row["corpus"].removesuffix("-sample"), ()), strict=False))
        found.append(
            {
                "corpus": row["corpus"],
                "model": row["model"],
                "seed": row["seed"],
                "accuracy_%": round(100 * row["test_accuracy"], 1),
                "low_%": round(100 * ends.low, 1),
                "high_%": round(100 * ends.high, 1),
                "texts": row["texts"],
                "classes": row["classes"],
                "most_frequent_%": round(100 * row["most_frequent"], 1),
                "epoch": f"{row['epoch']} of {row['epochs']}",
                "paper_%": theirs.get(row["model"], np.nan),
            }
        )
    return {"summary": pd.DataFrame(found)}


EXPERIMENT = Experiment(
    "serrano-smith-table3",
    "Test accuracy of the six architectures",
    paper("Table 3"),
    measure,
)
