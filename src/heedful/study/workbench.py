"""The workbench of experiments: trains cells, measures them, and never does either twice.

A measure is a function of a module, `measure(run, corpus, **options) -> DataFrame`: new processes are handed
it by reference. In the workbench's folder:

    runs/CELL-FINGERPRINT/      the trained run (see `training.run`)
    measured/NAME-DIGEST/       a stage of the store: what one measure with these options found, a part a run
    corpora/NAME.csv            a corpus that was made here; cells name it from the folder on, so it may move

Experiments of one folder share both: a run that two figures need is trained once, and a restart goes on where
it was stopped.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from heedful.data.corpus import Corpus
from heedful.errors import UserError
from heedful.files import locked, write_atomically
from heedful.store import LOCK, Store
from heedful.study.cells import MEASURED, RUNS, Job, Task, work_on_cell
from heedful.study.engines import Engine
from heedful.study.grid import Cell, Study
from heedful.study.learnt import run_row
from heedful.study.measure import Measure

if TYPE_CHECKING:
    from heedful.training.run import Run
    from heedful.understanding.watch import WatchSettings

CORPORA = "corpora"

Say = Callable[[str], None]
Advance = Callable[[int], None]


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
    scheduler: str | None = None  # of a Dask cluster, as `study.engines` takes it
    data_dir: str | None = None
    device: str = "cpu"
    say: Say = lambda sentence: None
    foretell: bool = (
        False  # whether to try, and say, how long the trainings of a study take before they begin
    )
    progress: "Callable[[str, int], Any] | None" = None  # a context that gives an Advance, as the cli has it
    trained: list[dict[str, Any]] = field(
        default_factory=list, compare=False
    )  # a row each run it was asked of

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
        job = self._job(study, measures, watch)
        with locked(self.folder / LOCK):
            tasks = job.tasks(study.cells, corpora)
            waiting = [task for task in tasks if task.wanted]
            if self.foretell:
                self._foretell(job, waiting, corpora)
            failures = self._work(job, waiting, corpora, len(tasks))
        if failures:
            cell, why = failures[0]
            raise UserError(f"{len(failures)} of {len(tasks)} cells failed; {cell}: {why}")
        self.trained.extend(_run_row(job, task, corpora[task.cell.corpus]) for task in tasks)
        return pd.concat([_rows(job, task.cell, task.key) for task in tasks], ignore_index=True)

    def runs(self, study: Study, *, watch: "WatchSettings | None" = None) -> "list[tuple[Cell, Run]]":
        """The trained run of every cell, for what needs several at once."""
        from heedful.training.run import load_run

        self.measured(study, Measure(result), watch=watch)
        job = self._job(study, (), watch)
        corpora = study.check(data_dir=self.data_dir)
        keys = [job.key(cell, corpora[cell.corpus]) for cell in study.cells]
        return [(cell, load_run(job.run_folder(key))) for cell, key in zip(study.cells, keys, strict=True)]

    @property
    def engine(self) -> Engine:
        """Where the cells are worked on."""
        return Engine(self.workers, self.scheduler, self.say)

    def _job(self, study: Study, measures: tuple[Measure, ...], watch: "WatchSettings | None") -> Job:
        return Job(study, self.folder, measures, watch, self.data_dir, self.device)

    def _foretell(self, job: Job, waiting: Sequence[Task], corpora: dict[str, Corpus]) -> None:
        from heedful.study.forecast import foretold, training_seconds
        from heedful.training.run import RESULT

        untrained = [task.cell for task in waiting if not (job.run_folder(task.key) / RESULT).exists()]
        if untrained:
            seconds = training_seconds(job.study, untrained, corpora)
            self.say(f"{job.study.name}: {foretold(seconds, self.engine.at_once)}")

    def _work(
        self, job: Job, waiting: Sequence[Task], corpora: dict[str, Corpus], total: int
    ) -> list[tuple[Task, str]]:
        if not waiting:
            return []
        shown = self.progress or _unseen
        with shown(f"{job.study.name}, cells", total) as advance:
            advance(total - len(waiting))
            return list(
                self.engine.run(work_on_cell, job, waiting, corpora, done=lambda task, record: advance(1))
            )


@contextmanager
def _unseen(what: str, total: int) -> Iterator[Advance]:
    yield lambda count: None


def _run_row(job: Job, task: Task, corpus: Corpus) -> dict[str, Any]:
    from heedful.training.run import RESULT

    own = {name: value for name, value in task.cell.settings.items() if name != "seed"}
    about = {
        "corpus": task.cell.corpus,
        "model": task.cell.model,
        "setting": ", ".join(f"{name} {value}" for name, value in own.items()),
        "seed": task.cell.settings["seed"],
    }
    return run_row(job.run_folder(task.key) / RESULT, corpus, **about)


def _rows(job: Job, cell: Cell, key: str) -> pd.DataFrame:
    """All that was measured on a cell, with its coordinates."""
    about = {"cell": cell.key, "corpus": Path(cell.corpus).stem, "model": cell.model}
    varied = ("seed", *job.study.grid)
    about |= {name: cell.settings[name] for name in varied}
    frames = []
    for measure in job.measures:
        frame = job.stage(measure).rows([key])
        own = {name: value for name, value in about.items() if name not in frame}
        frames.append(frame.assign(**own, measure=measure.name))
    found = pd.concat(frames, ignore_index=True)
    first = [*about, "measure"]
    return found[[*first, *(name for name in found.columns if name not in first)]]


def result(run: "Run", corpus: Corpus) -> pd.DataFrame:
    """A measure: what a training came to."""
    return pd.DataFrame([run.result])


def watch_rows(run: "Run", corpus: Corpus) -> pd.DataFrame:
    """A measure: the rows that a watch left in the run's history (see `understanding.watch`)."""
    rows = run.history[run.history["kind"] == "watch"]
    return rows.dropna(axis=1, how="all").reset_index(drop=True)
