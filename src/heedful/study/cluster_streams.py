"""The streams of a trial (`trials.stream`) on a Dask cluster: one task a shard, which is some batches.

The trial, with the model in it, is sent once to each worker. A task brings the texts of its shard and takes
their rows back; we write them as if they had been made here. So a worker's memory is that of the model and of
one shard, however many texts there are, and ours that of the shards under way.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING
from uuid import uuid4

from heedful.data.batches import Batch
from heedful.errors import UserError
from heedful.study.engines import Engine
from heedful.study.held import held
from heedful.trials.stream import SPREAD, Trial

if TYPE_CHECKING:
    import pandas

SHARD = 8  # batches: some seconds of work, so that sending them costs little beside it

Numbered = tuple[str, Batch, int]
Rows = tuple[str, "pandas.DataFrame"]


@contextmanager
def streams_on(
    scheduler: str | None, workers: int | None = None, say: Callable[[str], None] = lambda sentence: None
) -> Iterator[None]:
    """Work on the streams inside the block on a cluster (see `Engine`); without one in this process."""
    if scheduler is None:
        if workers is not None:
            raise UserError("A trial of one model runs in this process, unless there is a --scheduler.")
        yield
        return
    from heedful.study.cluster import cluster

    with cluster(Engine(workers, scheduler, say)) as address:
        before = SPREAD.set(partial(_spread, address, say))
        try:
            yield
        finally:
            SPREAD.reset(before)


def _spread(
    address: str, say: Callable[[str], None], trial: Trial, batches: Iterator[Numbered]
) -> Iterator[Rows]:
    from heedful.study.cluster import spread

    name = f"trial-{uuid4().hex}"
    calls = ((name, shard) for shard in _shards(batches))
    for _, rows, fault in spread(shard_rows, calls, address=address, parcels={name: trial}, say=say):
        if fault is not None:
            raise UserError(f"A shard of texts failed on its worker: {fault}")
        yield from rows or ()


def shard_rows(name: str, shard: tuple[Numbered, ...]) -> list[Rows]:
    """On a worker: the rows of each batch of a shard, by the trial that was sent."""
    trial: Trial = held(name)
    return [(key, trial(batch, first)) for key, batch, first in shard]


def _shards(batches: Iterator[Numbered]) -> Iterator[tuple[Numbered, ...]]:
    while shard := tuple(islice(batches, SHARD)):
        yield shard
