"""What a study can ask of a run beside its training: measures with one row per test text.

Each is a measure of the workbench. Its rows have `instance` (the text's number in the test split) and
`value`; where what is asked is a ratio of sums, also `over`, the sum below; and the same of baselines:
`shuffled`, `random`. What a model cannot give is one row without a value, and a sentence in
`why`. The texts and the chance of a trial do not follow the training's seed, so that seeds can be compared.
Axes: B texts, T words.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from heedful.data.corpus import Corpus
from heedful.errors import UserError
from heedful.study.measure import Measure

if TYPE_CHECKING:
    from torch import Tensor

    from heedful.data.batches import Batch
    from heedful.training.run import Run

PLACES = 4096  # B × T of one batch
EPSILON = 0.01  # that an adversary may move the output, as Jain & Wallace allow
RANDOM = 2**20  # samples of chance that no trial draws


def _of_texts(function: Callable[..., pd.DataFrame]) -> Callable[..., pd.DataFrame]:
    """A measure that says why it cannot be taken, instead of failing."""

    @wraps(function)
    def measured(run: "Run", corpus: Corpus, **options: Any) -> pd.DataFrame:
        try:
            return function(run, corpus, **options).sort_values("instance", ignore_index=True)
        except UserError as error:
            return pd.DataFrame([{"instance": -1, "value": np.nan, "why": str(error)}])

    return measured


@_of_texts
def accuracy(run: "Run", corpus: Corpus) -> pd.DataFrame:
    """Whether each test text is decided as its label says."""
    from heedful.models.trace import decisions
    from heedful.training.evaluation import encode_for, logits_of

    part = _test(corpus)
    decided = decisions(logits_of(run.model, encode_for(run.model, part))).numpy()
    right = (decided == np.asarray(part.labels)).astype(float)
    return pd.DataFrame({"instance": np.arange(len(part)), "value": right})


@_of_texts
def tau_gradient(run: "Run", corpus: Corpus, *, texts: int) -> pd.DataFrame:
    """Kendall's τ-b of attention with |gradient × input|, the attention held constant."""
    from heedful.trials.rankings.word_rankings import jain_wallace

    return _tau(run, corpus, texts, jain_wallace)


@_of_texts
def tau_leave_one_out(run: "Run", corpus: Corpus, *, texts: int) -> pd.DataFrame:
    """Kendall's τ-b of attention with how far the output moves when a word is left out."""
    from heedful.trials.rankings.word_rankings import left_out_change

    return _tau(run, corpus, texts, left_out_change)


@_of_texts
def optimality_gap(run: "Run", corpus: Corpus, *, texts: int) -> pd.DataFrame:
    """Items that attention's order needs to flip the decision, by those of the smallest set that does."""
    from heedful.trials.erasure.until_flip import erase

    def rows(batch: "Batch", first: int) -> dict[str, Any]:
        found = erase(run.model.trace(batch).numbered(first), ["attention", "shuffled"], samples=1)
        if found.smallest is None or found.kind != "exact":
            raise UserError("Smallest sets are not known for this head, so there is no optimality gap.")
        several = (found.smallest > 0) & (found.items > 1)
        columns = {}
        for name, ranking, least in (
            ("value", "attention", found.smallest),
            ("shuffled", "shuffled", found.smallest_shuffled),
        ):
            if least is not None:
                size = found.sizes[ranking][:, 0]
                needed = np.where(size < 0, found.items, size)  # never: all, the least it can be charged with
                columns[name] = np.where(several & (least > 0), needed / np.maximum(least, 1), np.nan)
        return columns

    return _gathered(run, corpus, texts, rows)


@_of_texts
def heat_map_skill(run: "Run", corpus: Corpus, *, texts: int) -> pd.DataFrame:
    """How well attention, painted, predicts random deletions: 0 is a blank map, 1 the best there can be."""
    import torch

    from heedful.trials.erasure.heat_map import effects_of
    from heedful.trials.erasure.random_deletions import read_deletions
    from heedful.trials.erasure.rereading import Reader
    from heedful.trials.rankings.word_rankings import attention, shuffled

    def rows(batch: "Batch", first: int) -> dict[str, Any]:
        reader = Reader(run.model, batch)
        mask = batch.mask.cpu()
        columns = {name: np.full(len(mask), np.nan) for name in ("value", "over", "shuffled")}
        maps = {
            name: of(reader).double().cpu() * mask
            for name, of in (("value", attention), ("shuffled", shuffled))
        }
        for found in read_deletions(reader):
            own = torch.from_numpy(found.rows)
            effects = effects_of(found, mask[own])
            blank = effects.told(mask[own].double(), mask[own])
            for name, sizes in maps.items():
                columns[name][found.rows] = effects.told(sizes[own], mask[own]) - blank
            columns["over"][found.rows] = effects.size - blank
        return columns

    return _gathered(run, corpus, texts, rows)


@_of_texts
def adversary(run: "Run", corpus: Corpus, *, texts: int) -> pd.DataFrame:
    """How far (JSD, nats) other weights can be that move the output by at most ε = 0.01."""
    from heedful.trials.weights.moved import farthest_weights

    def rows(batch: "Batch", first: int) -> dict[str, Any]:
        found = farthest_weights(run.model.trace(batch).numbered(first), epsilon=EPSILON)
        bound = np.where(found["kind"] == "exact", "", "at least")
        return {"value": found["divergence"].to_numpy(), "bound": bound}

    return _gathered(run, corpus, texts, rows)


@_of_texts
def attention_weights(run: "Run", corpus: Corpus, *, texts: int) -> pd.DataFrame:
    """The attention over each text, as a list: what seeds are compared by, without their models."""
    from heedful.models.word_attention import word_attention

    def rows(batch: "Batch", first: int) -> dict[str, Any]:
        weights, _ = word_attention(run.model, batch)
        own = [row[real].tolist() for row, real in zip(weights.detach().cpu(), batch.mask.cpu(), strict=True)]
        return {"value": [0.0] * len(own), "weights": own}

    return _gathered(run, corpus, texts, rows)


def _tau(run: "Run", corpus: Corpus, texts: int, other: Callable[[Any], "Tensor"]) -> pd.DataFrame:
    import torch

    from heedful.trials.agreement.ranks import kendall_tau
    from heedful.trials.erasure.rereading import Reader
    from heedful.trials.rankings.chance import chance_of
    from heedful.trials.rankings.word_rankings import attention

    def rows(batch: "Batch", first: int) -> dict[str, Any]:
        reader = Reader(run.model, batch)
        mask = (batch.mask & reader.attention[1]).cpu()
        own, random = attention(reader).cpu(), torch.from_numpy(chance_of(batch, 0, sample=RANDOM))
        return {
            "value": kendall_tau(own, other(reader).detach().cpu(), mask).numpy(),
            "random": kendall_tau(own, random, mask).numpy(),
        }

    return _gathered(run, corpus, texts, rows)


def _gathered(
    run: "Run", corpus: Corpus, texts: int, rows: "Callable[[Batch, int], dict[str, Any]]"
) -> pd.DataFrame:
    from heedful.training.evaluation import encode_for
    from heedful.trials.stream import sample_rows, tried

    part = _test(corpus)
    chosen = sample_rows(len(part), texts)
    few = encode_for(run.model, part.take(chosen))

    def trial(batch: "Batch", first: int) -> pd.DataFrame:
        return pd.DataFrame(rows(replace(batch, rows=chosen[batch.rows]), first))

    found = tried(trial, run.model, few, np.arange(len(chosen)), places=PLACES)
    return found.assign(instance=chosen[found["instance"]])


def _test(corpus: Corpus) -> Corpus:
    part = corpus.split("test")
    if not len(part):
        raise UserError(f"{corpus.name} has no test split, on which measures are taken.")
    return part


@dataclass(frozen=True)
class Asked:
    """One thing that a study file can ask for by name, and how it is shown."""

    function: Callable[..., pd.DataFrame]
    title: str  # in a table's head
    better: Literal["higher", "lower"] | None = None
    within: tuple[float, float] = (-np.inf, np.inf)
    unit: str = ""
    whole: bool = False  # whether it is cheap, and taken on the whole test split
    over_seeds: bool = False  # whether it is about pairs of runs

    def measure(self, texts: int) -> Measure:
        return Measure(self.function, {} if self.whole else {"texts": texts})

    @property
    def how(self) -> str:
        return (self.function.__doc__ or "").splitlines()[0].rstrip(".")


FARTHEST = float(np.log(2))
MEASURES = {
    "accuracy": Asked(accuracy, "accuracy", "higher", (0.0, 1.0), whole=True),
    "tau-gradient": Asked(tau_gradient, "τ gradient", "higher", (-1.0, 1.0)),
    "tau-leave-one-out": Asked(tau_leave_one_out, "τ leave-one-out", "higher", (-1.0, 1.0)),
    "optimality-gap": Asked(optimality_gap, "optimality gap", "lower", (1.0, np.inf)),
    "heat-map-skill": Asked(heat_map_skill, "heat-map skill", "higher", (-np.inf, 1.0)),
    "adversary": Asked(adversary, "adversary's JSD", None, (0.0, FARTHEST), "nats"),
    "seeds": Asked(attention_weights, "JSD over seeds", "lower", (0.0, FARTHEST), "nats", over_seeds=True),
}
