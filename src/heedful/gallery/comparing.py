"""Does a mechanism earn its keep? It is trained beside its baseline over several seeds."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from heedful.errors import check_seed
from heedful.gallery.entry import Entry, Outcome, Size
from heedful.records import Estimate, Finding, seeds_interval


@dataclass(frozen=True)
class Comparison:
    """An entry's outcomes over seeds, and the margin between mechanism and baseline as a finding."""

    entry: Entry
    outcomes: tuple[Outcome, ...]
    margin: Finding  # gain over the baseline, above 0 is better whichever way the measure points
    seconds: float  # of the slowest seed, by the clock
    processor_seconds: float  # likewise, without the time in which the machine was busy with other things

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
        """The mean over seeds of "figure", "baseline", or a figure of the table."""
        own = name in ("figure", "baseline")
        values = [getattr(outcome, name) if own else outcome.table[name] for outcome in self.outcomes]
        return float(sum(values) / len(values))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "name": self.entry.name,
            "measure": self.entry.measure,
            "better": self.entry.better,
            "figure": self.mean("figure"),
            "baseline": self.mean("baseline"),
            "aim": self.entry.aim,
            "margin": self.margin.to_dict(),
            "parameters": self.outcomes[0].parameters,
            "baseline_parameters": self.outcomes[0].baseline_parameters,
            "table": {name: self.mean(name) for name in self.outcomes[0].table},
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
    size: Size = "full",
    done: Callable[[int], None] | None = None,
) -> Comparison:
    """Train the entry and its baseline for each seed; `done` hears of each. A small one has no aim."""
    for seed in seeds:
        check_seed(seed)
    outcomes: list[Outcome] = []
    seconds = processor = 0.0
    for seed in seeds:
        begun, worked = time.perf_counter(), time.process_time()
        outcomes.append(entry.train(seed, size))
        seconds = max(seconds, time.perf_counter() - begun)
        processor = max(processor, time.process_time() - worked)
        if done is not None:
            done(seed)
    sign = 1 if entry.better == "higher" else -1
    gains = [sign * (outcome.figure - outcome.baseline) for outcome in outcomes]
    margin = Finding(
        f"{entry.name}: gain in {entry.measure}",
        sum(gains) / len(gains),
        count=len(gains),
        seeds=len(gains),
        interval=seeds_interval(gains),
        baselines={"without": Estimate(sum(outcome.baseline for outcome in outcomes) / len(outcomes))},
        better="higher",
        measured=f"{entry.measure} with the mechanism and without it ({entry.without}), in the same run.",
    )
    judged = entry if size == "full" else replace(entry, aim=None)
    return Comparison(judged, tuple(outcomes), margin, seconds, processor)
