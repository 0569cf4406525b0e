"""The models that both experiments look at, each with its paper's usual training."""

from heedful.papers.debate.trainings import MODELS as JAIN_WALLACE
from heedful.papers.sun_lu.trainings import MODELS as SUN_LU
from heedful.study.grid import Study
from heedful.study.workbench import Bench

TWO_CLASSES = ("sst", "20news-1", "imdb")
MORE_CLASSES = ("20news-2", "agnews")
FLAN = ("flan-noenc", "flan-conv", "flan-rnn")
MODELS = (*SUN_LU, *FLAN)
LIMIT = 2000  # test texts of each cell, drawn once
QUICK_LIMIT = 200
QUICK = {"epochs": 4}


def study(bench: Bench, name: str, corpora: tuple[str, ...]) -> Study:
    """The user's choice of them; quick, `dp` on SST for a few epochs."""
    return Study(
        name,
        bench.chosen("corpora", corpora) if bench.corpora or not bench.quick else corpora[:1],
        bench.chosen("models", (*MODELS, *JAIN_WALLACE))
        if bench.models
        else MODELS[: 1 if bench.quick else None],
        bench.chosen("seeds", range(1 if bench.quick else 3)),
        settings=QUICK if bench.quick else {},
        base=bench.folder,
    )


def limit(bench: Bench, most: int = LIMIT) -> int:
    """How many test texts of each cell are tried."""
    return min(QUICK_LIMIT, most) if bench.quick else most
