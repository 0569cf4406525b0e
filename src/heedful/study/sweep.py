"""Running a study: cells in processes of one thread each, one record a cell, resumable cell by cell."""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from heedful import __version__
from heedful.data.corpus import Corpus
from heedful.data.named import load_data
from heedful.errors import UserError
from heedful.files import locked
from heedful.records import append_rows, read_rows
from heedful.study.grid import Cell, Study
from heedful.training.from_corpus import train_run
from heedful.training.presets import prepare

RECORDS, RUNS = "records", "runs"
# Math libraries read these when they are loaded, so a worker must be born with them.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class Sweep:
    """What a sweep left: its records, how many cells were there before, and those that failed, with why."""

    records: pd.DataFrame
    skipped: int
    failures: tuple[tuple[Cell, str], ...]


def run_study(
    study: Study,
    folder: str | Path,
    *,
    workers: int | None = None,
    data_dir: str | Path | None = None,
    done: Callable[[Cell, dict[str, Any] | None], None] | None = None,
) -> Sweep:
    """Train every cell without a record, `workers` at a time (default: one a core); return all records.

    `done` hears of each cell as it ends, with its record, or None where it failed. A cell that fails leaves
    no record and does not stop the others; run the study again to try it again.
    """
    study.check(data_dir=data_dir)
    folder = Path(folder)
    with locked(folder / ".lock"):
        known = _known_keys(folder)
        waiting = [cell for cell in study.cells if cell.key not in known]
        failures = tuple(_train_all(study, waiting, folder, workers=workers, data_dir=data_dir, done=done))
        wanted = {cell.key for cell in study.cells}
        records = read_rows(folder / RECORDS) if _known_keys(folder) else pd.DataFrame({"cell": []})
    mine = records[records["cell"].isin(wanted)].drop_duplicates("cell", keep="last").reset_index(drop=True)
    return Sweep(mine, len(study.cells) - len(waiting), failures)


def run_cell(study: Study, cell: Cell, folder: Path, data_dir: str | Path | None) -> dict[str, Any]:
    """Train one cell in this process and append its record."""
    corpus = _load_once(cell.corpus, str(data_dir) if data_dir is not None else None)
    model, training = prepare(cell.model, cell.settings)
    out = folder / RUNS / cell.key if study.keep_runs else None
    run = train_run(corpus, model=model, training=training, source={"source": cell.corpus}, out=out)
    record = {
        "cell": cell.key,
        "study": study.name,
        "corpus": cell.corpus,
        "fingerprint": corpus.fingerprint,
        "model": cell.model,
        **{
            name: _plain(value)
            for name, value in {**model.to_dict(), **asdict(training)}.items()
            if name != "model"
        },
        **run.result,
        "version": __version__,
    }
    append_rows(folder / RECORDS, [record])
    return record


def _train_all(
    study: Study,
    cells: list[Cell],
    folder: Path,
    *,
    workers: int | None,
    data_dir: str | Path | None,
    done: Callable[[Cell, dict[str, Any] | None], None] | None,
) -> Iterator[tuple[Cell, str]]:
    if not cells:
        return
    count = min(workers or os.cpu_count() or 1, len(cells))
    with (
        _one_thread_each(),
        ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as pool,
    ):
        jobs: dict[Future[dict[str, Any]], Cell] = {
            pool.submit(run_cell, study, cell, folder, data_dir): cell for cell in cells
        }
        for job in as_completed(jobs):
            record, fault = None, ""
            try:
                record = job.result()
            except UserError as error:
                fault = str(error)
            except BrokenProcessPool:
                raise UserError(
                    "A worker was killed, perhaps for want of memory: run the same command again to go on, "
                    "with fewer --workers if it happens again."
                ) from None
            if done is not None:
                done(jobs[job], record)
            if record is None:
                yield jobs[job], fault


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Workers that are started inside the block get one thread each; this process keeps its own."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _known_keys(folder: Path) -> set[str]:
    if not any((folder / RECORDS).glob("part-*.parquet")):
        return set()
    return set(read_rows(folder / RECORDS)["cell"])


@lru_cache(maxsize=2)
def _load_once(source: str, data_dir: str | None) -> Corpus:
    return load_data(source, data_dir=data_dir)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
