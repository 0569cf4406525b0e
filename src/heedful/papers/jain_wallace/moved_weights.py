"""What both tests of moved weights (Jain & Wallace, 2019, 4.2) share: traces, and claims about most texts."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from heedful.data.corpus import Corpus
from heedful.papers.debate.trainings import main_cells
from heedful.records import Claim, Finding

if TYPE_CHECKING:
    from heedful.models import Trace
    from heedful.training import Run

PLACES = 16_384  # B × T of one batch
FEWEST = 20  # texts that a claim needs
CONCENTRATED = 0.5  # a largest weight from here on is called concentrated


def trace_batches(
    run: "Run", corpus: Corpus, *, split: str = "test", limit: int | None = None, seed: int = 0
) -> "Iterator[tuple[NDArray[np.int64], Trace, int]]":
    """The rows of the split that a batch holds, its trace, and how many texts came before it."""
    from heedful.data.batches import batches
    from heedful.training.texts_of_run import encode_for
    from heedful.trials.stream import sample_rows

    part = corpus.split(split)
    rows = sample_rows(len(part), limit, seed=seed)
    encoded = encode_for(run.model, part.take(rows))
    first = 0
    for batch in batches(encoded, token_budget=PLACES):
        yield rows[batch.rows], run.model.trace(batch.to(run.model.head.weight.device)), first
        first += len(batch)


def most_texts(
    table: pd.DataFrame, statement: str, source: str, share: Callable[..., Finding | None]
) -> Iterator[Claim]:
    """That the share of such texts is above a half, of all texts and of those with concentrated attention."""
    for where, rows in main_cells(table):
        asked = {
            statement: rows,
            "that is so even where the largest weight is at least a half": rows[
                rows["largest"] >= CONCENTRATED
            ],
        }
        for what, chosen in asked.items():
            effect = share(chosen, **where)
            if effect is not None and effect.count >= FEWEST:
                on = f"On {where['corpus']}, {what}"
                yield Claim.decided(on, source, effect=effect, comparison=">", threshold=0.5)
