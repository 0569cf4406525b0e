"""The work on one cell: train it once, measure what is wanted, and leave both in the job's folder.

    runs/CELL-FINGERPRINT/      the trained run (see `training.run`)
    measured/NAME-DIGEST/       a stage of the store: what one measure with these options found, a part a run
    records/                    of a sweep: one row per cell

Processes of this machine write into the folder of whoever started them, and read texts by their paths. A
worker of a cluster is given a folder of its own, which is sent back, and texts by their fingerprints.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful import __version__
from heedful.data.corpus import Corpus
from heedful.store import Stage, Store, digest_of
from heedful.study.grid import Cell, Study, load_origin
from heedful.study.held import held
from heedful.study.measure import Measure
from heedful.study.parcels import ENDED, Parcel, fingerprint, pack

if TYPE_CHECKING:
    from heedful.training.run import Run
    from heedful.understanding.watch import WatchSettings

RUNS, MEASURED, RECORDS = "runs", "measured", "records"


@dataclass(frozen=True)
class Task:
    """One cell, what its results are called, and which of them are wanted."""

    cell: Cell
    key: str
    wanted: frozenset[str] = frozenset()  # names of stages

    def __str__(self) -> str:
        return str(self.cell)


@dataclass(frozen=True)
class Job:
    """What every worker needs to know of the study it works for."""

    study: Study
    folder: Path
    measures: tuple[Measure, ...] = ()
    watch: "WatchSettings | None" = None
    data_dir: str | None = None
    device: str = "cpu"
    records: bool = False  # whether a cell leaves its record
    keep_runs: bool = True
    texts: Mapping[str, str] = field(default_factory=dict)  # fingerprints of corpora that were sent, by name

    @property
    def store(self) -> Store:
        """Records, measurements and runs; a key says of which training on which texts they are."""
        return Store(self.folder, marks=(RECORDS, MEASURED), parts=(RUNS,))

    def key(self, cell: Cell, corpus: Corpus) -> str:
        """What the cell's run and results are called; a watched run has rows that others have not."""
        watched = "" if self.watch is None else f"-watched-{digest_of(asdict(self.watch))}"
        return f"{cell.on(corpus)}{watched}"

    def run_folder(self, key: str) -> Path:
        return self.folder / RUNS / key

    def stage(self, measure: Measure) -> Stage:
        return self.store.stage(stage_of(measure))

    def tasks(self, cells: Sequence[Cell], corpora: Mapping[str, Corpus]) -> list[Task]:
        """Every cell, with what is still wanted of it."""
        keys = [self.key(cell, corpora[cell.corpus]) for cell in cells]
        stages = [*map(stage_of, self.measures), *([RECORDS] if self.records else [])]
        missing = {name: set(self.store.stage(name).missing(keys)) for name in stages}
        return [
            Task(cell, key, frozenset(name for name in stages if key in missing[name]))
            for cell, key in zip(cells, keys, strict=True)
        ]

    def corpus(self, cell: Cell) -> Corpus:
        """The cell's texts: those that were sent, or else read."""
        if self.texts:
            sent: Corpus = held(self.texts[cell.corpus])
            return sent
        return _load_once(self.study.origin(cell.corpus), self.data_dir)

    # For workers that share no disk with us.

    def sent(self, corpora: Mapping[str, Corpus]) -> "tuple[Job, dict[str, Corpus | Parcel]]":
        """The job without a path of this machine, and what its workers must hold, by fingerprint."""
        files = {path: pack(place.parent, [place]) for path, place in self.study.files().items()}
        named = {path: fingerprint(parcel) for path, parcel in files.items()}
        texts = {name: corpus.fingerprint for name, corpus in corpora.items()}
        parcels: dict[str, Corpus | Parcel] = {corpus.fingerprint: corpus for corpus in corpora.values()}
        parcels |= {named[path]: parcel for path, parcel in files.items()}
        study = replace(self.study, base=Path(), sent=named)
        return replace(self, study=study, folder=Path(), data_dir=None, texts=texts), parcels

    def given(self, task: Task) -> Parcel:
        """What there is of a task already: its run, if that has ended."""
        folder = self.run_folder(task.key)
        return pack(self.folder, [folder]) if (folder / ENDED).exists() else {}


def stage_of(measure: Measure) -> str:
    """Where a measure's rows are, below the folder."""
    return f"{MEASURED}/{measure.key}"


def work_on_cell(job: Job, task: Task) -> dict[str, Any]:
    """Train one cell in this process, measure what is wanted, and return its record."""
    from heedful.study.kept_runs import trained_once
    from heedful.understanding.watch import Watch

    cell, corpus = task.cell, job.corpus(task.cell)
    model, training = cell.prepared
    run = trained_once(  # it may have been killed between its end and its record
        corpus,
        model=job.study.place(model),
        training=training,
        source={"source": cell.corpus, "preset": cell.model},
        out=job.run_folder(task.key) if job.keep_runs else None,
        device=job.device,
        callbacks=[] if job.watch is None else [Watch(settings=job.watch)],
    )
    record = record_of(job.study, cell, corpus, run)
    if RECORDS in task.wanted:
        job.store.stage(RECORDS).keep(task.key, [record])
    for measure in job.measures:
        if stage_of(measure) in task.wanted:
            job.stage(measure).keep(task.key, measure(run, corpus))
    return record


def record_of(study: Study, cell: Cell, corpus: Corpus, run: "Run") -> dict[str, Any]:
    """One row with all that made the cell, and what it came to."""
    model, training = cell.prepared
    return {
        "cell": cell.key,
        "study": study.name,
        "corpus": cell.corpus,
        "fingerprint": corpus.fingerprint,
        "model": cell.model,
        **model.to_dict(),
        **asdict(training),
        **run.result,
        "version": __version__,
    }


# A worker's cells come corpus by corpus, and reading one may take longer than a training.
_load_once = lru_cache(maxsize=2)(load_origin)
