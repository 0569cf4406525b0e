"""Running a study: cells in processes of one thread each, one record a cell, resumable after a kill."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from heedful import __version__
from heedful.data.corpus import Corpus
from heedful.errors import UserError
from heedful.files import locked
from heedful.records import append_rows, read_rows
from heedful.study.grid import Cell, Study, load_origin
from heedful.training.devices import find_device
from heedful.training.from_corpus import train_run
from heedful.training.run import RESULT, load_run

RECORDS, RUNS = "records", "runs"
# Math libraries read these when they are loaded, so a worker must be born with them.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}

Done = Callable[[Cell, dict[str, Any] | None], None]


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
    corpora = study.check(data_dir=data_dir)
    job = Job(study, Path(folder), None if data_dir is None else str(data_dir), device)
    with locked(job.folder / ".lock"):
        known = {str(row["cell"]): row for row in _records(job, corpora).to_dict("records")}
        waiting = [cell for cell in study.cells if cell.key not in known]
        for cell in study.cells:
            if done is not None and cell.key in known:
                done(cell, known[cell.key])
        failures = tuple(_train_all(job, waiting, workers=workers or _cores(), done=done))
        records = _records(job, corpora)
    return Sweep(records, len(known), failures)


def run_cell(job: Job, cell: Cell) -> dict[str, Any]:
    """Train one cell in this process, append its record and return it."""
    corpus = _load_once(job.study.origin(cell.corpus), job.data_dir)
    model, training = cell.prepared
    # With its corpus' fingerprint in its name, a kept run is never taken for that of an older corpus.
    out = job.folder / RUNS / f"{cell.key}-{corpus.fingerprint}" if job.study.keep_runs else None
    if out is not None and (out / RESULT).exists():  # killed between its end and its record
        run = load_run(out)
    else:
        run = train_run(
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


def _train_all(
    job: Job, cells: Sequence[Cell], *, workers: int, done: Done | None
) -> Iterator[tuple[Cell, str]]:
    """Train the cells and yield those that failed; where a worker dies, the rest goes on one by one.

    One by one it is known which cell's process died: that one has failed.
    """
    waiting = list(cells)
    while waiting:
        ended: set[str] = set()
        with _workers(min(workers, len(waiting))) as pool:
            with _born_deaf_to_interrupts():
                under_way = {pool.submit(run_cell, job, cell): cell for cell in waiting}
            for future in as_completed(under_way):
                cell, fault = under_way[future], future.exception()
                if isinstance(fault, BrokenProcessPool):
                    if workers > 1:
                        continue
                    cell = next(cell for cell in waiting if cell.key not in ended)
                ended.add(cell.key)
                if done is not None:
                    done(cell, None if fault else future.result())
                if fault:
                    yield cell, _said(fault)
                if isinstance(fault, BrokenProcessPool):
                    break
        waiting = [cell for cell in waiting if cell.key not in ended]
        workers = 1


def _said(fault: BaseException) -> str:
    if isinstance(fault, BrokenProcessPool):
        return "its process was killed, perhaps for want of memory."
    return str(fault) if isinstance(fault, UserError) else f"{type(fault).__name__}: {fault}"


@contextmanager
def _workers(count: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes with one thread each, which do not outlive the block, whatever ends it."""
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    with _one_thread_each():
        pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin_worker)
        try:
            yield pool
        except BaseException:
            # Also Ctrl-C. What is half done has no record, and records are written whole: nothing is spoilt.
            for worker in set(multiprocessing.active_children()) - others:
                worker.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _born_deaf_to_interrupts() -> Iterator[None]:
    """Processes started in the block do not hear Ctrl-C, which all get: the sweep itself ends them."""
    if threading.current_thread() is not threading.main_thread():  # only that one may set this, or hears it
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _begin_worker() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    # A pool's worker would wait for ever for a sweep that was killed, and go on writing meanwhile.
    threading.Thread(target=end_with_parent, daemon=True).start()


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


def _cores() -> int:
    """The cores that this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
