"""One row for each test text of a trained model: all that the paper's tests need, measured once.

The rows are those of `trials.streamed_trials.layer_trial` at the final attention layer: the sizes and masses
at the first flip by each ranking, the smallest set, and the top item of each ranking erased alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from heedful.data.batches import make_batch, plan_batches
from heedful.data.corpus import Corpus
from heedful.study.serrano_smith.cells import MODELS, MOST_TESTED, cells
from heedful.study.workbench import Bench, Measure
from heedful.training.reopening import encode_for
from heedful.training.run import Run
from heedful.trials.multi import Erasures
from heedful.trials.single import SingleErasures
from heedful.trials.stream import PLACES, sample_rows
from heedful.trials.streamed_trials import layer_trial, single_of

PAPER = ("random", "attention", "gradient", "product")  # in the order of the paper's legends
RANKINGS = (*PAPER, "contribution", "shuffled")
COORDINATES = ("corpus", "model", "seed")
MEASURE = Measure("heedful.study.serrano_smith.rows:erasure_rows", {"most": MOST_TESTED})


def erasure_rows(run: Run, corpus: Corpus, *, most: int | None = None, seed: int = 0) -> pd.DataFrame:
    """A measure: the rows of the test split, or of `most` of its texts, drawn by the seed."""
    test = corpus.split("test")
    chosen = sample_rows(len(test), most, seed=seed)
    texts = encode_for(run.model, test)
    trial = layer_trial(run.model, RANKINGS, seed=seed)
    device = next(run.model.parameters()).device
    first, parts = 0, []
    for part in plan_batches(texts.lengths[chosen], token_budget=PLACES):
        batch = make_batch(texts, chosen[part]).to(device)
        parts.append(trial(batch, first).assign(instance=chosen[part]))
        first += len(part)
    return pd.concat(parts).sort_values("instance", ignore_index=True)


def rows_of(bench: Bench, models: tuple[str, ...] = MODELS) -> pd.DataFrame:
    """The rows of every cell of an experiment, with its corpus, model and seed."""
    return bench.measured(cells(bench, models), MEASURE)


@dataclass(frozen=True, eq=False)
class CellRows:
    """The rows of one trained model as the trials know them."""

    coordinates: dict[str, Any]  # corpus, model, seed
    frame: pd.DataFrame

    @cached_property
    def erasures(self) -> Erasures:
        return Erasures.from_frame(self.frame)

    @cached_property
    def rankings(self) -> list[str]:
        """Those of the paper's rankings that were tried."""
        return [name for name in PAPER if name in self.erasures.sizes]

    def single(self, ranking: str) -> SingleErasures:
        return single_of(self.frame, ranking)


def each_cell(rows: pd.DataFrame) -> Iterator[CellRows]:
    """The trained models of a frame of rows, in their order."""
    for key, frame in rows.groupby(list(COORDINATES), sort=False):
        about = dict(zip(COORDINATES, key, strict=True))
        yield CellRows(about, frame.reset_index(drop=True))
