"""How much a λ grid gains from two processes over one, and whether each cell comes out the same.

Both sweeps train the same cells into empty folders and take turns; starting processes and reading the corpus
is part of what a sweep costs, so it is measured too. The cells' results should be equal in every number.
"""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from heedful.bench.found import Found, numbers_of
from heedful.bench.timing import take_turns
from heedful.study.grid import Study
from heedful.study.sweep import run_study

RESULTS = ("dev_accuracy", "test_accuracy", "test_macro_f1", "epoch", "epochs")
SCALES = (0.001, 1.0, 10.0, 20.0, 50.0, 100.0, 10000.0)  # Sun & Lu's λ


@dataclass(frozen=True)
class GridSpeed:
    """Least seconds of a sweep with one worker and with several."""

    cells: int
    workers: int
    seconds_one: float
    seconds_several: float
    processor_one: float  # processor seconds of all workers: on a busy machine these are steadier
    processor_several: float
    equal: bool  # every cell's results are those of one after another
    most_apart: float  # the largest difference between them; 0 where they are equal

    @property
    def ratio(self) -> float:
        """How many times as fast several workers are."""
        return self.seconds_one / self.seconds_several


def measure_grid(
    source: str = "sst",
    *,
    model: str = "dp",
    scales: Sequence[float] = SCALES,
    seeds: Sequence[int] = (0, 1),
    epochs: int = 40,
    workers: int = 2,
    rounds: int = 1,
    data_dir: str | Path | None = None,
) -> GridSpeed:
    """Train a grid of λ × seeds with one worker and with `workers`, and compare times and results."""
    study = Study(
        name="bench-grid",
        corpora=(source,),
        models=(model,),
        seeds=tuple(seeds),
        settings={"epochs": epochs},
        grid={"scale": list(scales)},
    )
    records: dict[int, pd.DataFrame] = {}
    processor: dict[int, float] = {}

    def sweep(count: int) -> None:
        before = _processor_seconds()
        with tempfile.TemporaryDirectory() as folder:
            swept = run_study(study, folder, workers=count, data_dir=data_dir)
        if swept.failures:
            raise RuntimeError(f"a cell of the grid failed: {swept.failures[0][1]}")
        processor[count] = min(processor.get(count, float("inf")), _processor_seconds() - before)
        records[count] = swept.records.set_index("cell")[list(RESULTS)].sort_index()

    seconds = take_turns({"one": lambda: sweep(1), "several": lambda: sweep(workers)}, rounds=rounds)
    apart = (records[1] - records[workers]).abs().to_numpy(dtype=float)
    return GridSpeed(
        cells=len(study.cells),
        workers=workers,
        seconds_one=seconds["one"],
        seconds_several=seconds["several"],
        processor_one=processor[1],
        processor_several=processor[workers],
        equal=bool(records[1].equals(records[workers])),
        most_apart=float(apart.max()),
    )


def _processor_seconds() -> float:
    """Of all processes that this one started and that have ended."""
    spent = os.times()
    return spent.children_user + spent.children_system


def grid(source: str, *, data_dir: str | Path | None = None) -> Found:
    """A λ grid with two workers beside one."""
    speed = measure_grid(source, data_dir=data_dir)
    same = "equal" if speed.equal else f"up to {speed.most_apart:.2g} apart"
    told = (
        f"A grid of {speed.cells} cells on {source}: {speed.seconds_one:.1f} s one after another, "
        f"{speed.seconds_several:.1f} s with {speed.workers} workers: {speed.ratio:.2f} × "
        f"(aim: at least 1.6), for {speed.processor_several / speed.processor_one:.2f} × the processor "
        f"time; results {same}."
    )
    return Found(numbers_of(speed, "ratio"), (told,))
