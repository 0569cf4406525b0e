"""The workbench of experiments: trains cells, measures them, and never does either twice.

A measure is a function of a module, `measure(run, corpus, **options) -> DataFrame`. It is named by its path
("heedful.study.erasure_measures:flip_fractions"), so that a new process finds it. In the workbench's folder:

    runs/CELL-FINGERPRINT/                   the trained run (see `training.run`)
    measured/NAME-DIGEST/CELL-FINGERPRINT.parquet   what one measure with these options found on it

Experiments of one folder share both: a run that two figures need is trained once, and a restart goes on where
it was stopped.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from heedful.data.corpus import Corpus
from heedful.errors import UserError
from heedful.files import check_folder, locked, write_atomically
from heedful.study.grid import Cell, Study, load_origin
from heedful.study.kept_runs import trained_once
from heedful.study.processes import in_processes
from heedful.training.devices import find_device
from heedful.training.run import Run, load_run
from heedful.understanding.watch import Watch, WatchSettings

RUNS, MEASURED, CORPORA = "runs", "measured", "corpora"

Say = Callable[[str], None]
Advance = Callable[[int], None]


@dataclass(frozen=True)
class Measure:
    """One thing to measure on a run: "module:function" and its options."""

    path: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.path.partition(":")[2]

    @property
    def key(self) -> str:
        digest = hashlib.blake2b(json.dumps([self.path, dict(self.options)]).encode(), digest_size=4)
        return f"{self.name}-{digest.hexdigest()}"

    def __call__(self, run: Run, corpus: Corpus) -> pd.DataFrame:
        module, _, name = self.path.partition(":")
        found: pd.DataFrame = getattr(import_module(module), name)(run, corpus, **self.options)
        return found


@dataclass(frozen=True)
class Bench:
    """Where and how experiments are run, and how much of them the user asked for.

    Empty `seeds`, `corpora` and `models` leave the choice to the experiment: read them by `chosen`.
    """

    folder: Path
    quick: bool = False
    seeds: tuple[int, ...] = ()
    corpora: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    workers: int | None = None
    data_dir: str | None = None
    device: str = "cpu"
    say: Say = lambda sentence: None
    progress: "Callable[[str, int], Any] | None" = None  # a context that gives an Advance, as the cli has it

    def check(self, experiments: Collection[str] = ()) -> None:
        """Refuse, before any work, a device that is not here, and a folder that is not of a workbench.

        `experiments` are the names of what leaves its tables beside the runs.
        """
        find_device(self.device)
        check_folder(self.folder, marks=(MEASURED, *experiments), parts=(RUNS, CORPORA))

    @property
    def asked(self) -> str:
        """What the user asked for, as the options of `heedful reproduce`."""
        told = ["--quick"] if self.quick else []
        told += [f"--corpus {name}" for name in self.corpora] + [f"--model {name}" for name in self.models]
        if self.seeds:
            told.append(f"--seeds {len(self.seeds)}")
        return " ".join(told)

    def chosen(self, what: str, own: Sequence[Any]) -> tuple[Any, ...]:
        """The user's seeds, corpora or models where he named some, otherwise the experiment's own.

        Corpora and models that the experiment does not know are refused; seeds are free.
        """
        asked = getattr(self, what)
        if what != "seeds":
            for name in asked:
                if name not in own:
                    raise UserError(
                        f"This experiment is about the {what} {', '.join(map(str, own))}, not {name}."
                    )
        return tuple(asked) or tuple(own)

    def keep_corpus(self, name: str, corpus: Corpus) -> str:
        """Write a corpus that was made here where cells can name it; returns that name."""
        path = self.folder / CORPORA / f"{name}.csv"
        if not path.exists():
            frame = pd.DataFrame(
                {
                    "text": list(corpus.texts),
                    "label": [corpus.label_names[label] for label in corpus.labels],
                    "split": list(corpus.splits),
                }
            )
            with write_atomically(path) as file:
                frame.to_csv(file, index=False)
        return str(path.resolve())

    def measured(self, study: Study, *measures: Measure, watch: WatchSettings | None = None) -> pd.DataFrame:
        """What the measures found on every cell, with the cell's coordinates before each row.

        Columns: `cell`, `corpus`, `model`, `seed`, what the grid varies, `measure`, then the measures' own.
        A cell that fails stops the experiment with a sentence, after the others have ended; `watch` trains
        with a watch over training, whose rows are then in the run's history.
        """
        corpora = study.check(data_dir=self.data_dir)
        job = _Job(study, self.folder, measures, watch, self.data_dir, self.device)
        waiting = [cell for cell in study.cells if job.missing(cell, corpora[cell.corpus])]
        with locked(self.folder / ".lock"):
            failures = self._work(job, waiting, len(study.cells))
        if failures:
            cell, why = failures[0]
            raise UserError(f"{len(failures)} of {len(study.cells)} cells failed; {cell}: {why}")
        return pd.concat([job.rows(cell, corpora[cell.corpus]) for cell in study.cells], ignore_index=True)

    def runs(self, study: Study, *, watch: WatchSettings | None = None) -> list[tuple[Cell, Run]]:
        """The trained run of every cell, for what needs several at once."""
        self.measured(study, Measure("heedful.study.workbench:result"), watch=watch)
        job = _Job(study, self.folder, (), watch, self.data_dir, self.device)
        corpora = study.check(data_dir=self.data_dir)
        return [(cell, load_run(job.run_folder(cell, corpora[cell.corpus]))) for cell in study.cells]

    def _work(self, job: "_Job", waiting: Sequence[Cell], total: int) -> list[tuple[Cell, str]]:
        if not waiting:
            return []
        if self.progress is None:
            return list(in_processes(measure_cell, job, waiting, workers=self.workers))
        with self.progress(f"{job.study.name}, cells", total) as advance:
            advance(total - len(waiting))
            return list(
                in_processes(
                    measure_cell, job, waiting, workers=self.workers, done=lambda cell, found: advance(1)
                )
            )


@dataclass(frozen=True)
class _Job:
    study: Study
    folder: Path
    measures: tuple[Measure, ...]
    watch: WatchSettings | None
    data_dir: str | None
    device: str

    def run_folder(self, cell: Cell, corpus: Corpus) -> Path:
        watched = "-watched" if self.watch is not None else ""
        return self.folder / RUNS / f"{cell.key}-{corpus.fingerprint}{watched}"

    def place(self, measure: Measure, cell: Cell, corpus: Corpus) -> Path:
        watched = "-watched" if self.watch is not None else ""
        return self.folder / MEASURED / measure.key / f"{cell.key}-{corpus.fingerprint}{watched}.parquet"

    def missing(self, cell: Cell, corpus: Corpus) -> list[Measure]:
        return [measure for measure in self.measures if not self.place(measure, cell, corpus).exists()]

    def rows(self, cell: Cell, corpus: Corpus) -> pd.DataFrame:
        """All that was measured on a cell, with its coordinates."""
        about = {"cell": cell.key, "corpus": Path(cell.corpus).stem, "model": cell.model}
        varied = ("seed", *self.study.grid)
        about |= {name: cell.settings[name] for name in varied}
        frames = []
        for measure in self.measures:
            frame = pd.read_parquet(self.place(measure, cell, corpus))
            own = {name: value for name, value in about.items() if name not in frame}
            frames.append(frame.assign(**own, measure=measure.name))
        found = pd.concat(frames, ignore_index=True)
        first = [*about, "measure"]
        return found[[*first, *(name for name in found.columns if name not in first)]]


def measure_cell(job: _Job, cell: Cell) -> int:
    """Train one cell if it has no run yet, measure what is missing, and return how much that was."""
    corpus = _load_once(job.study.origin(cell.corpus), job.data_dir)
    folder = job.run_folder(cell, corpus)
    model, training = cell.prepared
    run = trained_once(
        corpus,
        model=job.study.place(model),
        training=training,
        source={"source": cell.corpus, "preset": cell.model},
        out=folder,
        device=job.device,
        callbacks=[] if job.watch is None else [Watch(settings=job.watch)],
    )
    missing = job.missing(cell, corpus)
    for measure in missing:
        frame = measure(run, corpus)
        with write_atomically(job.place(measure, cell, corpus), "wb") as file:
            frame.to_parquet(file, index=False)
    return len(missing)


def result(run: Run, corpus: Corpus) -> pd.DataFrame:
    """A measure: what a training came to."""
    return pd.DataFrame([run.result])


def watch_rows(run: Run, corpus: Corpus) -> pd.DataFrame:
    """A measure: the rows that a watch left in the run's history (see `understanding.watch`)."""
    rows = run.history[run.history["kind"] == "watch"]
    return rows.dropna(axis=1, how="all").reset_index(drop=True)


_load_once = lru_cache(maxsize=2)(load_origin)
