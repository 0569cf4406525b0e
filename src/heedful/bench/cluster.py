"""What a Dask cluster costs beside processes of this machine: the same cells, in turns, in one run.

Both sweeps train the same cells, two at a time, into empty folders; starting processes, or the scheduler and
its workers, and ending them is part of it. A cell's own seconds are taken inside its training, so what is
left of the two workers' time is what each way costs beside the trainings: importing, sending, waiting.
"""

import math
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from heedful.bench.found import Found, numbers_of
from heedful.data.corpus import Corpus
from heedful.data.synthetic import data_one
from heedful.errors import UserError
from heedful.records.wording import in_percent, signed
from heedful.study.engines import LOCAL
from heedful.study.forecast import one_training
from heedful.study.grid import Study
from heedful.study.sweep import run_study
from heedful.training.presets import prepare

AIM = 0.10  # of a cell's time, that a cluster may cost more
RESULTS = ["dev_accuracy", "test_accuracy", "test_macro_f1", "epoch", "epochs"]
MODEL, SETTINGS = "flan-rnn", {"embedding_source": "uniform", "patience": 10**6}
WAYS = {"processes": None, "cluster": LOCAL}


@dataclass(frozen=True)
class ClusterCost:
    """Least seconds of a sweep each way, and what its workers did beside training, for each cell."""

    cells: int
    workers: int
    cell_seconds: float  # of a training, median
    processes: float  # seconds of the whole sweep
    cluster: float
    beside_processes: float  # seconds a cell
    beside_cluster: float
    equal: bool

    @property
    def ratio(self) -> float:
        """Of the whole sweeps."""
        return self.cluster / self.processes

    @property
    def overhead(self) -> float:
        """What a cluster costs more, as a share of a cell's own time."""
        return (self.beside_cluster - self.beside_processes) / self.cell_seconds


def measure_cluster(
    *, cells: int = 6, seconds: float = 10.0, workers: int = 2, rounds: int = 1
) -> ClusterCost:
    """Train `cells` seeds of a model, each for about so many seconds, by processes and by Dask workers."""
    with tempfile.TemporaryDirectory() as place:
        corpus = data_one(per_class=400, held_out=200)
        _write(corpus, Path(place) / "made.csv")
        study = Study(
            "bench-cluster",
            ("made.csv",),
            models=(MODEL,),
            seeds=tuple(range(cells)),
            settings={**SETTINGS, "epochs": _epochs(corpus, seconds)},
            base=Path(place),
        )
        records: dict[str, pd.DataFrame] = {}
        took = dict.fromkeys(WAYS, math.inf)
        beside = dict.fromkeys(WAYS, math.inf)
        for _ in range(rounds):
            for name, scheduler in WAYS.items():
                records[name], whole = _swept(study, workers, scheduler)
                took[name] = min(took[name], whole)
                left = workers * whole - float(records[name]["seconds"].sum())
                beside[name] = min(beside[name], left / cells)
    return ClusterCost(
        cells=cells,
        workers=workers,
        cell_seconds=float(pd.concat(records.values())["seconds"].median()),
        processes=took["processes"],
        cluster=took["cluster"],
        beside_processes=beside["processes"],
        beside_cluster=beside["cluster"],
        equal=records["processes"][RESULTS].equals(records["cluster"][RESULTS]),
    )


def _swept(study: Study, workers: int, scheduler: str | None) -> tuple[pd.DataFrame, float]:
    """The records of a sweep into an empty folder, by seed, and the seconds of all of it."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        swept = run_study(study, folder, workers=workers, scheduler=scheduler)
    if swept.failures:
        raise UserError(f"A cell of the bench failed: {swept.failures[0][1]}")
    whole = time.perf_counter() - begun
    return swept.records.sort_values("seed", ignore_index=True), whole


def _epochs(corpus: Corpus, seconds: float) -> int:
    """So many epochs that a training takes about so long here."""
    model, training = prepare(MODEL, {**SETTINGS, "epochs": 1})
    return max(1, round(seconds / one_training(corpus, model, training)))


def _write(corpus: Corpus, path: Path) -> None:
    frame = pd.DataFrame({"text": list(corpus.texts), "split": list(corpus.splits)})
    frame.assign(label=[corpus.label_names[label] for label in corpus.labels]).to_csv(path, index=False)


def cluster(cells: int, seconds: float, rounds: int) -> Found:
    """A cluster of two workers beside two processes."""
    cost = measure_cluster(cells=cells, seconds=seconds, rounds=rounds)
    told = (
        f"{cost.cells} cells of {cost.cell_seconds:.1f} s, {cost.workers} at a time: {cost.processes:.1f} s "
        f"by processes, {cost.cluster:.1f} s by Dask workers, {cost.ratio:.2f} ×. Beside its training a cell "
        f"cost {cost.beside_processes:.2f} s of a worker by processes, {cost.beside_cluster:.2f} s by Dask: "
        f"{signed(100 * cost.overhead, 1)} % of a cell (aim: at most {in_percent(AIM)} for cells of 10 s); "
        f"results {'equal' if cost.equal else 'DIFFERENT'}."
    )
    return Found(numbers_of(cost, "ratio", "overhead"), (told,))
