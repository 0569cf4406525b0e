"""Running a study: cells in processes of one thread each, one record a cell, resumable after a kill."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from heedful import __version__
from heedful.errors import UserError
from heedful.store import Stage, Store
from heedful.study.forecast import foretold, training_seconds
from heedful.study.grid import Cell, Study, load_origin
from heedful.study.kept_runs import trained_once
from heedful.study.processes import Done, cores, in_processes
from heedful.training.devices import find_device

RECORDS, RUNS = "records", "runs"


@dataclass(frozen=True)
class Sweep:
    """What a sweep left: its cells' records, how many were there before, and which cells failed and why."""

    records: pd.DataFrame
    skipped: int
    failures: tuple[tuple[Cell, str], ...]


@dataclass(frozen=True)
class Job:
    """What every worker needs to know of the sweep it works for."""

    study: Study
    folder: Path
    data_dir: str | None
    device: str

    @property
    def store(self) -> Store:
        """Records and runs; a key says of which training on which texts a record is."""
        return Store(self.folder, marks=(RECORDS,), parts=(RUNS,))

    @property
    def records(self) -> Stage:
        return self.store.stage(RECORDS)


def run_study(
    study: Study,
    folder: str | Path,
    *,
    workers: int | None = None,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    done: Done | None = None,
    say: Callable[[str], None] | None = None,
) -> Sweep:
    """Train every cell that has no record yet, `workers` at a time (default: one a core); return all records.

    A record counts while its corpus is unchanged. `done` hears of each cell with its record, or None where it
    failed; of those that have their record already, at once. A cell that fails leaves no record and does not
    stop the others; run the study again to try it again. `say` is told about how long the trainings take,
    which are tried on a few texts for it. Workers are new processes, which import the script that started
    them: in a script, call this under `if __name__ == "__main__":`.
    """
    if workers is not None and workers < 1:
        raise UserError(f"There must be at least one worker, but workers is {workers}.")
    find_device(device)
    job = Job(study, Path(folder), None if data_dir is None else str(data_dir), device)
    job.store.check()
    corpora = study.check(data_dir=data_dir)
    keys = [cell.on(corpora[cell.corpus]) for cell in study.cells]
    with job.store.opened():
        missing = set(job.records.missing(keys))
        waiting = [cell for cell, key in zip(study.cells, keys, strict=True) if key in missing]
        if done is not None:
            for cell, key in zip(study.cells, keys, strict=True):
                if key not in missing:
                    done(cell, job.records.rows([key]).to_dict("records")[0])
        if say is not None and waiting:
            say(foretold(training_seconds(study, waiting, corpora), workers or cores()))
        failures = tuple(in_processes(run_cell, job, waiting, workers=workers, done=done))
        missing = set(job.records.missing(keys))
        ended = [key for key in keys if key not in missing]
        records = job.records.rows(ended) if ended else pd.DataFrame({"cell": []})
    return Sweep(records, len(keys) - len(waiting), failures)


def run_cell(job: Job, cell: Cell) -> dict[str, Any]:
    """Train one cell in this process, append its record and return it."""
    corpus = _load_once(job.study.origin(cell.corpus), job.data_dir)
    model, training = cell.prepared
    out = job.folder / RUNS / cell.on(corpus) if job.study.keep_runs else None
    run = trained_once(  # it may have been killed between its end and its record
        corpus,
        model=job.study.place(model),
        training=training,
        source={"source": cell.corpus, "preset": cell.model},
        out=out,
        device=job.device,
    )
    record = {
        "cell": cell.key,
        "study": job.study.name,
        "corpus": cell.corpus,
        "fingerprint": corpus.fingerprint,
        "model": cell.model,
        **model.to_dict(),
        **asdict(training),
        **run.result,
        "version": __version__,
    }
    job.records.keep(cell.on(corpus), [record])
    return record


# A worker's cells come corpus by corpus, and reading one may take longer than a training.
_load_once = lru_cache(maxsize=2)(load_origin)
