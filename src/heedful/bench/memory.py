"""How much memory training takes: the peak of resident memory of a fresh process that does nothing else.

Linux and macOS only; the peak is the system's own account of the process (on Linux not `ru_maxrss`,
which a child inherits from the process that started it, but VmHWM, which begins anew).
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.bench.found import Found, numbers_of
from heedful.errors import UserError

# The child says how much it took, and how much of that was there before any data: torch itself.
_CHILD = """
import json, resource, sys
def peak():
    if sys.platform == "darwin":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))
import torch
import heedful.training.from_corpus as training
start = peak()
torch.set_num_threads(1)
source, data_dir, model, changes = json.loads(sys.argv[1])
run = training.train(source, model=model, data_dir=data_dir, **changes)
print(json.dumps({"start_bytes": start, "peak_bytes": peak(), "seconds": run.result["seconds"]}))
"""


@dataclass(frozen=True)
class Memory:
    """Bytes resident at the most, and after the imports."""

    source: str
    model: str
    epochs: int
    start_bytes: int
    peak_bytes: int
    seconds: float


def measure_memory(
    source: str = "imdb",
    *,
    model: str = "dp",
    epochs: int = 2,
    data_dir: str | Path | None = None,
    **changes: Any,
) -> Memory:
    """Train in a fresh process for a few epochs (memory does not grow after the first) and read its peak."""
    if sys.platform == "win32":
        raise UserError("Peak memory is measured on Linux and macOS only.")
    given = [source, None if data_dir is None else str(data_dir), model, {"epochs": epochs, **changes}]
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, json.dumps(given)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise UserError(f"The training that was to be measured failed: {reason}")
    return Memory(source, model, epochs, **json.loads(done.stdout.splitlines()[-1]))


def memory(source: str, *, data_dir: str | Path | None = None) -> Found:
    """The peak of a training."""
    taken = measure_memory(source, data_dir=data_dir)
    told = (
        f"Training {taken.model} on {source} took {taken.peak_bytes / 1e9:.2f} GB of memory at the most, "
        f"{taken.start_bytes / 1e9:.2f} of it before any data (aim: under 2 GB)."
    )
    return Found(numbers_of(taken), (told,))
