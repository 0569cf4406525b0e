"""What more texts cost: time and peak memory of each command at growing sizes, and the exponents they follow.

Each command is a process of its own, as a user would start it. The peak is the system's own account of that
process, and seconds are those of one core, the start included. Of a time or a peak, c·Nᵖ is fitted at the
larger half of the sizes, where the start of Python and torch matters least.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heedful.auditing.asking import Progress
from heedful.bench.child import run_child
from heedful.bench.found import Found, Table
from heedful.bench.made_texts import WordStatistics, write_texts
from heedful.data.corpus import Corpus
from heedful.data.named import load_data
from heedful.errors import UserError, choose_from

STAGES = ("prepare", "train", "scores", "erase", "audit")
FORMATS = ("csv", "parquet")
STREAM = "stream"  # erasure over test splits of their own sizes
STREAMED, LEARNT = (20_000, 200_000), 20_000
WORKERS = "workers"  # the same by a cluster's workers, of which each one's memory is read
SENT, PROCESSES = (20_000, 100_000, 200_000), 2
SIZES = (1000, 4000, 16_000, 64_000, 256_000)
# The child says its peak on the last line of what it prints, whatever the command does there.
_CHILD = """
import json, sys, time
from heedful.bench.child import peak_bytes, watch_below
from heedful.cli import main
below = watch_below()
try:
    main(sys.argv[1:])
except SystemExit as end:
    code = end.code
else:
    code = 0
below = sorted(below.values(), reverse=True)
print("\\n" + json.dumps({"seconds": time.process_time(), "bytes": peak_bytes(), "below": below}))
sys.exit(code)
"""


@dataclass(frozen=True)
class Cost:
    """What one command cost at one size."""

    stage: str
    texts: int
    seconds: float
    bytes: int
    workers: tuple[int, ...] = ()  # the peaks of a cluster's workers; the others are of the command itself


def commands(texts: Path, folder: Path, *, model: str = "dp") -> dict[str, list[str]]:
    """The command line of each stage: one epoch, all texts of the test split, no second training."""
    run = str(folder / "run")
    return {
        "prepare": ["data", "show", str(texts)],
        "train": ["train", str(texts), "--model", model, "--epochs", "1", "--deterministic", "--out", run],
        "scores": ["scores", run],
        "erase": ["erase", run],
        "audit": ["audit", run, "--seeds", "1", "--no-uniform", "--out", str(folder / "audit")],
    }


def measure_scale(
    corpus: Corpus,
    sizes: Sequence[int] = SIZES,
    *,
    stages: Sequence[str] = STAGES,
    model: str = "dp",
    form: str = "csv",
    seed: int = 0,
    done: Callable[[int], None] = lambda count: None,
) -> Iterator[Cost]:
    """Make texts by the statistics of `corpus`, so many and so many, and measure each stage on them."""
    statistics = WordStatistics.of(corpus)
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="heedful-scale-") as name:
            folder = Path(name)
            texts = folder / f"texts.{form}"
            write_texts(texts, statistics, size, seed=seed)
            asked = commands(texts, folder, model=model)
            for stage in STAGES:  # in this order: all but the first need the run
                if stage not in stages and stage != "train":
                    continue
                cost = Cost(stage, size, *_measured(asked[stage]))
                if stage in stages:
                    yield cost
                    done(1)


def measure_streaming(
    corpus: Corpus,
    *,
    tests: Sequence[int] = STREAMED,
    workers: int = 0,
    model: str = "dp",
    seed: int = 0,
    done: Callable[[int], None] = lambda count: None,
) -> Iterator[Cost]:
    """Erase test splits of so many and so many texts with models trained on as many texts each.

    With `workers`, by so many of a cluster on this machine.
    """
    statistics = WordStatistics.of(corpus)
    for size in tests:
        with tempfile.TemporaryDirectory(prefix="heedful-scale-") as name:
            folder = Path(name)
            write_texts(folder / "texts.csv", statistics, LEARNT + size, seed=seed, test=size)
            asked = commands(folder / "texts.csv", folder, model=model)
            _measured(asked["train"])
            spread = ["--scheduler", "local", "--workers", str(workers)] if workers else []
            measured = _measured([*asked["erase"], *spread], workers=workers)
            yield Cost(WORKERS if workers else STREAM, size, *measured)
            done(1)


def exponent(texts: Sequence[int], cost: Sequence[float]) -> float:
    """p of c·Nᵖ, by least squares of the logarithms over the larger half of the sizes (at least two)."""
    order = np.argsort(texts)[-max(2, (len(texts) + 1) // 2) :]
    slope = np.polyfit(np.log(np.asarray(texts)[order]), np.log(np.asarray(cost)[order]), 1)[0]
    return round(float(slope), 6) + 0.0  # a flat line is 0, not a rounding below it


def scale(
    source: str,
    sizes: Sequence[int],
    parts: Sequence[str],
    *,
    form: str,
    model: str,
    seed: int,
    data_dir: Path | None,
    progress: Progress,
) -> Found:
    """These parts, by default all but the workers', on texts like those of a corpus."""
    if not all(200 <= size <= 10_000_000 for size in sizes):
        raise UserError(f"Between 200 and 10,000,000 texts can be made, not {', '.join(map(str, sizes))}.")
    known = (*STAGES, STREAM, WORKERS)
    chosen = [choose_from("part of `heedful bench scale`", name, known) for name in parts or known[:-1]]
    form = choose_from("format", form, FORMATS)
    corpus = load_data(source, data_dir=data_dir)
    stages = [name for name in chosen if name in STAGES]
    streams = {STREAM: (STREAMED, 0), WORKERS: (SENT, PROCESSES)}
    streamed = [streams[name] for name in streams if name in chosen]
    count = len(sizes) * len(stages) + sum(len(tests) for tests, _ in streamed)
    with progress("commands", count) as advance:
        about: dict[str, Any] = {"model": model, "seed": seed, "done": advance}
        costs = list(measure_scale(corpus, sizes, stages=stages, form=form, **about)) if stages else []
        for tests, workers in streamed:
            costs += measure_streaming(corpus, tests=tests, workers=workers, **about)
    return shown(corpus, costs)


def shown(corpus: Corpus, costs: Sequence[Cost]) -> Found:
    """A table of the costs, and the exponents where there are two sizes or more."""
    streamed = [cost for cost in costs if cost.stage == STREAM]
    sent = [cost for cost in costs if cost.stage == WORKERS]
    costs = [cost for cost in costs if cost.stage in STAGES]
    sizes = sorted({cost.texts for cost in costs})
    rows, fitted = [], {}
    for stage in dict.fromkeys(cost.stage for cost in costs):
        own = {cost.texts: cost for cost in costs if cost.stage == stage}
        fit = ["", ""]
        if len(own) > 1:
            seconds, peaks = ([getattr(one, what) for one in own.values()] for what in ("seconds", "bytes"))
            fitted[stage] = {
                "seconds": exponent(list(own), seconds),
                "bytes": exponent(list(own), peaks),
            }
            fit = [f"{fitted[stage]['seconds']:.2f}", f"{fitted[stage]['bytes']:.2f}"]
        cells = [f"{own[n].seconds:.1f} s, {own[n].bytes / 2**20:.0f} MB" if n in own else "" for n in sizes]
        rows.append([stage, *cells, *fit])
    columns = ["command", *(f"{size:,}" for size in sizes), "exponent of time", "of memory"]
    table = Table(f"Texts by the word statistics of {corpus.name}: time and peak memory", columns, rows)
    numbers = {
        "corpus": corpus.name,
        "costs": [vars(cost) for cost in costs],
        "exponents": fitted,
    }
    tables = [table] if costs else []
    if streamed:
        least = streamed[0].bytes
        numbers["streamed"] = [{**vars(cost), "ratio": cost.bytes / least} for cost in streamed]
        rows = [
            [
                f"{cost.texts:,}",
                f"{cost.seconds:.1f} s",
                f"{cost.bytes / 2**20:.0f} MB",
                f"{cost.bytes / least:.2f}",
            ]
            for cost in streamed
        ]
        columns = ["test texts", "time", "peak memory", "of the first"]
        tables.append(Table(f"Erasing texts by the word statistics of {corpus.name}", columns, rows))
    if sent:
        numbers["sent"] = [vars(cost) for cost in sent]
        rows = [
            [f"{cost.texts:,}", *(f"{peak / 2**20:.0f} MB" for peak in (*cost.workers, cost.bytes))]
            for cost in sent
        ]
        columns = ["test texts", *(f"worker {number}" for number in range(1, PROCESSES + 1)), "client"]
        tables.append(Table("Peak memory of a cluster that erases them", columns, rows))
    return Found(numbers, tuple(tables))


def _measured(command: Sequence[str], *, workers: int = 0) -> tuple[float, int, tuple[int, ...]]:
    """Seconds and peak of a command, and the peaks of so many processes below it: the largest."""
    told = run_child(_CHILD, *command, what=f"`heedful {command[0]}`")
    return float(told["seconds"]), int(told["bytes"]), tuple(told["below"][:workers])
