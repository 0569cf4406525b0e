"""The ground on which a debate is held: corpora, models, seeds and settings, the papers' or a user's own.

The experiments of both papers and `heedful debate` measure the same things; they differ only in this.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heedful.study.grid import Study
from heedful.study.workbench import Bench

CORPORA = ("sst", "imdb", "20news-1", "agnews")
ENCODERS, SCORES = ("average", "cnn", "bilstm"), ("tanh", "dot")
MODELS = tuple(f"jain-wallace-{encoder}-{score}" for encoder in ENCODERS for score in SCORES)
MAIN = "jain-wallace-bilstm-tanh"  # the model that both papers argue about
UNIFORM_CONTROL: dict[str, Any] = {"control": "uniform", "penalty": 0.0}  # nothing learnt, no VᵀW to hold
LIMIT = 500  # test texts of each cell, where words are left out one by one
QUICK_LIMIT = 200
SMALL: dict[str, Any] = {"epochs": 4, "embedding": 48, "hidden": 32, "batch": 64, "rate": 0.003}
# The papers' attention follows the width of the states: tanh has a layer of H/2, dot is divided by √H, which
# is what no scale stands for. A preset names both for its own H, so they must shrink with it.
QUICK_SETTINGS: dict[str, Any] = {**SMALL, "attention_width": SMALL["hidden"] // 2, "scale": None}


@dataclass(frozen=True)
class Ground:
    """What is trained; `limit` is how many test texts the trials take of each cell, None for all."""

    corpora: tuple[str, ...]
    models: tuple[str, ...]
    seeds: tuple[int, ...] = (0,)
    settings: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    base: Path = Path()
    limit: int | None = None

    def study(self, name: str, *, seeds: tuple[int, ...] | None = None, **changes: Any) -> Study:
        """Its trainings as a study, with these seeds, and settings changed."""
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
    """What makes a model small; one that is not the papers' keeps its own width and scale of attention."""
    return dict(QUICK_SETTINGS if model in MODELS else SMALL)


def main_model(models: Iterable[str]) -> str:
    """The model that claims are about: the papers' own, else another that is recurrent, else the last."""
    there = list(dict.fromkeys(models))
    recurrent = [name for name in there if "bilstm" in name]
    return MAIN if MAIN in there else (recurrent or there)[-1]


def paper_ground(bench: Bench, *, models: tuple[str, ...] = MODELS, seeds: int = 3) -> Ground:
    """The papers' ground as far as the user asked for it; quick, one corpus and two small encoders.

    `models` are those taken where the user names none; he may name any of the six.
    """
    small = tuple(name for name in models if name.endswith("tanh") and "cnn" not in name)
    return Ground(
        bench.chosen("corpora", CORPORA) if bench.corpora else CORPORA[:1] if bench.quick else CORPORA,
        bench.chosen("models", MODELS) if bench.models else small if bench.quick else models,
        bench.chosen("seeds", range(min(seeds, 3) if bench.quick else seeds)),
        settings=dict(QUICK_SETTINGS) if bench.quick else {},
        limit=QUICK_LIMIT if bench.quick else LIMIT,
    )
