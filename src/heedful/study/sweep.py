"""Running a study: every cell on its own, one record a cell, resumable after a kill."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from heedful.study.cells import RECORDS, Job, stage_of, work_on_cell
from heedful.study.engines import Engine
from heedful.study.forecast import foretold, measuring_seconds, training_seconds
from heedful.study.grid import Cell, Study
from heedful.study.parcels import ENDED
from heedful.study.tables import Entry, study_entries
from heedful.study.text_measures import MEASURES
from heedful.training.devices import find_device


@dataclass(frozen=True)
class Sweep:
    """What a sweep left: its cells' records, how many were there before, and which cells failed and why."""

    records: pd.DataFrame
    skipped: int
    failures: tuple[tuple[Cell, str], ...]
    entries: tuple[Entry, ...] = ()  # what the study's measures found, seeds taken together


def run_study(
    study: Study,
    folder: str | Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    done: Callable[[Cell, Any], None] | None = None,
    say: Callable[[str], None] | None = None,
) -> Sweep:
    """Train every cell without a record, `workers` at a time (default: one per core); return all records.

    A record counts while its corpus is unchanged. `done` hears of each cell with its record, or None where it
    failed; of those that have their record already, at once. A cell that fails leaves no record and does not
    stop the others; run the study again to try it again. `say` is told about how long the trainings take,
    which are tried on a few texts for it. With a `scheduler` (tcp://HOST:PORT, or "local" for one that is
    started here) the cells are tasks of a Dask cluster, and the results are the same. Workers are new
    processes, which import the script that started them: in a script, call this under
    `if __name__ == "__main__":`.
    """
    engine = Engine(workers, scheduler, say or (lambda sentence: None))
    find_device(device)
    job = sweep_job(study, folder, data_dir=data_dir, device=device)
    job.store.check()
    corpora = study.check(data_dir=data_dir)
    heard = done or (lambda cell, record: None)
    with job.store.opened():
        tasks = job.tasks(study.cells, corpora)
        records = job.store.stage(RECORDS)
        waiting = [task for task in tasks if task.wanted]
        for task in tasks:
            if not task.wanted:
                heard(task.cell, records.rows([task.key]).to_dict("records")[0])
        if say is not None and waiting:
            say(foretold(training_seconds(study, [task.cell for task in waiting], corpora), engine.at_once))
        failures = tuple(
            (task.cell, fault)
            for task, fault in engine.run(
                work_on_cell, job, waiting, corpora, done=lambda task, record: heard(task.cell, record)
            )
        )
        keys = [task.key for task in tasks]
        missing = set(records.missing(keys))
        ended = [key for key in keys if key not in missing]
        found = records.rows(ended) if ended else pd.DataFrame({"cell": []})
        entries = tuple(study_entries(job, tasks))
    return Sweep(found, len(tasks) - len(waiting), failures, entries)


def sweep_job(
    study: Study, folder: str | Path, *, data_dir: str | Path | None = None, device: str = "cpu"
) -> Job:
    """What workers are told of a study that is swept into a folder."""
    return Job(
        study,
        Path(folder),
        measures=tuple(MEASURES[name].measure(study.texts) for name in study.measures),
        data_dir=None if data_dir is None else str(data_dir),
        device=device,
        records=True,
        keep_runs=study.keep_runs,
    )


@dataclass(frozen=True)
class Plan:
    """What a sweep would do: its cells, those that have all their results, and the seconds of the others."""

    cells: int
    done: int
    seconds: tuple[float, ...]  # of each cell that is left, by itself; not a number where unknown
    at_once: int

    @property
    def hours(self) -> float:
        """Of all that is left, one after the other."""
        return sum(one for one in self.seconds if not math.isnan(one)) / 3600


def plan_study(
    study: Study,
    folder: str | Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    data_dir: str | Path | None = None,
) -> Plan:
    """Count the cells of a study and estimate how long those that are left take; nothing is written."""
    job = sweep_job(study, folder, data_dir=data_dir)
    job.store.check()
    corpora = study.check(data_dir=data_dir)
    tasks = job.tasks(study.cells, corpora)
    left = [task for task in tasks if task.wanted]
    cells = [task.cell for task in left]
    training = training_seconds(study, cells, corpora) if left else []
    measuring = measuring_seconds(study, cells, corpora, study.measures) if left else []
    seconds = []
    for task, once, each in zip(left, training, measuring, strict=True):
        kept = (job.run_folder(task.key) / ENDED).exists()
        wanted = [
            each[name]
            for name in study.measures
            if stage_of(MEASURES[name].measure(study.texts)) in task.wanted
        ]
        seconds.append((0.0 if kept else once) + sum(one for one in wanted if not math.isnan(one)))
    return Plan(len(tasks), len(tasks) - len(left), tuple(seconds), Engine(workers, scheduler).at_once)
