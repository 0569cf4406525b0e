"""A real Dask cluster on the loopback address: a scheduler and worker processes, to be killed by tests."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

WORKERS = 2


class Cluster:
    """A scheduler and the processes of `heedful worker`; each in a session of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.scheduler = self.workers = None

    def start(self) -> "Cluster":
        self.start_scheduler()
        self.workers = self._begin("-m", "heedful", "worker", self.address, "--workers", str(WORKERS))
        return self

    def start_scheduler(self) -> None:
        self.scheduler = self._begin(
            *("-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port)),
            "--no-dashboard",
        )

    def kill_worker(self, chance: random.Random) -> bool:
        """Kill one of the processes that do the tasks, if there is one; its nanny starts another."""
        there = worker_processes(self.workers.pid)
        if there:
            with suppress(ProcessLookupError):
                os.kill(chance.choice(there), signal.SIGKILL)
        return bool(there)

    def restart_scheduler(self) -> None:
        self.scheduler.kill()
        self.scheduler.wait()
        self.start_scheduler()

    def stop(self) -> None:
        for process in (self.workers, self.scheduler):
            if process is not None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _begin(self, *command: str) -> subprocess.Popen:
        with open(self.folder / "cluster.log", "ab") as log:
            return subprocess.Popen(
                [sys.executable, *command],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )


def children(pid: int) -> list[int]:
    found = []
    with suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            found += [int(child) for child in task.read_text().split()]
    return found


def worker_processes(pid: int) -> list[int]:
    """The children that are workers, not multiprocessing's resource tracker."""
    found = []
    for child in children(pid):
        with suppress(FileNotFoundError, ProcessLookupError):
            if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found


def wait_for(condition, seconds: float = 1800.0) -> None:
    """Longer than any machine is busy: with a twentieth of a core, importing torch takes minutes."""
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "waited too long"
        time.sleep(0.05)
