"""Rankings of a subject's words: whose deletion should matter most.

Attention, gradients at the embedded words, what happens when words are left out, LIME, chance; and a user's
own scores, such as an array from Captum. Scores are (B,T), the highest most important; what stands on padding
is not read. Chance belongs to the text (`batch.rows`) and the word, so neither padding nor the cut into
batches matters; it also breaks ties.

Axes: B texts, T words.
"""

from collections.abc import Sequence
from functools import partial

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from heedful.data.batches import Batch
from heedful.errors import UserError, choose_from
from heedful.models.classifier import dot_score
from heedful.models.subject import Subject, What, gives
from heedful.models.trace import probabilities
from heedful.trials.erasure.linear_votes import in_numpy
from heedful.trials.erasure.rereading import Reader
from heedful.trials.rankings import layer_rankings as layer
from heedful.trials.rankings.chance import chance_of, falling
from heedful.trials.rankings.ranking import Ranking
from heedful.trials.rankings.regressions import REGRESSIONS, lime, shapley
from heedful.trials.rankings.word_gradients import (
    Doubted,
    can_hold,
    dot_gradient_times_input,
    gradient_times_input,
    integrated_gradients,
)
from heedful.trials.weights.divergence import total_variation


def attention(reader: Reader, *, seed: int = 0) -> Tensor:
    """The attention to each word; in a hierarchical model its weight × its sentence's."""
    return reader.attention[0].double()


def gradient(reader: Reader, *, seed: int = 0) -> Tensor:
    """Gradient × input for the decided class, through the attention too."""
    score = dot_score(reader.subject)
    if score is not None:
        return dot_gradient_times_input(score, reader.trace)
    return gradient_times_input(reader.subject, reader.batch)


def gradient_held(reader: Reader, *, seed: int = 0) -> Tensor:
    """Gradient × input for the decided class, with the attention held constant."""
    return gradient_times_input(reader.subject, reader.batch, held=True)


def jain_wallace(reader: Reader, *, seed: int = 0) -> Tensor:
    """|gradient × input| with the attention held constant, as Jain & Wallace (2019) take it: no sign."""
    return gradient_times_input(reader.subject, reader.batch, held=True).abs()


def integrated(reader: Reader, *, seed: int = 0) -> Doubted:
    """Integrated gradients from the zero vector, with their own completeness error."""
    return integrated_gradients(reader.subject, reader.batch)


def leave_one_out(reader: Reader, *, seed: int = 0) -> Tensor:
    """How far the log-odds of the decided class fall when the word is taken out; 0 on padding.

    They order words as the fall of its probability does, and do not saturate.
    """
    alone = reader.each_out()  # (B,T,K)
    fall = reader.lead(reader.logits)[:, None] - reader.lead(alone.transpose(0, 1)).T
    return fall.masked_fill(~reader.batch.mask, 0)


def left_out_change(reader: Reader) -> Tensor:
    """The total variation distance (B,T) of the output without each single word; 0 on padding."""
    moved = total_variation(probabilities(reader.each_out()), probabilities(reader.logits)[:, None])
    return moved.masked_fill(~reader.batch.mask, 0)


def by_lime(reader: Reader, *, seed: int = 0) -> Doubted:
    """The weights of a linear model on masked texts."""
    return lime(reader, seed=seed)


def by_shapley(reader: Reader, *, seed: int = 0) -> Doubted:
    """Shapley values of the probability of the decided class, by regression on random deletions."""
    return shapley(reader, seed=seed)


def contribution(reader: Reader, *, seed: int = 0) -> Tensor:
    """What each word adds to the margin at the attention layer (its exact Shapley value there).

    For subjects with a linear head over one row of weights, whose items are words.
    """
    if reader.batch.sentences is not None:
        raise UserError(
            "Contributions of words need attention over words next to the head: this has two levels."
        )
    added = layer.contribution(reader.trace)
    return torch.nn.functional.pad(added, (0, reader.batch.mask.shape[1] - added.shape[1]))


def random(reader: Reader, *, seed: int = 0, sample: int = 0) -> Tensor:
    """By chance; each `sample` is another draw."""
    return torch.from_numpy(chance_of(reader.batch, seed, sample=1 + sample)).to(reader.batch.mask.device)


def shuffled(reader: Reader, *, seed: int = 0) -> Tensor:
    """The attention to the words, permuted among the words of the text.

    The subject still reads by its own weights, so this is what a ranking as uneven as attention gets by
    chance.
    """
    return dealt_anew(attention(reader), reader.batch, seed=seed)


def dealt_anew(weights: Tensor, batch: Batch, *, seed: int = 0) -> Tensor:
    """Weights (B,T) permuted among the words of each text."""
    lot = torch.from_numpy(chance_of(batch, seed, sample=-(2**22))).to(weights)
    order = lot.masked_fill(~batch.mask, 2).argsort(1)  # words first, by their lots
    return torch.zeros_like(weights).scatter_(1, order, weights)


WORD_RANKINGS: dict[str, Ranking] = {
    "attention": attention,
    "gradient": gradient,
    "gradient-held": gradient_held,
    "jain-wallace": jain_wallace,
    "integrated": integrated,
    "leave-one-out": leave_one_out,
    "lime": by_lime,
    "shapley": by_shapley,
    "contribution": contribution,
    "random": random,
    "shuffled": shuffled,
}


_NEEDED: dict[str, What] = {
    "attention": "attention",
    "shuffled": "attention",
    "gradient": "embed",
    "gradient-held": "embed",
    "jain-wallace": "embed",
    "integrated": "embed",
}
_HELD = frozenset({"gradient-held", "jain-wallace"})  # with the attention held constant


def word_scores(
    ranking: "str | Ranking | ArrayLike | Tensor",
    subject: Subject,
    batch: Batch,
    *,
    seed: int = 0,
    how: str = "delete",
) -> "Tensor | Doubted":
    """The scores (B,T) of a ranking: its name, a function (`rankings.ranking`), or one's own array.

    `how` words are taken out matters to leave-one-out and LIME.

    Example: `heedful.word_scores("leave-one-out", run.model, run.model.encode(texts))`
    """
    return scores_with(Reader(subject, batch, how=how), ranking, seed=seed)


def scores_with(
    reader: Reader,
    ranking: "str | Ranking | ArrayLike | Tensor",
    *,
    seed: int = 0,
    known: Tensor | None = None,
) -> "Tensor | Doubted":
    """As `word_scores`, for what a reader reads: several rankings then share its trace.

    Scores must be numbers in all texts, or in those that are `known` (B,).
    """
    if isinstance(ranking, str):
        ranking = WORD_RANKINGS[choose_from("ranking of words", ranking, WORD_RANKINGS)]
    mask = reader.batch.mask
    given = ranking(reader, seed=seed) if callable(ranking) else ranking
    if isinstance(given, Doubted):
        return given
    scores = torch.as_tensor(given).detach().to(mask.device, torch.float64)
    if scores.shape != mask.shape:
        raise UserError(
            f"A ranking of these words needs one score for each, {tuple(mask.shape)}, "
            f"but has {tuple(scores.shape)}."
        )
    bad = (scores.isnan() & mask).any(1)
    bad = bad if known is None else bad & known.to(bad.device)
    if bad.any():
        if hasattr(reader.subject, "refuse_too_long"):
            reader.subject.refuse_too_long(reader.batch, every=True)
        raise UserError(f"Row {int(bad.nonzero()[0])} of the ranking has a score that is not a number.")
    return scores


def word_order(scores: Tensor, batch: Batch, *, seed: int = 0) -> Tensor:
    """Places of words (B,T) by descending score, ties by seeded chance, padding last."""
    drawn = partial(chance_of, batch, seed)
    order = falling(in_numpy(scores.double()), in_numpy(batch.mask), drawn)
    return torch.from_numpy(order).to(batch.mask.device)


def can_rank(subject: Subject, name: str) -> bool:
    """Whether the ranking of this name can be had of this subject."""
    if name not in WORD_RANKINGS or (name in _HELD and not can_hold(subject)):
        return False
    if name != "contribution":
        return name not in _NEEDED or gives(subject, _NEEDED[name])
    if not gives(subject, "trace"):
        return False
    try:
        batch = subject.encode(["a b"])
    except UserError:  # it has no id for words that it does not know
        return False
    return batch.sentences is None and subject.trace(batch).linear is not None


def rankings_of_words(reader: Reader, names: Sequence[str] | None = None) -> list[str]:
    """These names, checked; or all that the subject can have, but LIME and Shapley, which take long."""
    if names is not None:
        return [choose_from("ranking of words", name, WORD_RANKINGS) for name in names]
    return [name for name in WORD_RANKINGS if name not in REGRESSIONS and can_rank(reader.subject, name)]
