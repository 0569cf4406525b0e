"""A corpus through a trial, batch by batch: results go to Parquet as they come, and nothing else is kept.

The folder is a store (`heedful.store`) with one part for each batch, and `stream.json`, which says what was
asked. A stream that was killed goes on where it stopped, and a folder made from other settings is refused.
Memory is that of one batch, however many there are.

Batches are of like length, the longest texts first, under a budget of B × T places. A text's number is its
row in what was given (coordinate `instance`); `first` counts the texts in the order in which they are walked.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.data.batches import Batch, make_batch, plan_batches
from heedful.data.corpus import Corpus
from heedful.data.encoded import EncodedTexts
from heedful.errors import UserError
from heedful.models.building import Classifier
from heedful.models.subject import Subject
from heedful.models.trace import Trace
from heedful.records import read_rows
from heedful.records.rows import read_parts
from heedful.store import Store
from heedful.training.evaluation import encode_for

if TYPE_CHECKING:
    import pandas

Trial = Callable[[Batch, int], "pandas.DataFrame"]  # trial(batch, first): one row per instance
# Makes the rows of batches elsewhere, and gives them as they come (`study.cluster_streams`).
Spread = Callable[[Trial, Iterator[tuple[str, Batch, int]]], Iterator[tuple[str, "pandas.DataFrame"]]]
SPREAD: "ContextVar[Spread | None]" = ContextVar("SPREAD", default=None)
SCHEMA = 2
PLACES = 16_384  # B × T of the texts of one batch; their variants are read in batches of their own
RECIPE = "stream.json"
# Texts by which a split is summed up: a share is then known to half a percent, and a bootstrap can keep its
# draws (see `records.resampling`). Of a larger split half as many are drawn (0.8 percent), so that the memory
# of a small split is enough for any.
MOST_SUMMED, DRAWN = 1 << 15, 1 << 14


@dataclass(frozen=True)
class Streamed:
    """What a stream left: where, how many instances, and how many batches were there from before."""

    folder: Path
    instances: int
    batches: int
    skipped: int

    def summed(self, *, seed: int = 0) -> "pandas.DataFrame":
        """The rows that the split is summed up by: all, or some of very many."""
        return self.rows(None if self.instances <= MOST_SUMMED else DRAWN, seed=seed)

    def rows(self, most: int | None = None, *, seed: int = 0) -> "pandas.DataFrame":
        """One row per instance, by its number; of more than `most`, that many drawn by the seed.

        All parts are walked then, and no more than one of them and what was drawn is held.
        """
        if most is None or self.instances <= most:
            return read_rows(self.folder).sort_values("instance", ignore_index=True)
        import pandas

        drawn = np.zeros(self.instances, bool)
        drawn[sample_rows(self.instances, most, seed=seed)] = True
        kept, first = [], 0
        for part in sorted(self.folder.glob("part-*.parquet")):
            rows = read_parts([part])
            kept.append(rows[drawn[first : first + len(rows)]])
            first += len(rows)
        return pandas.concat(kept).sort_values("instance", ignore_index=True)


def stream(
    trial: Trial,
    subject: Subject,
    texts: "EncodedTexts | Sequence[str]",
    folder: str | Path,
    *,
    recipe: Mapping[str, Any],
    rows: "Sequence[int] | NDArray[np.int64] | None" = None,
    places: int = PLACES,
    progress: Callable[[int], None] | None = None,
) -> Streamed:
    """Run a trial over texts, writing the rows of each batch before the next begins.

    `recipe` says what is asked (plain JSON values): a folder with other answers is refused. `rows` are the
    texts to take, by default all. `progress` is told how many instances are done, those from before too.
    """
    folder = Path(folder)
    chosen = np.arange(len(texts)) if rows is None else np.asarray(rows, dtype=np.int64)
    if not len(chosen):
        raise UserError("There is no text to try: give at least one.")
    plan = planned(texts, chosen, places=places)
    asked = {"schema": SCHEMA, "places": places, "texts": _digest(plan), **recipe}
    parts = {f"{number:06d}": part for number, part in enumerate(plan)}
    firsts = dict(zip(parts, np.cumsum([0, *map(len, plan)]).tolist(), strict=False))

    def tried(key: str) -> "pandas.DataFrame":
        part = parts[key]
        return trial(batch_of(subject, texts, part), firsts[key]).assign(instance=part)

    def done(key: str) -> None:
        if progress is not None:
            progress(len(parts[key]))

    with Store(folder, asked, mark=RECIPE).opened() as store:
        stage, elsewhere = store.stage(), SPREAD.get()
        if elsewhere is None:
            skipped = stage.fill(list(parts), tried, done=done)
        else:
            missing = stage.missing(parts)
            for key in parts.keys() - set(missing):
                done(key)
            waiting = ((key, batch_of(subject, texts, parts[key]), firsts[key]) for key in missing)
            for key, frame in elsewhere(trial, waiting):
                stage.keep(key, frame.assign(instance=parts[key]))
                done(key)
            skipped = len(parts) - len(missing)
    return Streamed(folder, len(chosen), len(plan), skipped)


def sample_rows(count: int, limit: int | None, *, seed: int = 0) -> NDArray[np.int64]:
    """The numbers of `limit` of so many texts, drawn by the seed, in their order; all without a limit."""
    if limit is None or limit >= count:
        return np.arange(count)
    if limit < 1:
        raise UserError(f"A limit on the texts must be at least 1, not {limit}.")
    return np.sort(np.random.default_rng(seed).permutation(count)[:limit])


def trace_trial(
    subject: Subject, *measures: "Callable[[Trace], pandas.DataFrame]", level: str = "final"
) -> Trial:
    """What measures of a trace find on each batch, side by side: one row per instance."""

    def trial(batch: Batch, first: int) -> "pandas.DataFrame":
        import pandas

        trace = subject.trace(batch, level).numbered(first)
        found = pandas.concat([measure(trace) for measure in measures], axis=1)
        return found.loc[:, ~found.columns.duplicated()]  # two may say what was decided

    return trial


def texts_for(subject: Subject, corpus: Corpus) -> "EncodedTexts | list[str]":
    """The texts of a corpus as any subject is streamed: a model of ours has their ids at once."""
    return encode_for(subject, corpus) if isinstance(subject, Classifier) else list(corpus.texts)


def planned(
    texts: "EncodedTexts | Sequence[str]", rows: NDArray[np.int64], *, places: int = PLACES
) -> list[NDArray[np.int64]]:
    """The rows in batches of like length, the longest first, each of at most so many places B × T."""
    return [rows[part] for part in plan_batches(lengths_of(texts)[rows], token_budget=places)]


def walk(
    subject: Subject,
    texts: "EncodedTexts | Sequence[str]",
    rows: NDArray[np.int64],
    *,
    places: int = PLACES,
) -> Iterator[Batch]:
    """The texts of these rows, batch by batch, for any subject; `batch.rows` are their numbers."""
    for part in planned(texts, rows, places=places):
        yield batch_of(subject, texts, part)


def tried(
    trial: Trial,
    subject: Subject,
    texts: "EncodedTexts | Sequence[str]",
    rows: NDArray[np.int64],
    *,
    places: int = PLACES,
) -> "pandas.DataFrame":
    """What a trial finds for the texts of these rows, in memory, by their numbers."""
    import pandas

    first, parts = 0, []
    for batch in walk(subject, texts, rows, places=places):
        parts.append(trial(batch, first).assign(instance=batch.rows))
        first += len(batch)
    return pandas.concat(parts).sort_values("instance", ignore_index=True)


def lengths_of(texts: "EncodedTexts | Sequence[str]") -> NDArray[np.int64]:
    """About how many words (n,) each text has: only to put texts of like length together."""
    if isinstance(texts, EncodedTexts):
        return np.asarray(texts.lengths)
    return np.array([len(text.split()) + 1 for text in texts])


def batch_of(subject: Subject, texts: "EncodedTexts | Sequence[str]", rows: NDArray[np.int64]) -> Batch:
    """The texts of these rows as this subject reads them, where its parameters are."""
    if isinstance(texts, EncodedTexts):
        parameters: Iterator[torch.Tensor] = getattr(subject, "parameters", lambda: iter(()))()
        device = next((parameter.device for parameter in parameters), torch.device("cpu"))
        return make_batch(texts, rows).to(device)
    return replace(subject.encode([texts[row] for row in rows]), rows=rows)


def _digest(plan: Sequence[NDArray[np.int64]]) -> str:
    """Changes with the texts that are taken, their order and the cut into batches."""
    digest = hashlib.blake2b(digest_size=8)
    for part in plan:
        digest.update(b"%d " % len(part) + part.tobytes())
    return digest.hexdigest()
