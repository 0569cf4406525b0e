"""Tasks on a Dask cluster: sent, tried again where a worker is lost, and gathered as they end.

No disk is shared. What many tasks need (texts, a model) is sent to each worker once, by its fingerprint, also
to those that come later; a task names it. Results come back as values and files, and we write them.

Three things may die. A worker: Dask hands its tasks to another. The scheduler: we wait for it to come back
and send again what has not ended. We ourselves: what ended is written, and the next start does the rest.

Dask carries tasks and results by pickle, in its own connections: whoever can reach a scheduler can run code
on its workers. What we start listens on the loopback address alone.
"""

import logging
import os
import platform
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from urllib.parse import urlsplit

from heedful.data.corpus import Corpus
from heedful.errors import UserError
from heedful.models.own_parts import allow_inherited
from heedful.models.settings import ALLOWED
from heedful.study.cells import Job, Task
from heedful.study.engines import LOCAL, Done, Engine
from heedful.study.held import AbsentError, hold, let_go
from heedful.study.parcels import Parcel, pack, unpack
from heedful.study.processes import ONE_THREAD, cores
from heedful.training.devices import one_thread

try:
    import dask
    from distributed import Client, Future, KilledWorker, LocalCluster, WorkerPlugin
    from distributed.comm.core import CommClosedError
except ImportError as error:
    raise UserError("A cluster needs Dask: pip install 'heedful[cluster]'.") from error

LOOPBACK = "127.0.0.1"
RETRIES = 2  # of a task that ended with an error which is not the user's, such as a full disk
DEATHS = 2  # times that Dask may give a task up because workers died with it, before we do
AHEAD = 2  # tasks sent for each worker, so that none waits for the next
TICK = 0.5  # seconds between two looks at the cluster while nothing ends
PATIENCE = 120.0  # seconds that a scheduler may be away, or have no worker
# What a worker is born with, beside what Dask sets itself: that freed memory goes back to the system.
BORN_WITH = {f"distributed.nanny.pre-spawn-environ.{name}": value for name, value in ONE_THREAD.items()}
LOST = (OSError, TimeoutError)  # also what Dask says of a broken connection

Say = Callable[[str], None]
T = TypeVar("T")


# Tasks


def cells_on_cluster(
    work: Callable[[Job, Task], Any],
    job: Job,
    tasks: Sequence[Task],
    corpora: Mapping[str, Corpus],
    *,
    engine: Engine,
    done: Done | None = None,
) -> Iterator[tuple[Task, str]]:
    """As `in_processes`: do the work on all tasks and yield those that failed."""
    away, parcels = job.sent(corpora)
    calls = ((work, away, task, job.given(task)) for task in tasks)
    with cluster(engine) as address:
        for number, made, fault in spread(
            _work_away, calls, address=address, parcels=parcels, say=engine.say
        ):
            value, files = made or (None, {})
            unpack(files, job.folder)
            if done is not None:
                done(tasks[number], value)
            if fault is not None:
                yield tasks[number], fault


def _work_away(
    work: Callable[[Job, Task], Any], job: Job, task: Task, given: Parcel
) -> tuple[Any, dict[str, bytes]]:
    """On a worker: the work in a folder of its own, and the files that it left there."""
    with TemporaryDirectory(prefix="heedful-") as name:
        folder = Path(name)
        unpack(given, folder)
        value = work(replace(job, folder=folder), task)
        return value, {path: content for path, content in pack(folder).items() if path not in given}


def spread(
    function: Callable[..., T],
    calls: Iterable[tuple[Any, ...]],
    *,
    address: str,
    parcels: Mapping[str, Any],
    say: Say = lambda sentence: None,
    patience: float = PATIENCE,
) -> Iterator[tuple[int, T | None, str | None]]:
    """Call a function of a module on the workers; yield each call's number, value and fault as it ends.

    `calls` are taken as workers become free, so that they need not all be in memory. A `UserError` and what
    still fails after some retries is that call's fault; it does not stop the others.
    """
    left = _Left(calls)
    connected = _connect(address)
    while True:
        try:
            with _closing(connected) as client, _sent(client, parcels) as send:
                yield from _through(client, function, left, send, address, patience, say)
                return
        except LOST as error:
            say(f"The scheduler at {address} is gone ({type(error).__name__}); waiting for it …")
            left.take_back()
            connected = _connect_again(address, patience, error)


class _Left:
    """The calls that have not ended: those to be sent, and those under way."""

    def __init__(self, calls: Iterable[tuple[Any, ...]]) -> None:
        self._source = enumerate(calls)
        self._again: list[int] = []
        self.calls: dict[int, tuple[Any, ...]] = {}  # taken, and not ended

    def take(self) -> int | None:
        """The number of the next call to send, None if there is none."""
        if self._again:
            return self._again.pop(0)
        try:
            number, call = next(self._source)
        except StopIteration:
            return None
        except OSError as error:  # of a file of ours: not to be taken for a lost scheduler
            raise UserError(f"What is to be sent cannot be read ({error}).") from error
        self.calls[number] = call
        return number

    def take_back(self, number: int | None = None) -> None:
        """Send a call, or all that are under way, again."""
        self._again = sorted(self.calls) if number is None else [number, *self._again]

    def end(self, number: int) -> None:
        del self.calls[number]


def _through(
    client: Client,
    function: Callable[..., T],
    left: _Left,
    send: Callable[[str], None],
    address: str,
    patience: float,
    say: Say,
) -> Iterator[tuple[int, T | None, str | None]]:
    """Send what is left and yield what ends, until nothing is left or the scheduler is lost."""
    ended: SimpleQueue[Future] = SimpleQueue()
    under_way: dict[str, tuple[int, Future]] = {}
    deaths: Counter[int] = Counter()
    here, alone = versions(), _Alone(client, address, patience, say)
    while True:
        room = AHEAD * alone.workers() + 1
        while len(under_way) < room and (number := left.take()) is not None:
            key = f"heedful-{number}-{uuid.uuid4().hex}"
            future = client.submit(_attempt, function, left.calls[number], here, key=key, retries=RETRIES)
            under_way[key] = number, future
            future.add_done_callback(ended.put)
        if not under_way:
            return
        try:
            future = ended.get(timeout=TICK)
        except Empty:
            continue
        number, _ = under_way.pop(str(future.key))
        outcome, value = _outcome(future)
        if outcome == "absent":
            send(value)
            left.take_back(number)
        elif outcome == "killed" and deaths[number] + 1 < DEATHS:
            deaths[number] += 1
            left.take_back(number)
        elif outcome == "unfit":
            raise UserError(value)
        else:
            left.end(number)
            yield (number, value, None) if outcome == "done" else (number, None, value)


def _outcome(future: Future) -> tuple[str, Any]:
    if future.status == "finished":
        told: tuple[str, Any] = future.result()
        return told
    if future.status == "error":
        fault = future.exception()
        if isinstance(fault, KilledWorker):
            return "killed", "its worker died, again and again, perhaps for want of memory."
        return "failed", f"{type(fault).__name__}: {fault}"
    raise CommClosedError(f"a task is {future.status}")  # so all are when the scheduler goes


class _Alone:
    """Looks how many workers there are, and for how long there has been none."""

    def __init__(self, client: Client, address: str, patience: float, say: Say) -> None:
        self.client, self.address, self.patience, self.say = client, address, patience, say
        self.since: float | None = None
        self.count, self.looked = 0, -1.0

    def workers(self) -> int:
        now = time.monotonic()
        if now - self.looked < TICK:
            return self.count
        if self.client.status != "running":
            raise CommClosedError(f"the connection is {self.client.status}")
        self.count, self.looked = len(self.client.nthreads()), now
        if self.count:
            self.since = None
            return self.count
        address = self.address
        if self.since is None:
            self.since = now
            self.say(f"No worker is at {address}; waiting for one (`heedful worker {address}`) …")
        elif now - self.since > self.patience:
            raise UserError(
                f"No worker came to {address} in {self.patience:.0f} s: start some with `heedful worker "
                f"{address}`, and give the same command again."
            )
        return self.count


# On a worker

_ONE_AT_A_TIME = threading.Lock()  # chance and threads belong to the process, not to a thread of it


def _attempt(function: Callable[..., T], call: tuple[Any, ...], wanted: Mapping[str, str]) -> tuple[str, Any]:
    """What came of a call; what trying again would not change is told, and not raised."""
    mine = versions()
    for name, number in wanted.items():
        if mine[name] != number:
            where = platform.node()
            return (
                "unfit",
                f"A worker on {where} has {name} {mine[name]}, and here is {number}: make them alike.",
            )
    if os.environ.get(ALLOWED):  # by whoever started the worker: a client does not say what may run there
        allow_inherited()
    with _ONE_AT_A_TIME, one_thread():
        try:
            return "done", function(*call)
        except AbsentError as error:
            return "absent", error.fingerprint
        except UserError as error:
            return "failed", str(error)


def versions() -> dict[str, str]:
    """On which results depend, to the last digit."""
    return {
        "Python": ".".join(platform.python_version_tuple()[:2]),
        **{name: version(name) for name in ("heedful", "torch", "numpy")},
    }


class Delivery(WorkerPlugin):
    """Something that every worker holds: sent to each when it is registered, or comes later."""

    def __init__(self, fingerprint: str, content: Any) -> None:
        self.name, self.fingerprint, self.content = f"heedful-{fingerprint}", fingerprint, content

    def setup(self, worker: Any) -> None:
        content = self.content
        if isinstance(content, dict):  # files, which settings name: they lie in one folder, or are one
            folder = Path(worker.local_directory) / self.fingerprint
            unpack(content, folder)
            content = folder / next(iter(content)).split("/")[0]
        hold(self.fingerprint, content)
        self.content = None  # the worker holds it; the scheduler keeps its own copy for those to come

    def teardown(self, worker: Any) -> None:
        let_go(self.fingerprint)


@contextmanager
def _sent(client: Client, parcels: Mapping[str, Any]) -> Iterator[Callable[[str], None]]:
    """Send the parcels to all workers; taken back when the block ends. Gives what sends one again."""

    def send(fingerprint: str) -> None:
        client.register_plugin(Delivery(fingerprint, parcels[fingerprint]))

    for fingerprint in parcels:
        send(fingerprint)
    try:
        yield send
    finally:
        for fingerprint in parcels if client.status == "running" else ():
            with suppress(*LOST, ValueError):
                client.unregister_worker_plugin(f"heedful-{fingerprint}")


# The cluster itself


@contextmanager
def cluster(engine: Engine) -> Iterator[str]:
    """The address of the engine's scheduler; a local one is started, and ended with the block."""
    if engine.scheduler != LOCAL:
        yield str(engine.scheduler)
        return
    quietly()
    with dask.config.set(BORN_WITH):
        try:
            started = LocalCluster(
                n_workers=engine.workers or cores(),
                threads_per_worker=1,
                host=LOOPBACK,
                dashboard_address=f"{LOOPBACK}:0",  # any port that is free: two studies may run at once
                silence_logs=logging.CRITICAL,
            )
        except RuntimeError as error:
            raise UserError(
                f"The workers could not be started ({error}): in a script of your own, call heedful below "
                "`if __name__ == '__main__':`, because each worker runs the script's first lines too."
            ) from error
        with started:
            yield started.scheduler_address


def count_workers(address: str) -> int:
    """How many workers a scheduler has now; at least 1, for what is foretold."""
    with _closing(_connect(address)) as client:
        return max(1, len(client.nthreads()))


def host_of(address: str) -> str:
    """The host of a scheduler's address; what is none is refused before Dask waits for it."""
    try:
        place = urlsplit(address)
        if place.scheme in ("tcp", "tls") and place.hostname and place.port:
            place.hostname.encode("idna")  # as it will be looked up
            return place.hostname
    except ValueError:
        pass
    raise UserError(f"{address!r} is no address of a scheduler: write tcp://HOST:PORT, or {LOCAL}.")


def _connect(address: str, timeout: float = 10.0) -> Client:
    host_of(address)
    quietly()
    try:
        return Client(address, timeout=timeout, set_as_default=False, name="heedful")
    except (OSError, TimeoutError):
        raise UserError(
            f"There is no Dask scheduler at {address}: start one with `dask scheduler --host {LOOPBACK}`, "
            "and workers with `heedful worker`."
        ) from None


def _connect_again(address: str, patience: float, lost: Exception) -> Client:
    end = time.monotonic() + patience
    while True:
        try:
            return _connect(address, timeout=3.0)
        except UserError:
            if time.monotonic() > end:
                raise UserError(
                    f"The scheduler at {address} went away and did not come back in {patience:.0f} s "
                    f"({type(lost).__name__}). What has ended is kept: give the same command again to go on."
                ) from lost
        time.sleep(TICK)


@contextmanager
def _closing(client: Client) -> Iterator[Client]:
    try:
        yield client
    finally:
        with suppress(*LOST):
            client.close(timeout=2)


def quietly() -> None:
    """Dask tells of every lost connection in its log; we say what matters ourselves."""
    for name in [*logging.root.manager.loggerDict]:
        if name.split(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)
