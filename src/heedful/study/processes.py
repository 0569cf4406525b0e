"""Work on the cells of a study in processes of one thread each, which do not outlive their parent."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from heedful.errors import UserError
from heedful.models.settings import ALLOWED

# Math libraries read these when they are loaded, so a worker must be born with them.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}

T = TypeVar("T")
J = TypeVar("J")


def in_processes(
    work: Callable[[J, T], Any],
    job: J,
    cells: Sequence[T],
    *,
    workers: int | None = None,
    done: Callable[[T, Any], None] | None = None,
) -> Iterator[tuple[T, str]]:
    """Do `work(job, cell)` for the cells, `workers` at a time (default: one per core); yield the failed.

    `work` is a function of a module, so that a new process finds it. `done` hears of each cell with what its
    work gave, or None where it failed. Where a worker dies, the rest goes on one by one: then it is known
    which cell's process died, and that one has failed.
    """
    workers = workers or cores()
    waiting = list(range(len(cells)))
    while waiting:
        ended: set[int] = set()
        with _workers(min(workers, len(waiting))) as pool:
            with _born_deaf_to_interrupts():
                under_way = {pool.submit(work, job, cells[place]): place for place in waiting}
            for future in as_completed(under_way):
                place, fault = under_way[future], future.exception()
                if isinstance(fault, BrokenProcessPool):
                    if workers > 1:
                        continue
                    place = next(place for place in waiting if place not in ended)
                ended.add(place)
                if done is not None:
                    done(cells[place], None if fault else future.result())
                if fault:
                    yield cells[place], _said(fault)
                if isinstance(fault, BrokenProcessPool):
                    break
        waiting = [place for place in waiting if place not in ended]
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
    if os.environ.get(ALLOWED):
        from heedful.models.own_parts import allow_inherited

        allow_inherited()
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


def cores() -> int:
    """The cores that this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
