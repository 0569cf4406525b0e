"""Rankings of the items of a trace: whose erasure should matter most (Serrano & Smith, 2019, 5.2; and ours).

A ranking (`rankings.ranking`) is a function of a trace that gives scores (B,N). Ties are broken by chance,
which belongs to the seed and to the instances' numbers (`trace.first`).

Axes: B instances, R rows of weights, T slots, N items, K classes.
"""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from heedful.errors import UserError, choose_from
from heedful.models.trace import Trace, probabilities
from heedful.trials.erasure.forwards import check_head
from heedful.trials.erasure.linear_votes import bias_of, chunks, in_numpy, token_logits
from heedful.trials.rankings.chance import chance, falling
from heedful.trials.rankings.ranking import Ranking

_LEAST = 1e-12  # of a random weight before it is normalised


def attention(trace: Trace, *, seed: int = 0) -> Tensor:
    """The weight of each item: the sum over its slots, divided by the rows that have tokens."""
    weights = trace.weights.detach()
    if weights.dim() == 3:
        weights = weights / trace.mask.any(-1).sum(1)[:, None, None]
    return _by_item(weights, trace)


def gradient(trace: Trace, *, seed: int = 0) -> Tensor:
    """The derivative of the decision function d = max softmax with respect to each item's weight.

    An item of several slots is moved as a whole: its slots keep their proportions.
    """
    slopes = _slopes(trace)
    if trace.slots_are_items:
        return _by_item(slopes, trace)
    weights = trace.weights.detach()
    mass, count = _by_item(weights, trace), _by_item(torch.ones_like(weights), trace).clamp(min=1)
    moved = _by_item(weights * slopes, trace) / mass.where(mass > 0, 1)
    return moved.where(mass > 0, _by_item(slopes, trace) / count)


def product(trace: Trace, *, seed: int = 0) -> Tensor:
    """Gradient × attention."""
    return _by_item(_slopes(trace) * trace.weights.detach(), trace)


def signed(trace: Trace, *, seed: int = 0) -> Tensor:
    """The sign of the gradient × attention: attention, with what speaks against the decision last."""
    return gradient(trace).sign() * attention(trace)


def contribution(trace: Trace, *, seed: int = 0) -> Tensor:
    """What each item adds to the margin of the decided class over the second: its exact Shapley value.

    The margin Σ α(z_c + b_c − z_k − b_k) is an additive game, whose Shapley values are its terms. For a
    linear head over one row of weights only.
    """
    if trace.linear is None:
        raise UserError(
            "Contributions need a linear head over one row of weights, and this trace has another head."
        )
    parts = []
    for _, votes in chunks(trace):
        rows, others = np.arange(len(votes.total)), votes.total.copy()
        others[rows, votes.decided] = -np.inf
        parts.append(votes.votes[rows, :, votes.decided] - votes.votes[rows, :, others.argmax(1)])
    return torch.from_numpy(np.concatenate(parts)).to(trace.weights.device)


def magnitude(trace: Trace, *, seed: int = 0) -> Tensor:
    """|contribution|: what a ranking without signs, as attention is, could know at best."""
    return contribution(trace).abs()


def random(trace: Trace, *, seed: int = 0, sample: int = 0) -> Tensor:
    """By chance; each `sample` is another draw."""
    drawn = chance(seed, trace.present.shape, first=trace.first, sample=1 + sample)
    return torch.from_numpy(drawn).to(trace.weights.device)


def shuffled(trace: Trace, *, seed: int = 0) -> Tensor:
    """The attention of the same trace with its weights shuffled among the tokens.

    On the trace itself this is one more random order; the trials apply it to the shuffled trace, where it is
    the null that tells what concentrated weights achieve by mechanics alone.
    """
    return attention(shuffle_weights(trace, seed=seed))


RANKINGS: dict[str, Ranking] = {
    "attention": attention,
    "gradient": gradient,
    "product": product,
    "signed": signed,
    "random": random,
    "contribution": contribution,
    "magnitude": magnitude,
    "shuffled": shuffled,
}
LINEAR_ONLY = frozenset({"contribution", "magnitude"})


def rankings_for(trace: Trace) -> list[str]:
    """The names of the rankings that this trace can have."""
    return [name for name in RANKINGS if trace.linear is not None or name not in LINEAR_ONLY]


def scores_of(ranking: str | Ranking | ArrayLike | Tensor, trace: Trace, *, seed: int = 0) -> Tensor:
    """The scores (B,N) of a ranking: its name, a function, or one's own array of slots (B,T) or items (B,N).

    Scores of slots are summed over the slots of an item.
    """
    if trace.present.shape[1] == 0 and len(trace):
        raise UserError("This trace has no item that could be erased, so there is nothing to rank.")
    if isinstance(ranking, str):
        ranking = RANKINGS[choose_from("ranking", ranking, RANKINGS)]
    found = ranking(trace, seed=seed) if callable(ranking) else ranking
    scores = torch.as_tensor(found)
    scores = scores.detach().to(trace.weights.device)
    scores = scores if scores.is_floating_point() else scores.double()
    if scores.shape == trace.weights.shape:
        scores = _by_item(scores, trace)
    if scores.shape != trace.present.shape:
        raise UserError(
            f"A ranking of this trace needs one score for each slot, {tuple(trace.weights.shape)}, "
            f"or for each item, {tuple(trace.present.shape)}, but has {tuple(scores.shape)}."
        )
    bad = (scores.isnan() & trace.present).any(1)
    if bad.any():
        raise UserError(f"Row {int(bad.nonzero()[0])} of the ranking has a score that is not a number.")
    return scores


def order_of(scores: str | Ranking | ArrayLike | Tensor, trace: Trace, *, seed: int = 0) -> Tensor:
    """Item numbers (B,N) by descending score, ties by seeded chance, items that an instance lacks last.

    `scores` is whatever `scores_of` takes: a name, a function, or an array.
    """
    present = in_numpy(trace.present)
    own = in_numpy(scores_of(scores, trace, seed=seed))
    order = falling(own, present, partial(chance, seed, present.shape, first=trace.first))
    return torch.from_numpy(order).to(trace.weights.device)


def shuffle_weights(trace: Trace, *, seed: int = 0) -> Trace:
    """The same trace with the weights of each row shuffled among its slots that belong to items."""
    weights, movable = in_numpy(trace.weights.flatten(1)), in_numpy(trace.items.flatten(1) >= 0)
    *_, columns = trace.weights.shape
    row = np.arange(movable.shape[1]) // columns  # weights stay in their own row
    shape, first = (len(weights), columns), trace.first
    drawn = [chance(seed, shape, first=first, sample=-1 - r) for r in range(row[-1] + 1)]
    source = np.lexsort((np.concatenate(drawn, 1), np.broadcast_to(row, movable.shape), ~movable), axis=1)
    target = np.argsort(~movable, axis=1, kind="stable")  # both list the movable slots first, row after row
    moved = weights.copy()
    np.put_along_axis(moved, target, np.take_along_axis(weights, source, 1), 1)
    stay = torch.from_numpy(np.where(movable, moved, weights)).unflatten(1, trace.weights.shape[1:])
    return replace(trace, weights=stay.to(trace.weights))


def random_weights(trace: Trace, *, seed: int = 0) -> Trace:
    """The trace with weights drawn evenly from all that sum to 1: exponential numbers, normalised."""
    count, *rows, slots = trace.weights.shape
    shape, first = (count, slots), trace.first
    lots = [chance(seed, shape, first=first, sample=2**21 + row) for row in range(math.prod(rows))]
    drawn = -torch.log1p(-torch.from_numpy(np.stack(lots, 1)).reshape(trace.weights.shape))
    drawn = drawn.clamp(min=_LEAST).to(trace.weights).masked_fill(~trace.mask, 0)
    return replace(trace, weights=drawn / drawn.sum(-1, keepdim=True).clamp(min=_LEAST))


def _slopes(trace: Trace) -> Tensor:
    """∂d/∂α of each slot, shaped like the weights; d = max softmax of the logits, not renormalised."""
    if trace.linear is not None:
        logits, weights = token_logits(trace), trace.weights.detach()
        bias = torch.from_numpy(bias_of(trace)).to(logits)
        shares = probabilities((weights[:, None] @ logits)[:, 0] / weights.sum(1, keepdim=True) + bias)
        top, decided = shares.max(-1, keepdim=True)
        # ∂d/∂α_i = p_c (z_ic − Σ_k p_k z_ik): one product of the token logits with p_c (1_c − p).
        pull = top * (torch.zeros_like(shares).scatter(-1, decided, 1.0) - shares)
        return (logits @ pull[..., None])[..., 0]
    check_head(trace)
    with torch.enable_grad():
        weights = trace.weights.detach().requires_grad_()
        top = probabilities(trace.logits(weights)).max(-1).values
        (slopes,) = torch.autograd.grad(top.sum(), weights)
    return slopes


def _by_item(slots: Tensor, trace: Trace) -> Tensor:
    """Sum numbers of slots (B,T) or (B,R,T) over the slots of each item: (B,N)."""
    count = trace.present.shape[1]
    if trace.slots_are_items:
        return slots[:, :count]
    flat = trace.items.flatten(1)
    sums = slots.new_zeros(len(flat), count + 1)
    return sums.scatter_add_(1, torch.where(flat < 0, count, flat), slots.flatten(1))[:, :count]
