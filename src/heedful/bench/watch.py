"""What a watch over training costs beside the training itself, as a share taken in one run.

The whole training is run with and without the watch in turn; the seconds inside the watch's own moments are
summed too, because on a noisy machine two runs differ by more than the watch costs.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.bench.found import Found, numbers_of
from heedful.bench.preparing import prepared
from heedful.data.encoded import EncodedTexts
from heedful.data.named import load_data
from heedful.data.vocabulary import Vocabulary
from heedful.models.building import build_model
from heedful.models.settings import ModelSettings
from heedful.records.wording import in_percent
from heedful.training.callbacks import Callback, Training
from heedful.training.devices import one_thread
from heedful.training.loop import fit
from heedful.training.settings import TrainingSettings
from heedful.understanding.watch import KIND, Watch, WatchSettings


@dataclass(frozen=True)
class WatchCost:
    """Seconds of whole trainings, the least of the rounds, and what the watch took of them."""

    records: int
    plain_seconds: float  # without a watch
    watched_seconds: float  # with it
    inside_seconds: float  # spent in the watch, in the round where that was least a share
    share: float  # of the training that stays when the watch is taken away: inside / (watched − inside)
    ratio: float  # watched / plain

    def to_row(self) -> Mapping[str, float]:
        return dict(vars(self))


class TimedWatch(Callback):
    """A watch that counts the seconds it takes, its own preparation included."""

    def __init__(self, watch: Watch) -> None:
        self.watch, self.seconds = watch, 0.0

    def epoch_begins(self, training: Training) -> None:
        begun = time.perf_counter()
        self.watch.epoch_begins(training)
        self.seconds += time.perf_counter() - begun

    def step_ends(self, training: Training) -> None:
        begun = time.perf_counter()
        self.watch.step_ends(training)
        self.seconds += time.perf_counter() - begun


def measure_watch(
    sets: Mapping[str, EncodedTexts],
    vocabulary: Vocabulary,
    *,
    classes: tuple[str, ...],
    model: ModelSettings,
    training: TrainingSettings,
    settings: WatchSettings | None = None,
    rounds: int = 3,
) -> WatchCost:
    """Train with and without a watch, in turn, on one thread; the splits are `train` and `dev`."""
    plain = watched = share = inside = float("inf")
    records = 0

    def train(callbacks: list[Any]) -> tuple[float, list[dict[str, Any]]]:
        made = build_model(model, vocabulary, classes, seed=training.seed)
        begun = time.perf_counter()
        history = fit(made, sets["train"], sets["dev"], settings=training, callbacks=callbacks)
        return time.perf_counter() - begun, history

    with one_thread():
        for _ in range(rounds):
            plain = min(plain, train([])[0])
            timed = TimedWatch(Watch(settings=settings))
            seconds, history = train([timed])
            watched = min(watched, seconds)
            records = len({row["step"] for row in history if row["kind"] == KIND})
            if timed.seconds / (seconds - timed.seconds) < share:
                share, inside = timed.seconds / (seconds - timed.seconds), timed.seconds
    return WatchCost(records, plain, watched, inside, share, watched / plain)


def watch(
    source: str,
    model: str,
    *,
    changes: Mapping[str, Any],
    records: int,
    rounds: int,
    data_dir: str | Path | None = None,
) -> Found:
    """A watch over training beside the training."""
    corpus = load_data(source, data_dir=data_dir)
    given = prepared(corpus, model, changes)
    cost = measure_watch(
        given.splits,
        given.vocabulary,
        classes=corpus.label_names,
        model=given.model,
        training=given.training,
        settings=WatchSettings(records=records),
        rounds=rounds,
    )
    told = (
        f"Training {model} on {source}: {cost.plain_seconds:.2f} s without a watch, "
        f"{cost.watched_seconds:.2f} s with one that leaves {cost.records} records. Inside it: "
        f"{cost.inside_seconds:.2f} s, {in_percent(cost.share, 1)} of the training "
        "(aim: under 10 %, 50 records)."
    )
    return Found(numbers_of(cost, corpus=source), (told,))
