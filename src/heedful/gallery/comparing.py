"""Does a mechanism earn its keep? It is trained beside its baseline over several seeds."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful.errors import UserError, check_seed
from heedful.gallery.at_hand import at_hand
from heedful.gallery.entry import Entry, Outcome, Size
from heedful.records import Estimate, Finding, seeds_interval
from heedful.store import Stage, Store
from heedful.study.processes import in_processes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Trained:
    """The outcome of one seed, and its seconds by the clock and of the processor."""

    outcome: Outcome
    seconds: float
    processor_seconds: float


@dataclass(frozen=True)
class Comparison:
    """An entry's outcomes over seeds, and the margin between mechanism and baseline as a finding."""

    entry: Entry
    outcomes: tuple[Outcome, ...]
    margin: Finding  # gain over the baseline, above 0 is better whichever way the measure points
    seconds: float  # of the slowest seed, by the clock
    processor_seconds: float  # likewise, without the time in which the machine was busy with other things
    size: Size = "quick"
    data: str = ""  # what it was trained on, in a sentence
    is_real: bool = False
    over_yardstick: Finding | None = None  # gain over the plain yardstick of a real task

    @property
    def passes(self) -> bool:
        """Whether the interval excludes no gain, and the figure reaches the entry's aim."""
        interval = self.margin.interval
        gains = interval is not None and interval.low > 0
        return gains and (self.entry.aim is None or self._reaches(self.entry.aim))

    def _reaches(self, aim: float) -> bool:
        mean = self.mean("figure")
        return mean >= aim if self.entry.better == "higher" else mean <= aim

    def mean(self, name: str) -> float:
        """The mean over seeds of "figure", "baseline", "yardstick", or a figure of the table."""
        own = name in ("figure", "baseline", "yardstick")
        values = [getattr(outcome, name) if own else outcome.table[name] for outcome in self.outcomes]
        return float(sum(values) / len(values))

    def interval(self, name: str) -> list[float] | None:
        """Student's t interval over seeds of a figure of the table; one seed has none."""
        if len(self.outcomes) < 2:
            return None
        between = seeds_interval([outcome.table[name] for outcome in self.outcomes])
        return [between.low, between.high]

    def draw(self, figure: "Figure") -> None:
        """A real task draws all seeds, a generated one its first."""
        if self.is_real and self.entry.real is not None:
            self.entry.real.draw(self.outcomes, figure)
        else:
            self.entry.draw(self.outcomes[0], figure)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        real = self.entry.real if self.is_real else None
        over = self.over_yardstick
        published = real.published if real is not None else None
        return {
            "name": self.entry.name,
            "size": self.size,
            "data": self.data,
            "is_real": self.is_real,
            "task": self.entry.task,
            "measure": self.entry.measure,
            "better": self.entry.better,
            "figure": self.mean("figure"),
            "baseline": self.mean("baseline"),
            "aim": self.entry.aim,
            "margin": self.margin.to_dict(),
            "yardstick": None
            if real is None or over is None
            else {"what": real.yardstick, "figure": self.mean("yardstick"), "margin": over.to_dict()},
            "published": None
            if published is None
            else {**asdict(published), "here": self.mean(published.ours)},
            "parameters": self.outcomes[0].parameters,
            "baseline_parameters": self.outcomes[0].baseline_parameters,
            "table": {name: self.mean(name) for name in self.outcomes[0].table},
            "intervals": {name: self.interval(name) for name in self.outcomes[0].table},
            "by_seed": [
                {"figure": outcome.figure, "baseline": outcome.baseline, "table": dict(outcome.table)}
                for outcome in self.outcomes
            ],
            "seconds": self.seconds,
            "processor_seconds": self.processor_seconds,
            "passes": self.passes,
        }


def compare_entry(
    entry: Entry,
    *,
    seeds: Sequence[int] = (0, 1, 2),
    size: Size = "quick",
    done: Callable[[int], None] | None = None,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    store: Store | None = None,
    workers: int = 1,
) -> Comparison:
    """Train the entry and its baseline for each seed; `done` hears of each. A small one has no aim.

    The real task is taken where its data are. Its seeds are kept in the store, and found there again; those
    that are not there are trained `workers` at a time, each in a process of one thread.
    """
    for seed in seeds:
        check_seed(seed)
    chosen = at_hand(entry, size=size, data_dir=data_dir, device=device)
    stage = store.stage(f"{entry.name}-{chosen.fingerprint}") if store and chosen.is_real else None
    trained = {seed: _kept(stage, seed) for seed in seeds}
    waiting = [seed for seed, found in trained.items() if found is None]

    hear = done or (lambda seed: None)
    for seed in trained.keys() - waiting:
        hear(seed)

    def heard(seed: int, found: Trained | None) -> None:
        trained[seed] = found
        if stage is not None and found is not None:
            stage.keep_value(f"seed-{seed}", asdict(found))
        hear(seed)

    # Generated tasks know two sizes: what takes half a minute in full is quick enough.
    job = chosen.entry.train, size if chosen.is_real or size == "small" else "full"
    if workers > 1 and chosen.is_real and len(waiting) > 1:
        for seed, fault in in_processes(_train, job, waiting, workers=workers, done=heard):
            raise UserError(f"Seed {seed} of {entry.name} could not be trained: {fault}")
    else:
        for seed in waiting:
            heard(seed, _train(job, seed))
    found = [one for one in trained.values() if one is not None]
    outcomes = [one.outcome for one in found]
    judged = chosen.entry if size != "small" else replace(chosen.entry, aim=None)
    without = [outcome.baseline for outcome in outcomes]
    plain = [outcome.yardstick for outcome in outcomes if outcome.yardstick is not None]
    return Comparison(
        judged,
        tuple(outcomes),
        _gain(judged, outcomes, without, f"without it ({judged.without})", "without"),
        max(one.seconds for one in found),
        max(one.processor_seconds for one in found),
        size,
        chosen.data,
        chosen.is_real,
        _gain(judged, outcomes, plain, f"by {entry.real.yardstick}", "yardstick")
        if entry.real is not None and len(plain) == len(outcomes)
        else None,
    )


def _kept(stage: Stage | None, seed: int) -> Trained | None:
    """A seed that was trained before, if it was."""
    known = stage.value(f"seed-{seed}") if stage is not None else None
    return None if known is None else Trained(**{**known, "outcome": Outcome(**known["outcome"])})


def _train(job: tuple[Callable[[int, Size], Outcome], Size], seed: int) -> Trained:
    train, size = job
    begun, worked = time.perf_counter(), time.process_time()
    outcome = train(seed, size)
    return Trained(outcome, time.perf_counter() - begun, time.process_time() - worked)


def _gain(entry: Entry, outcomes: Sequence[Outcome], others: Sequence[float], by: str, name: str) -> Finding:
    """By how much the mechanism is better than something else, over seeds."""
    sign = 1 if entry.better == "higher" else -1
    gains = [sign * (outcome.figure - other) for outcome, other in zip(outcomes, others, strict=True)]
    return Finding(
        f"{entry.name}: gain in {entry.measure}",
        sum(gains) / len(gains),
        count=len(gains),
        seeds=len(gains),
        interval=seeds_interval(gains),
        baselines={name: Estimate(sum(others) / len(others))},
        better="higher",
        measured=f"{entry.measure} with the mechanism and {by}, in the same run.",
    )
