"""Running a study: cells in processes of one thread each, one record a cell, resumable after a kill."""

from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from heedful import __version__
from heedful.data.corpus import Corpus
from heedful.errors import UserError
from heedful.files import check_folder, locked
from heedful.records import append_rows, read_rows
from heedful.study.grid import Cell, Study, load_origin
from heedful.study.kept_runs import trained_once
from heedful.study.processes import Done, in_processes
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


def run_study(
    study: Study,
    folder: str | Path,
    *,
    workers: int | None = None,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    done: Done | None = None,
) -> Sweep:
    """Train every cell that has no record yet, `workers` at a time (default: one a core); return all records.

    A record counts while its corpus is unchanged. `done` hears of each cell with its record, or None where it
    failed; of those that have their record already, at once. A cell that fails leaves no record and does not
    stop the others; run the study again to try it again. Workers are new processes, which import the script
    that started them: in a script, call this under `if __name__ == "__main__":`.
    """
    if workers is not None and workers < 1:
        raise UserError(f"There must be at least one worker, but workers is {workers}.")
    find_device(device)
    check_folder(folder, marks=(RECORDS,), parts=(RUNS,))
    corpora = study.check(data_dir=data_dir)
    job = Job(study, Path(folder), None if data_dir is None else str(data_dir), device)
    with locked(job.folder / ".lock"):
        known = {str(row["cell"]): row for row in _records(job, corpora).to_dict("records")}
        waiting = [cell for cell in study.cells if cell.key not in known]
        for cell in study.cells:
            if done is not None and cell.key in known:
                done(cell, known[cell.key])
        failures = tuple(in_processes(run_cell, job, waiting, workers=workers, done=done))
        records = _records(job, corpora)
    return Sweep(records, len(known), failures)


def run_cell(job: Job, cell: Cell) -> dict[str, Any]:
    """Train one cell in this process, append its record and return it."""
    corpus = _load_once(job.study.origin(cell.corpus), job.data_dir)
    model, training = cell.prepared
    # With its corpus' fingerprint in its name, a kept run is never taken for that of an older corpus.
    out = job.folder / RUNS / f"{cell.key}-{corpus.fingerprint}" if job.study.keep_runs else None
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
    append_rows(job.folder / RECORDS, [record])
    return record


def _records(job: Job, corpora: dict[str, Corpus]) -> pd.DataFrame:
    """The study's records in the order of its cells; those of a corpus that has changed do not count."""
    folder = job.folder / RECORDS
    if not any(folder.glob("part-*.parquet")):
        return pd.DataFrame({"cell": []})
    wanted = {
        (cell.key, corpora[cell.corpus].fingerprint): place for place, cell in enumerate(job.study.cells)
    }
    rows = read_rows(folder)
    places = pd.Series([wanted.get(pair, -1) for pair in zip(rows["cell"], rows["fingerprint"], strict=True)])
    order = places[places >= 0].drop_duplicates(keep="last").sort_values().index
    return rows.loc[order].reset_index(drop=True)


# A worker's cells come corpus by corpus, and reading one may take longer than a training.
_load_once = lru_cache(maxsize=2)(load_origin)
