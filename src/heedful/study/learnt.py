"""Have the models learnt anything? Their accuracies stand before every claim; one that has not decides none.

A model has learnt if the accuracy of its runs, taken as one share of the test texts, is above the share of
the largest class with its whole Wilson interval. (The dev split stands in where there is no test split.)
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from heedful.data.corpus import Corpus
from heedful.records import Claim, wilson_interval
from heedful.records.stored import load_json
from heedful.records.wording import in_percent

TABLE = "models"  # what the table of accuracies is called in an experiment's folder
GROUP = ["corpus", "model", "setting"]


def run_row(result: Path, texts: Corpus, **about: Any) -> dict[str, Any]:
    """One run, of its result file: what it reached, and the share of the largest class of the same texts."""
    reached = load_json(result)
    split = "dev" if reached["test_accuracy"] is None else "test"
    labels = np.asarray(texts.split(split).labels)
    return {
        **about,
        "accuracy": reached[f"{split}_accuracy"],
        "majority": float(np.bincount(labels).max() / len(labels)),
        "texts": len(labels),
    }


def models_table(runs: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """One row per corpus, model and setting: mean accuracy over seeds, majority, seeds, texts, learnt.

    A corpus is called by its file's stem. Where several have one stem, the setting names a file's folder.
    """
    every = pd.DataFrame(list(runs)).drop_duplicates()
    stems = Counter(Path(corpus).stem for corpus in every["corpus"].unique())
    rows = []
    for (corpus, model, setting), own in every.groupby(GROUP, sort=False):
        file = Path(corpus)
        folder = file.parent.name if stems[file.stem] > 1 else ""
        accuracy, majority = float(own["accuracy"].mean()), float(own["majority"].iloc[0])
        texts = int(own["texts"].iloc[0])
        surely = wilson_interval(round(accuracy * texts), texts).low
        rows.append(
            {
                "corpus": file.stem,
                "model": str(model),
                "setting": ", ".join(filter(None, (folder, str(setting)))),
                "accuracy": accuracy,
                "majority": majority,
                "texts": texts,
                "seeds": int(own["seed"].nunique()),
                "learnt": surely > majority,
            }
        )
    return pd.DataFrame(rows)


def judged(claims: Iterable[Claim], models: pd.DataFrame | None) -> Iterator[Claim]:
    """The claims; one about a model that has learnt nothing is undecided, and says why.

    A claim is about the corpus and the model among its effect's coordinates, as far as it has them. It stands
    if any training of those has learnt: claims compare settings, and some are meant to fail.
    """
    for claim in claims:
        own = None if models is None else those_of(claim.effect.coordinates, models)
        if own is None or own.empty or own["learnt"].any():
            yield claim
            continue
        best = own.loc[own["accuracy"].idxmax()]
        why = (
            f"the model has learnt nothing: accuracy {in_percent(best['accuracy'], 1)}, "
            f"largest class {in_percent(best['majority'], 1)}"
        )
        yield replace(claim, outcome="undecided", criterion=f"{claim.criterion}; {why}")


def those_of(about: Mapping[str, Any], models: pd.DataFrame) -> pd.DataFrame:
    """The rows of the corpus and the model that are named; a name that is not there leaves all of them."""
    for key in ("corpus", "model"):
        if about.get(key) in set(models[key]):
            models = models[models[key] == about[key]]
    return models


def models_lines(models: pd.DataFrame) -> list[list[str]]:
    """The table as cells for people: corpus, model, setting, accuracy, largest class, seeds."""
    return [
        [
            *(str(row[name]) for name in GROUP),
            f"{in_percent(row['accuracy'], 1)}" + ("" if row["learnt"] else ", has learnt nothing"),
            f"{in_percent(row['majority'], 1)}",
            str(row["seeds"]),
        ]
        for row in models.to_dict("records")
    ]


COLUMNS = ["corpus", "model", "setting", "accuracy", "largest class", "seeds"]
