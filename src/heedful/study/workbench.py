"""The workbench of experiments: trains cells, measures them, and never does either twice.

A measure is a function of a module, `measure(run, corpus, **options) -> DataFrame`: new processes are handed
it by reference. In the workbench's folder:

    runs/CELL-FINGERPRINT/      the trained run (see `training.run`)
    measured/NAME-DIGEST/       a stage of the store: what one measure with these options found, a part a run
    corpora/NAME.csv            a corpus that was made here; cells name it from the folder on, so it may move

Experiments of one folder share both: a run that two figures need is trained once, and a restart goes on where
it was stopped.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from heedful.data.corpus import Corpus
from heedful.errors import UserError
from heedful.files import locked, write_atomically
from heedful.store import LOCK, Stage, Store, digest_of
from heedful.study.grid import Cell, Study, load_origin
from heedful.study.processes import cores, in_processes

if TYPE_CHECKING:
    from heedful.training.run import Run
    from heedful.understanding.watch import WatchSettings

RUNS, MEASURED, CORPORA = "runs", "measured", "corpora"

Say = Callable[[str], None]
Advance = Callable[[int], None]


@dataclass(frozen=True)
class Measure:
    """One thing to measure on a run: a function of a module, and its options."""

    function: Callable[..., pd.DataFrame]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def key(self) -> str:
        return f"{self.name}-{digest_of([self.function.__module__, self.name, dict(self.options)])}"

    def __call__(self, run: "Run", corpus: Corpus) -> pd.DataFrame:
        return self.function(run, corpus, **self.options)


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
    foretell: bool = (
        False  # whether to try, and say, how long the trainings of a study take before they begin
    )
    progress: "Callable[[str, int], Any] | None" = None  # a context that gives an Advance, as the cli has it

    def check(self, experiments: Collection[str] = ()) -> None:
        """Refuse, before any work, a device that is not here, and a folder that is not of a workbench.

        `experiments` are the names of what leaves its tables beside the runs.
        """
        from heedful.training.devices import find_device

        find_device(self.device)
        Store(self.folder, marks=(MEASURED, *experiments), parts=(RUNS, CORPORA)).check()

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
        """Write a corpus that was made here, and return its name in studies whose base is the folder."""
        inside = Path(CORPORA) / f"{name}.csv"
        path = self.folder / inside
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
        return str(inside)

    def measured(
        self, study: Study, *measures: Measure, watch: "WatchSettings | None" = None
    ) -> pd.DataFrame:
        """What the measures found on every cell, with the cell's coordinates before each row.

        Columns: `cell`, `corpus`, `model`, `seed`, what the grid varies, `measure`, then the measures' own.
        A cell that fails stops the experiment with a sentence, after the others have ended; `watch` trains
        with a watch over training, whose rows are then in the run's history.
        """
        corpora = study.check(data_dir=self.data_dir)
        job = _Job(study, self.folder, measures, watch, self.data_dir, self.device)
        keys = [job.key(cell, corpora[cell.corpus]) for cell in study.cells]
        with locked(self.folder / LOCK):
            missing = {key for measure in measures for key in job.stage(measure).missing(keys)}
            waiting = [cell for cell, key in zip(study.cells, keys, strict=True) if key in missing]
            if self.foretell:
                self._foretell(job, waiting, corpora)
            failures = self._work(job, waiting, len(study.cells))
        if failures:
            cell, why = failures[0]
            raise UserError(f"{len(failures)} of {len(study.cells)} cells failed; {cell}: {why}")
        return pd.concat([job.rows(*pair) for pair in zip(study.cells, keys, strict=True)], ignore_index=True)

    def runs(self, study: Study, *, watch: "WatchSettings | None" = None) -> "list[tuple[Cell, Run]]":
        """The trained run of every cell, for what needs several at once."""
        from heedful.training.run import load_run

        self.measured(study, Measure(result), watch=watch)
        job = _Job(study, self.folder, (), watch, self.data_dir, self.device)
        corpora = study.check(data_dir=self.data_dir)
        return [(cell, load_run(job.run_folder(cell, corpora[cell.corpus]))) for cell in study.cells]

    def _foretell(self, job: "_Job", waiting: Sequence[Cell], corpora: dict[str, Corpus]) -> None:
        from heedful.study.forecast import foretold, training_seconds
        from heedful.training.run import RESULT

        untrained = [
            cell for cell in waiting if not (job.run_folder(cell, corpora[cell.corpus]) / RESULT).exists()
        ]
        if untrained:
            seconds = training_seconds(job.study, untrained, corpora)
            self.say(f"{job.study.name}: {foretold(seconds, self.workers or cores())}")

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
    watch: "WatchSettings | None"
    data_dir: str | None
    device: str

    def key(self, cell: Cell, corpus: Corpus) -> str:
        """What the cell's run and measurements are called; a watched run has rows that others have not."""
        watched = "" if self.watch is None else f"-watched-{digest_of(asdict(self.watch))}"
        return f"{cell.on(corpus)}{watched}"

    def run_folder(self, cell: Cell, corpus: Corpus) -> Path:
        return self.folder / RUNS / self.key(cell, corpus)

    def stage(self, measure: Measure) -> Stage:
        return Store(self.folder).stage(f"{MEASURED}/{measure.key}")

    def rows(self, cell: Cell, key: str) -> pd.DataFrame:
        """All that was measured on a cell, with its coordinates."""
        about = {"cell": cell.key, "corpus": Path(cell.corpus).stem, "model": cell.model}
        varied = ("seed", *self.study.grid)
        about |= {name: cell.settings[name] for name in varied}
        frames = []
        for measure in self.measures:
            frame = self.stage(measure).rows([key])
            own = {name: value for name, value in about.items() if name not in frame}
            frames.append(frame.assign(**own, measure=measure.name))
        found = pd.concat(frames, ignore_index=True)
        first = [*about, "measure"]
        return found[[*first, *(name for name in found.columns if name not in first)]]


def measure_cell(job: _Job, cell: Cell) -> int:
    """Train one cell if it has no run yet, measure what is missing, and return how much that was."""
    from heedful.study.kept_runs import trained_once
    from heedful.understanding.watch import Watch

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
    key = job.key(cell, corpus)
    missing = [measure for measure in job.measures if job.stage(measure).missing([key])]
    for measure in missing:
        job.stage(measure).keep(key, measure(run, corpus))
    return len(missing)


def result(run: "Run", corpus: Corpus) -> pd.DataFrame:
    """A measure: what a training came to."""
    return pd.DataFrame([run.result])


def watch_rows(run: "Run", corpus: Corpus) -> pd.DataFrame:
    """A measure: the rows that a watch left in the run's history (see `understanding.watch`)."""
    rows = run.history[run.history["kind"] == "watch"]
    return rows.dropna(axis=1, how="all").reset_index(drop=True)


_load_once = lru_cache(maxsize=2)(load_origin)
