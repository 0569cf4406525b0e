"""What is measured in a fresh process that does nothing else: what it said last, and how much memory it held.

The peak is the system's own account of the process: on Linux not `ru_maxrss`, which a child inherits from the
process that started it, but VmHWM, which begins anew. Windows has neither.
"""

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from heedful.errors import UserError

LOOK = 0.2  # seconds between two looks at other processes, whose peak is gone when they end
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_OURS = "heedful.errors.UserError: "  # how a sentence for the user begins where it ends the process


def run_child(code: str, *words: str, what: str) -> Any:
    """The JSON on the last line that this code prints in a process of its own, with one thread; `what` names
    it where it fails."""
    if sys.platform == "win32":
        raise UserError("Peak memory is measured on Linux and macOS only.")
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **dict.fromkeys(THREADS, "1")},
    )
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise UserError(f"{what}, which was to be measured, failed: {reason.removeprefix(_OURS)}")
    return json.loads(done.stdout.splitlines()[-1])


def peak_bytes() -> int:
    """The most that this process has held so far."""
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return _peak_in("/proc/self/status")


def watch_below() -> dict[int, int]:
    """The most that each process held which this one started, by its number; kept up to date from now on."""
    peaks: dict[int, int] = {}

    def watch() -> None:
        while True:
            for listed in Path("/proc/self/task").glob("*/children"):
                with suppress(OSError, StopIteration):  # a thread or a process that has just ended
                    for child in map(int, listed.read_text().split()):
                        peaks[child] = _peak_in(f"/proc/{child}/status")
            time.sleep(LOOK)

    threading.Thread(target=watch, daemon=True).start()
    return peaks


def _peak_in(path: str) -> int:
    with open(path) as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))
