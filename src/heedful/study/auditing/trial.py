"""What is asked of each batch of texts: at the words, at the layer, and of the weights themselves.

Each function makes a trial for `trials.stream`: one row an instance. Words that the subject does not read are
deleted first, so that every measure sees the same words.

Axes: B texts, T words.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.batches import Batch
from heedful.models.subject import Subject
from heedful.models.word_attention import word_attention
from heedful.trials.adversary import exact_adversary
from heedful.trials.ascent import ascent_adversary
from heedful.trials.deletion import delete_words
from heedful.trials.kendall import kendall
from heedful.trials.multi import erase
from heedful.trials.permutation import permute_weights
from heedful.trials.rereading import Reader
from heedful.trials.search import beam_flips
from heedful.trials.single import single_erasures
from heedful.trials.skill import SKILL_SHARES
from heedful.trials.stream import Trial
from heedful.trials.word_erasures import word_erasures
from heedful.trials.word_gradients import Doubted
from heedful.trials.word_rankings import OwnRanking, scores_with

EPSILON = 0.01  # how far the adversary may move the output
CONSTANT = 1e-4  # weights that differ by less than this share of the largest are constant
LEAVE_ONE_OUT = "leave-one-out"
Marked = Callable[[Batch], Tensor]  # which words (B,T) go with one class


def read_only(subject: Subject, batch: Batch) -> tuple[Batch, Tensor]:
    """The batch without the words that the subject does not read, and which those were not (B,T)."""
    _, read = word_attention(subject, batch)
    unread = batch.mask & ~read
    return (delete_words(batch, unread) if unread.any() else batch), read


def rankings_of(
    reader: Reader, extra: Mapping[str, OwnRanking] | None = None, *, seed: int = 0
) -> dict[str, Tensor]:
    """The scores (B,T) of all rankings that an audit compares: attention, and what could be shown instead."""
    names: list[str] = ["attention", "gradient", LEAVE_ONE_OUT]
    if reader.batch.sentences is None and reader.trace.linear is not None:
        names.append("contribution")
    found: dict[str, Tensor] = {}
    asked: dict[str, str | OwnRanking] = {name: name for name in names}
    for name, ranking in {**asked, **(extra or {})}.items():
        scores = scores_with(reader, ranking, seed=seed)
        found[name] = (scores.scores if isinstance(scores, Doubted) else scores).double()
    return found


def words_trial(
    subject: Subject,
    *,
    extra: Mapping[str, OwnRanking] | None = None,
    marked: Marked | None = None,
    seed: int = 0,
) -> Trial:
    """Words deleted in the order of each ranking; τ of attention and gradient with leave-one-out; and where
    attention lies."""

    def trial(batch: Batch, first: int) -> pd.DataFrame:
        batch, _ = read_only(subject, batch)
        reader = Reader(subject, batch)
        scores = rankings_of(reader, extra, seed=seed)
        erasures = word_erasures(
            subject, batch, ["random", "shuffled"], own=scores, shares=SKILL_SHARES, subsets=0, seed=seed
        )
        mask, weights = batch.mask, scores["attention"]
        # Attention has no sign, so it is compared with how far a word moves the decision, not whereto, as
        # Jain & Wallace (2019) do.
        alone, slope = scores[LEAVE_ONE_OUT].abs(), scores["gradient"].abs()
        columns: dict[str, Tensor | NDArray] = {
            "tau_attention": kendall(weights, alone, mask).tau,
            "tau_gradient": kendall(slope, alone, mask).tau,
            "tau_both": kendall(weights, slope, mask).tau,
            **_beside_contribution(scores, mask),
            "constant": _constant(weights, mask),
        }
        if marked is not None:
            there = marked(batch) & mask
            columns["label_mass"] = (weights * there).sum(1) / weights.sum(1).clamp(min=1e-12)
            columns["label_words"] = there.sum(1) / mask.sum(1)
        return erasures.to_frame().assign(**{name: np.asarray(values) for name, values in columns.items()})

    return trial


def layer_trial(subject: Subject, *, search: bool = True, seed: int = 0) -> Trial:
    """Items erased at the layer, in the order of attention and of shuffled weights, and the smallest sets.

    Those are exact for a linear head; else a beam search gives an upper bound, if `search`.
    """

    def trial(batch: Batch, first: int) -> pd.DataFrame:
        trace = subject.trace(batch)
        small = None
        if trace.linear is None and search:
            small = beam_flips(trace, width=4, depth=4, seed=seed, first=first)
        frame = erase(
            trace,
            ["attention", "random", "shuffled"],
            smallest=small,
            samples=1,
            seed=seed,
            first=first,
        ).to_frame()
        for name in ("attention", "shuffled"):
            alone = single_erasures(trace, name, seed=seed, first=first)
            frame[f"top_{name}"], frame[f"other_{name}"] = alone.top_flips, alone.other_flips
        return frame

    return trial


def weights_trial(subject: Subject, *, seed: int = 0) -> Trial:
    """Other weights for the same output: the exact adversary, or one by ascent; and permuted weights."""

    def trial(batch: Batch, first: int) -> pd.DataFrame:
        trace = subject.trace(batch)
        exact = trace.linear is not None and trace.linear.out_features <= 2
        found = (
            exact_adversary(trace, EPSILON)
            if exact
            else ascent_adversary(trace, EPSILON, restarts=2, steps=150, rate=0.05, seed=seed, first=first)
        )
        permuted = permute_weights(trace, seed=seed, first=first)
        return pd.DataFrame(
            {
                "divergence": found.divergence.cpu().numpy(),
                "change": found.change.cpu().numpy(),
                "exact": exact,
                "permuted": permuted.change.cpu().numpy(),
                "largest": permuted.largest.cpu().numpy(),
            }
        )

    return trial


def scores_by_row(scores: Sequence[NDArray | Tensor | Sequence[float]]) -> OwnRanking:
    """A ranking from one's own scores, one array a text of the audited split, in its order.

    An array has one score a word, (n,), or an attribution (n,E), as Captum gives, which is summed.
    """

    def ranking(subject: Subject, batch: Batch) -> Tensor:
        found = torch.zeros(batch.mask.shape, dtype=torch.float64)
        counts = batch.mask.sum(1).tolist()
        for place, (row, count) in enumerate(zip(batch.rows, counts, strict=True)):
            own = torch.as_tensor(scores[int(row)]).detach().cpu().double()
            own = own.sum(-1) if own.dim() == 2 else own
            found[place, :count] = own[:count]
        return found.to(batch.mask.device)

    return ranking


def _beside_contribution(scores: Mapping[str, Tensor], mask: Tensor) -> dict[str, Tensor]:
    """τ with contributions, which are compared with where leaving out is no yardstick."""
    if "contribution" not in scores:
        return {}
    own = scores["contribution"].abs()
    return {
        f"tau_{name}_contribution": kendall(scores[name].abs(), own, mask).tau
        for name in ("attention", "gradient")
    }


def _constant(weights: Tensor, mask: Tensor) -> Tensor:
    highest = weights.masked_fill(~mask, -torch.inf).amax(1)
    lowest = weights.masked_fill(~mask, torch.inf).amin(1)
    return (highest - lowest) <= CONSTANT * highest
