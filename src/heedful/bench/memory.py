"""How much memory training takes: the peak of resident memory of a fresh process that does nothing else."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.bench.child import run_child
from heedful.bench.found import Found, numbers_of

# The child says how much it took, and how much of that was there before any data: torch itself.
_CHILD = """
import json, sys
import torch
import heedful.training.from_corpus as training
from heedful.bench.child import peak_bytes
start = peak_bytes()
torch.set_num_threads(1)
source, data_dir, model, changes = json.loads(sys.argv[1])
run = training.train(source, model=model, data_dir=data_dir, **changes)
print(json.dumps({"start_bytes": start, "peak_bytes": peak_bytes(), "seconds": run.result["seconds"]}))
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
    given = [source, None if data_dir is None else str(data_dir), model, {"epochs": epochs, **changes}]
    return Memory(source, model, epochs, **run_child(_CHILD, json.dumps(given), what="The training"))


def memory(source: str, *, data_dir: str | Path | None = None) -> Found:
    """The peak of a training."""
    taken = measure_memory(source, data_dir=data_dir)
    told = (
        f"Training {taken.model} on {source} took {taken.peak_bytes / 1e9:.2f} GB of memory at the most, "
        f"{taken.start_bytes / 1e9:.2f} of it before any data (aim: under 2 GB)."
    )
    return Found(numbers_of(taken), (told,))
