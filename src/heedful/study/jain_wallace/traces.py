"""The traces of some texts of a run's corpus, batch by batch."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from heedful.data.batches import batches
from heedful.data.corpus import Corpus
from heedful.models.trace import Trace
from heedful.training.reopening import encode_for
from heedful.training.run import Run
from heedful.trials.stream import sample_rows

PLACES = 16_384  # B × T of one batch


def trace_batches(
    run: Run, corpus: Corpus, *, split: str = "test", limit: int | None = None, seed: int = 0
) -> Iterator[tuple[NDArray[np.int64], Trace, int]]:
    """The rows of the split that a batch holds, its trace, and how many texts came before it."""
    part = corpus.split(split)
    rows = sample_rows(len(part), limit, seed=seed)
    encoded = encode_for(run.model, part.take(rows))
    first = 0
    for batch in batches(encoded, token_budget=PLACES):
        yield rows[batch.rows], run.model.trace(batch.to(run.model.head.weight.device)), first
        first += len(batch)
