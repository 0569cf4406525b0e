"""How fast models train that do not mix words, `dp-a` and `ad`, beside `dp`: compiled, and by autograd.

Each model has its own settings of Sun & Lu. Autograd, which the tests hold the compiled steps to, takes the
same batches. Batches count with their least time each, so that a moment's noise costs one batch of a round.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import torch

from heedful.bench.found import Found, Table
from heedful.bench.preparing import prepared
from heedful.bench.timing import take_turns
from heedful.data.batches import plan_batches
from heedful.data.corpus import Corpus
from heedful.data.named import load_data
from heedful.models.building import build_model
from heedful.training.compiled import warm_up
from heedful.training.devices import one_thread
from heedful.training.learners import choose_learner

MODELS = ("dp", "dp-a", "ad")
BATCHES = 40  # of an epoch, at most: their words stand for all


@dataclass(frozen=True)
class UnmixedSpeed:
    """Microseconds of the processor a word in whole training steps."""

    model: str
    compiled: float
    autograd: float
    beside_dp: float  # compiled, ÷ that of dp

    @property
    def gain(self) -> float:
        """How many times as long autograd takes."""
        return self.autograd / self.compiled


def measure_unmixed(corpus: Corpus, *, rounds: int = 5, seed: int = 0) -> list[UnmixedSpeed]:
    """Time the same batches with each model and each way in turn, on one thread."""
    contenders: dict[str, Callable[[], object]] = {}
    words = 0
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for model in MODELS:
            warm_up(model)
            given = prepared(corpus, model, {"seed": seed})
            train = given.splits["train"]
            plan = plan_batches(train.lengths, size=given.training.batch, seed=seed)[:BATCHES]
            words = int(sum(train.lengths[rows].sum() for rows in plan))
            for compiled in (True, False):
                built = build_model(given.model, given.vocabulary, corpus.label_names, seed=seed).train()
                settings = replace(given.training, compiled=compiled)
                learner = choose_learner(built, train, settings=settings, device=torch.device("cpu"))
                for number, rows in enumerate(plan):
                    contenders[f"{model} {compiled} {number}"] = partial(learner.step, rows)
        least = take_turns(contenders, rounds=rounds, clock=time.process_time)

    def each(model: str, compiled: bool) -> float:
        own = [seconds for name, seconds in least.items() if name.startswith(f"{model} {compiled} ")]
        return 1e6 * sum(own) / words

    base = each("dp", True)
    return [
        UnmixedSpeed(model, each(model, True), each(model, False), each(model, True) / base)
        for model in MODELS
    ]


def unmixed(sources: Sequence[str], *, rounds: int, data_dir: str | Path | None = None) -> Found:
    """The three models on each corpus."""
    numbers, shown = {}, []
    for source in dict.fromkeys(sources):
        speeds = measure_unmixed(load_data(source, data_dir=data_dir), rounds=rounds)
        numbers[source] = [{**asdict(one), "gain": one.gain} for one in speeds]
        rows = [
            [
                one.model,
                f"{one.compiled:.2f}",
                f"{one.beside_dp:.1f}",
                f"{one.autograd:.2f}",
                f"{one.gain:.1f}",
            ]
            for one in speeds
        ]
        title = f"Training steps on {source} (aim: at most 3 × dp)"
        columns = ["model", "µs a word", "× dp", "by autograd, µs", "× compiled"]
        shown.append(Table(title, columns, rows))
    return Found(numbers, tuple(shown))
