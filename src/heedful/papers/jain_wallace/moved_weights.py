"""What both tests of moved weights (Jain & Wallace, 2019, 4.2) share: rows, and claims about most texts."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from heedful.data.corpus import Corpus
from heedful.papers.debate.trainings import main_cells
from heedful.records import Claim, Finding

if TYPE_CHECKING:
    from heedful.models import Trace
    from heedful.papers.debate.stage import Held

FEWEST = 20  # texts that a claim needs
CONCENTRATED = 0.5  # a largest weight from here on is called concentrated


def moved_rows(
    run: "Held",
    corpus: Corpus,
    *,
    limit: int | None,
    measure: "Callable[[Trace], pd.DataFrame]",
) -> pd.DataFrame:
    """What a measure of a trace finds, by the text's number in the test split (`instance`)."""
    from heedful.trials.stream import sample_rows, texts_for, trace_trial, tried

    part = corpus.split("test")
    rows = sample_rows(len(part), limit)
    texts = texts_for(run.model, part.take(rows))
    table = tried(trace_trial(run.model, measure), run.model, texts, np.arange(len(rows)))
    decided = np.array(run.model.classes)[table["decided"].to_numpy()]
    return table.assign(instance=rows[table["instance"]], decided_class=decided)


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
