"""What is asked of each batch of texts: at the words, at the layer, and of the weights themselves.

Each function makes a trial for `trials.stream`: one row an instance. Words that the subject does not read are
deleted first, so that every measure sees the same words.

Axes: B texts, T words.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.batches import Batch
from heedful.models.subject import Subject
from heedful.models.trace import Trace
from heedful.trials.adversary import Adversary, exact_adversary
from heedful.trials.ascent import ascent_adversary
from heedful.trials.chance import chance
from heedful.trials.deletion import delete_words
from heedful.trials.erased import decided
from heedful.trials.kendall import kendall
from heedful.trials.multi import erase
from heedful.trials.permutation import permute_weights
from heedful.trials.rankings import shuffle_weights
from heedful.trials.rereading import Reader
from heedful.trials.search import beam_flips
from heedful.trials.single import single_erasures
from heedful.trials.skill import SKILL_SHARES
from heedful.trials.stream import Trial
from heedful.trials.word_erasures import word_erasures
from heedful.trials.word_gradients import Doubted
from heedful.trials.word_rankings import OwnRanking, scores_with, shuffled

EPSILON = 0.01  # how far the adversary may move the output
CONSTANT = 1e-4  # weights that differ by less than this share of the largest are constant
LEAST = 1e-12  # of a random weight before it is normalised
LEAVE_ONE_OUT = "leave-one-out"
Marked = Callable[[Batch], Tensor]  # which words (B,T) go with one class


def read_only(subject: Subject, batch: Batch) -> tuple[Reader, Tensor]:
    """A reader of the batch without the words that the subject does not read; and which it reads (B,T)."""
    reader = Reader(subject, batch)
    read = reader.attention[1]
    unread = batch.mask & ~read
    return (Reader(subject, delete_words(batch, unread)) if unread.any() else reader), read


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
        reader, _ = read_only(subject, batch)
        batch = reader.batch
        scores = rankings_of(reader, extra, seed=seed)
        erasures = word_erasures(
            subject,
            batch,
            ["random", "shuffled"],
            own=scores,
            shares=SKILL_SHARES,
            subsets=0,
            seed=seed,
            reader=reader,
        )
        mask, weights = batch.mask, scores["attention"]
        # Attention has no sign, so it is compared with how far a word moves the decision, not whereto, as
        # Jain & Wallace (2019) do.
        alone, slope = scores[LEAVE_ONE_OUT].abs(), scores["gradient"].abs()
        dealt = shuffled(reader, seed=seed)
        columns: dict[str, Tensor | NDArray] = {
            "tau_attention": kendall(weights, alone, mask).tau,
            "tau_gradient": kendall(slope, alone, mask).tau,
            "tau_shuffled": kendall(dealt, alone, mask).tau,
            "tau_both": kendall(weights, slope, mask).tau,
            **_beside_contribution({**scores, "shuffled": dealt}, mask),
            "constant": _constant(weights, mask),
        }
        if marked is not None:
            there = marked(batch) & mask
            total = weights.sum(1).clamp(min=1e-12)
            columns["label_mass"] = (weights * there).sum(1) / total
            columns["label_shuffled"] = (dealt * there).sum(1) / total
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
        nulls = nulls_of(trace, seed=seed, first=first)
        for name, own in (("attention", trace), ("shuffled", nulls["shuffled"])):
            alone = single_erasures(own, seed=seed, first=first)
            frame[f"top_{name}"], frame[f"other_{name}"] = alone.top_flips, alone.other_flips
        for name, other in nulls.items():
            frame[f"decided_{name}"] = decided(other).cpu().numpy()
        return frame

    return trial


def weights_trial(subject: Subject, *, seed: int = 0) -> Trial:
    """Other weights for the same output: the exact adversary, or one by ascent; and permuted weights.

    The adversary of shuffled and of random weights stands beside it.
    """

    def trial(batch: Batch, first: int) -> pd.DataFrame:
        trace = subject.trace(batch)
        exact = trace.linear is not None and trace.linear.out_features <= 2

        def farthest(of: Trace) -> Adversary:
            if exact:
                return exact_adversary(of, EPSILON)
            return ascent_adversary(of, EPSILON, restarts=2, steps=150, rate=0.05, seed=seed, first=first)

        found = farthest(trace)
        permuted = permute_weights(trace, seed=seed, first=first)
        columns = {
            "divergence": found.divergence,
            "change": found.change,
            "permuted": permuted.change,
            "largest": permuted.largest,
        }
        for name, other in nulls_of(trace, seed=seed, first=first).items():
            columns[f"divergence_{name}"] = farthest(other).divergence
        frame = pd.DataFrame({name: values.cpu().numpy() for name, values in columns.items()})
        return frame.assign(exact=exact)

    return trial


def nulls_of(trace: Trace, *, seed: int = 0, first: int = 0) -> dict[str, Trace]:
    """The trace with its weights shuffled among the tokens, and with weights drawn at random.

    Random ones are drawn evenly from all weights that sum to 1: exponential numbers, normalised.
    """
    count, *rows, slots = trace.weights.shape
    lots = [chance(seed, (count, slots), first=first, sample=2**21 + row) for row in range(math.prod(rows))]
    drawn = -torch.log1p(-torch.from_numpy(np.stack(lots, 1)).reshape(trace.weights.shape))
    drawn = drawn.clamp(min=LEAST).to(trace.weights).masked_fill(~trace.mask, 0)
    drawn = drawn / drawn.sum(-1, keepdim=True).clamp(min=LEAST)
    return {
        "shuffled": shuffle_weights(trace, seed=seed, first=first),
        "random": replace(trace, weights=drawn),
    }


def _beside_contribution(scores: Mapping[str, Tensor], mask: Tensor) -> dict[str, Tensor]:
    """τ with contributions, which are compared with where leaving out is no yardstick."""
    if "contribution" not in scores:
        return {}
    own = scores["contribution"].abs()
    return {
        f"tau_{name}_contribution": kendall(scores[name].abs(), own, mask).tau
        for name in ("attention", "gradient", "shuffled")
    }


def _constant(weights: Tensor, mask: Tensor) -> Tensor:
    highest = weights.masked_fill(~mask, -torch.inf).amax(1)
    lowest = weights.masked_fill(~mask, torch.inf).amin(1)
    return (highest - lowest) <= CONSTANT * highest
