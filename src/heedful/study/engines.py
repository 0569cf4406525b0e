"""Where the work on cells is done: in processes of this machine, or by the workers of a Dask cluster.

Both take the same job and the same tasks, and leave the same files. Processes are the default and need
nothing else; a cluster needs the extra `cluster` and is imported when it is asked for.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heedful.data.corpus import Corpus
from heedful.errors import UserError
from heedful.settings import MOST_WORKERS
from heedful.study.cells import Job, Task
from heedful.study.processes import cores, in_processes

Done = Callable[[Task, Any], None]
LOCAL = "local"  # a cluster that is started here, on the loopback address, and ends with the work


@dataclass(frozen=True)
class Engine:
    """Processes of this machine, unless a Dask scheduler is named."""

    workers: int | None = None  # at a time; by default one per core. A scheduler has its own.
    scheduler: str | None = None  # tcp://HOST:PORT, or "local"
    say: Callable[[str], None] = lambda sentence: None

    def __post_init__(self) -> None:
        if self.workers is not None and not 1 <= self.workers <= MOST_WORKERS:
            raise UserError(f"There may be 1 to {MOST_WORKERS:,} workers, but workers is {self.workers}.")
        if self.workers is not None and self.scheduler not in (None, LOCAL):
            raise UserError(
                f"The workers of {self.scheduler} are those that came to it: leave out the number of workers."
            )

    @property
    def at_once(self) -> int:
        """How many cells are worked on at a time, as far as it is known before."""
        if self.scheduler not in (None, LOCAL):
            from heedful.study.cluster import count_workers

            return count_workers(str(self.scheduler))
        return self.workers or cores()

    def run(
        self,
        work: Callable[[Job, Task], Any],
        job: Job,
        tasks: Sequence[Task],
        corpora: Mapping[str, Corpus],
        *,
        done: Done | None = None,
    ) -> Iterator[tuple[Task, str]]:
        """Do `work(job, task)` for all tasks; yield those that failed, with a sentence.

        `done` hears of each task with what its work gave, or None where it failed.
        """
        if self.scheduler is None:
            return in_processes(work, job, tasks, workers=self.workers, done=done)
        from heedful.study.cluster import cells_on_cluster

        return cells_on_cluster(work, job, tasks, corpora, engine=self, done=done)
