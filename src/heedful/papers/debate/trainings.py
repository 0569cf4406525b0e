"""The trainings that both papers' tests look at: corpora, models, seeds and settings, theirs or a user's.

The experiments of both papers and `heedful debate` measure the same things; they differ only in these.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from heedful.study.grid import Study
from heedful.study.workbench import Bench
from heedful.training.presets import prepare

CORPORA = ("sst", "imdb", "20news-1", "agnews")
ENCODERS, SCORES = ("average", "cnn", "bilstm"), ("tanh", "dot")
MODELS = tuple(f"jain-wallace-{encoder}-{score}" for encoder in ENCODERS for score in SCORES)
MAIN = "jain-wallace-bilstm-tanh"  # the model that both papers argue about
LIMIT = 500  # test texts of each cell, where words are left out one by one
QUICK_LIMIT = 200
SMALL: dict[str, Any] = {"epochs": 4, "embedding": 48, "hidden": 32, "batch": 64}
QUICK_RATE = 0.003  # of Adam: fewer steps, each three times as long. A rate belongs to its optimiser.
OTHER_EPOCHS = 10  # of other optimisers, at their own rate: Adagrad has hardly begun after four
# The papers' attention follows the width of the states: tanh has a layer of H/2, dot is divided by √H, which
# is what no scale stands for. A preset names both for its own H, so they must shrink with it.
QUICK_SETTINGS: dict[str, Any] = {
    **SMALL,
    "rate": QUICK_RATE,
    "attention_width": SMALL["hidden"] // 2,
    "scale": None,
}


@dataclass(frozen=True)
class Trainings:
    """What is trained; `limit` is how many test texts the tests take of each cell, None for all."""

    corpora: tuple[str, ...]
    models: tuple[str, ...]
    seeds: tuple[int, ...] = (0,)
    settings: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=dict)
    base: Path = Path()
    limit: int | None = None

    def study(self, name: str, *, seeds: tuple[int, ...] | None = None, **changes: Any) -> Study:
        """They as a study, with these seeds, and settings changed."""
        return Study(
            name,
            self.corpora,
            self.models,
            seeds or self.seeds,
            settings={**self.settings, **changes},
            columns=self.columns,
            base=self.base,
        )


def quick_settings(model: str) -> dict[str, Any]:
    """What makes a model small and its training short.

    One that is not the papers' keeps its own width and scale of attention, and one that is not trained by
    Adam its rate.
    """
    if model in MODELS:
        return dict(QUICK_SETTINGS)
    adam = prepare(model)[1].optimiser.startswith("adam")
    return {**SMALL, "rate": QUICK_RATE} if adam else {**SMALL, "epochs": OTHER_EPOCHS}


def main_model(models: Iterable[str]) -> str:
    """The model that claims are about: the papers' own, else another that is recurrent, else the last."""
    there = list(dict.fromkeys(models))
    recurrent = [name for name in there if "bilstm" in name]
    return MAIN if MAIN in there else (recurrent or there)[-1]


def main_cells(table: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """The corpus and model that claims are about, corpus by corpus, with their rows."""
    for corpus, own in table.groupby("corpus", sort=False):
        model = main_model(own["model"])
        yield {"corpus": str(corpus), "model": model}, own[own["model"] == model]


def paper_trainings(bench: Bench, *, models: tuple[str, ...] = MODELS, seeds: int = 3) -> Trainings:
    """The papers' own as far as the user asked for them; quick, one corpus and two small encoders.

    `models` are those taken where the user names none; he may name any of the six.
    """
    small = tuple(name for name in models if name.endswith("tanh") and "cnn" not in name)
    return Trainings(
        bench.chosen("corpora", CORPORA) if bench.corpora else CORPORA[:1] if bench.quick else CORPORA,
        bench.chosen("models", MODELS) if bench.models else small if bench.quick else models,
        bench.chosen("seeds", range(min(seeds, 3) if bench.quick else seeds)),
        settings=dict(QUICK_SETTINGS) if bench.quick else {},
        limit=QUICK_LIMIT if bench.quick else LIMIT,
    )
