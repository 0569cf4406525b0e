"""The adversary as published (Jain & Wallace, 2019, section 4.2.2): ascent for any head, a lower bound.

From several random starts, Adam climbs JSD(α, α̂) − penalty · max(0, TVD(ŷ, y) − ε) over the scores of which
α̂ is the softmax. All starts of all instances climb at once. The best weights met on the way that keep within
ε are returned; where there were none, the model's own, whose divergence is 0.

Two differences from the published way: the end of the climb is not trusted to be feasible, nor to be the
best; and the term that drives the starts apart from each other is left out, since it serves variety and not
the maximum.
Axes: P starts, B instances, R rows of weights, T slots, K classes.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import torch
from scipy import special
from torch import Tensor

from heedful.errors import UserError
from heedful.models.trace import Trace, decisions, probabilities
from heedful.trials.erasure.forwards import check_head
from heedful.trials.rankings.chance import chance
from heedful.trials.weights.adversary import Adversary, checked_epsilon
from heedful.trials.weights.divergence import js_divergence, total_variation

SPREAD = 3.0  # standard deviation of the scores at the start
AT_ONCE = 2**18  # weights that climb at once: what is kept for the backward pass then stays in a core's cache


def ascent_adversary(
    trace: Trace,
    epsilon: float | Tensor,
    *,
    restarts: int = 5,
    steps: int = 500,
    rate: float = 0.01,
    penalty: float = 500.0,
    seed: int = 0,
    copies: int = 1,
    advance: Callable[[int], None] | None = None,
) -> Adversary:
    """The farthest weights within ε of the output that gradient ascent finds: a lower bound, for any head.

    With several rows of weights (heads, sentences) the divergence is the mean over the rows that have tokens.
    A corpus cut into other batches has the same starts where its traces are numbered (`trace.first`). The
    trace may hold `copies` of its instances, one after another, which then start alike. `advance` is told
    how many instances have been done since it was last told.
    """
    epsilon = checked_epsilon(epsilon)
    check_head(trace)
    for name, count in (("restart", restarts), ("step", steps)):
        if count < 1:
            raise UserError(f"The ascent needs at least one {name}, and got {count}.")
    trace = replace(trace, weights=trace.weights.detach(), values=trace.values.detach())
    with torch.no_grad():
        before = probabilities(trace.logits())  # (B,K)
    weights, divergence = trace.weights.clone(), trace.weights.new_zeros(len(trace))
    change = torch.zeros_like(divergence)
    starts = _starts(trace, restarts, seed=seed, copies=copies)
    for rows, part in _alike(trace, restarts):
        width = part.mask.shape[-1]
        found = _climb(
            part, starts[:, rows, ..., :width], before[rows], epsilon, steps=steps, rate=rate, penalty=penalty
        )
        weights[rows, ..., :width], divergence[rows], change[rows] = found
        if advance is not None:
            advance(len(rows))
    return Adversary(
        weights=weights,
        divergence=divergence,
        change=change,
        epsilon=epsilon,
        kind="lower bound",
        decided=decisions(trace.logits().detach()),
        largest=trace.weights.flatten(1).amax(1),
    )


def _alike(trace: Trace, restarts: int) -> Iterator[tuple[Tensor, Trace]]:
    """Instances of like length and their numbers, as many as may climb at once, without needless padding."""
    used = trace.mask if trace.mask.dim() == 2 else trace.mask.any(1)  # (B,T)
    ends = (used * torch.arange(1, used.shape[1] + 1, device=used.device)).amax(1)
    order = ends.argsort(stable=True)
    rows_each = trace.mask.shape[1:-1].numel()
    start = 0
    while start < len(order):
        size = 1
        # The longest comes last, so each further one may widen all.
        while start + size < len(order):
            width = int(ends[order[start + size]])
            if (size + 1) * width * restarts * rows_each > AT_ONCE:
                break
            size += 1
        rows = order[start : start + size]
        part, width = trace.take(rows), int(ends[rows].max())
        yield (
            rows,
            replace(
                part,
                weights=part.weights[..., :width],
                values=part.values[..., :width, :],
                mask=part.mask[..., :width],
                items=part.items[..., :width],
            ),
        )
        start += size


def _starts(trace: Trace, restarts: int, *, seed: int, copies: int) -> Tensor:
    """Normal scores (P,B,...,T), each of its instance and slot, whatever batch or padding it is in."""
    count, slots = len(trace) // copies, trace.mask.shape[-1]
    rows = trace.mask.shape[1:-1].numel()
    # The slot is the slowest axis of the numbers drawn, so more padding only adds numbers that are not used.
    drawn = chance(seed, (count, slots * rows * restarts), first=trace.first)
    normal = special.ndtri(np.maximum(drawn, 2.0**-54)).reshape(count, slots, rows, restarts)
    scores = torch.from_numpy(SPREAD * normal).to(trace.weights).permute(3, 0, 2, 1)
    return scores.repeat(1, copies, 1, 1).reshape(restarts, *trace.mask.shape)


def _climb(
    part: Trace,
    start: Tensor,
    before: Tensor,
    epsilon: float,
    *,
    steps: int,
    rate: float,
    penalty: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """The best feasible weights met, their divergence and their change, for each instance."""
    logits = _logits(part)
    scores = start.clone().requires_grad_(True)
    climber = torch.optim.Adam([scores], lr=rate, amsgrad=True)
    best = scores.new_zeros(scores.shape[:2])  # (P,B)
    best_change = torch.zeros_like(best)
    kept = part.weights.expand(scores.shape).clone()
    for step in range(steps + 1):
        weights = _softmax(scores, part.mask)
        divergence = _divergence(weights, part)
        change = total_variation(probabilities(logits(weights)), before)
        with torch.no_grad():
            better = (change <= epsilon) & (divergence > best)
            if better.any():
                kept[better], best[better], best_change[better] = (
                    weights[better],
                    divergence[better],
                    change[better],
                )
        if step < steps:
            value = (divergence - penalty * (change - epsilon).relu()).sum()
            # Only the scores' gradient: the head's parameters are not ours to touch.
            scores.grad = -torch.autograd.grad(value, scores)[0]
            climber.step()
    divergence, winner = best.max(0)
    instances = torch.arange(len(winner), device=winner.device)
    return kept[winner, instances], divergence, best_change[winner, instances]


def _logits(part: Trace) -> Callable[[Tensor], Tensor]:
    """Weights (P,B,...,T) to logits (P,B,K): by token logits for a linear head, else through the head."""
    linear = part.linear
    if linear is None:
        return part.logits
    tokens = part.token_logits.detach()  # (B,T,K)
    bias = 0 if linear.bias is None else linear.bias.detach()
    return lambda weights: torch.bmm(weights.transpose(0, 1), tokens).transpose(0, 1) + bias


def _softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Weights over real slots; a row without any has none."""
    return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1) * mask


def _divergence(weights: Tensor, part: Trace) -> Tensor:
    """JSD (P,B) from the trace's own weights, the mean over the rows that have tokens."""
    apart = js_divergence(weights, part.weights)
    if apart.dim() == 2:
        return apart
    present = part.mask.any(-1)  # (B,R)
    return (apart * present).sum(-1) / present.sum(-1)
