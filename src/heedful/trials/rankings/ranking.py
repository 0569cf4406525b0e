"""What a ranking is, ours or a user's: one signature for the items of a layer and for the words of texts.

    ranking(seen, *, seed=0) -> one score for each item, the highest most important

`seen` is a `Trace` for items of an attention layer, with scores (B,N), and a `Reader` for words of texts,
with scores (B,T) for its `batch`, read by its `subject`. What stands on padding is not read. Chance belongs
to the seed and to the numbers of the instances (`trace.first`, `batch.rows`).
"""

from collections.abc import Callable
from typing import Any, Protocol

from heedful.data.batches import Batch
from heedful.models.subject import Subject


class Ranking(Protocol):
    """Scores are a tensor, an array, or `Doubted`, which has the method's own error too."""

    def __call__(self, seen: Any, /, *, seed: int = 0) -> Any: ...


def ranking_of(scores: Callable[[Subject, Batch], Any]) -> Ranking:
    """The ranking of a function of subject and batch, such as one that asks a transformer alone."""

    def ranking(reader: Any, /, *, seed: int = 0) -> Any:
        return scores(reader.subject, reader.batch)

    return ranking
