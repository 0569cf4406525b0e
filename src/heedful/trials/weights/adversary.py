"""The exact adversary: the weights farthest from a model's own that leave a binary decision as it is.

Jain & Wallace (2019) maximise JSD(α, α̂) while the output moves by at most ε, by gradient ascent. With a
linear head and two classes the maximum can be had exactly. The output is σ(Σ α̂_i z_i + b), so the constraint
is a band lo ≤ Σ α̂_i z_i + b ≤ hi: a polytope in the simplex. JSD is convex in α̂, so its maximum is at a
vertex, and a vertex has one token inside the band, or two, mixed so that the score is exactly lo or hi.

With weights w and 1 − w on tokens i and j, log 2 − JSD = L(α_i, w) + L(α_j, 1 − w), where L(a, w) = ½[(a+w)
log(a+w) − a log a − w log w] rises with both and is concave in w. So whole ranges of pairs are bounded from
the ends of w and never looked at. Without numba all O(T²) pairs are enumerated, which is also the tests'
oracle.
Axes: B instances, T slots, K classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import special
from torch import Tensor

from heedful.errors import UserError
from heedful.models.trace import Trace, decisions
from heedful.records import Finding
from heedful.trials.compiled import compiled_pairs
from heedful.trials.groups import mean_findings
from heedful.trials.to_frames import Framed
from heedful.trials.weights.divergence import js_divergence

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Adversary(Framed):
    """Other weights for each instance, how far they are from its own, and how little the output changes."""

    weights: Tensor  # (B,T) or (B,R,T), like the trace's
    divergence: Tensor  # (B,) JSD(α, α̂) in nats, at most log 2; the mean over rows where there are several
    change: Tensor  # (B,) total variation distance of the output
    epsilon: float
    kind: Literal["exact", "lower bound"]
    decided: Tensor  # (B,) the class the model decides
    largest: Tensor  # (B,) its largest weight
    tokens: Tensor | None = (
        None  # (B,2) the slots used, the second −1 where one has all the weight; exact only
    )

    def findings(
        self, *, classes: Sequence[str] | None = None, level: float = 0.95, seed: int = 0
    ) -> list[Finding]:
        """The mean divergence over all instances, by predicted class, and by largest weight."""
        how = "the exact maximum" if self.kind == "exact" else "the best that gradient ascent found"
        return mean_findings(
            self.divergence,
            name="adversary's divergence",
            measured=f"JSD between the weights and other weights that move the output by at most "
            f"{self.epsilon:g}, {how}; log 2 = 0.693 is the most there can be",
            decided=self.decided,
            classes=classes,
            largest=self.largest,
            unit="nats",
            kind=self.kind,
            level=level,
            seed=seed,
        )


def is_exact(trace: Trace) -> bool:
    """Whether the farthest weights have a closed form: a linear head over one row of weights, two classes."""
    return trace.linear is not None and trace.linear.out_features <= 2


def exact_adversary(trace: Trace, epsilon: float | Tensor) -> Adversary:
    """The weights that maximise JSD(α, α̂) while the output of a binary linear head moves by at most ε.

    The head gives one score or two logits. Of equally far pairs one is given. A trace with another head, or
    more classes, is refused: `ascent_adversary` gives a lower bound for those.

    Example: `heedful.exact_adversary(trace, 0.01).weights`
    """
    epsilon = checked_epsilon(epsilon)
    scores, bias = _binary_scores(trace)
    real = trace.mask.cpu().numpy()
    counts = real.sum(1)
    own = trace.weights.detach().cpu().double().numpy()
    own = np.where(real, own, 0.0)
    own /= own.sum(1, keepdims=True)  # single precision leaves the sum a little off 1
    scores = np.where(real, scores, 0.0)
    mean = (own * scores).sum(1)
    low, high = _band(mean + bias, epsilon)
    # Rounding of the mean must not shut out a token whose score equals it.
    slack = 1e-12 * (np.abs(scores).max(1) + np.abs(bias))
    band = low - bias, high - bias, slack
    tokens, shares = _search(own, scores, real, counts, band)
    weights = np.zeros_like(own)
    rows = np.arange(len(own))
    weights[rows, np.maximum(tokens[:, 1], 0)] = 1 - shares  # before the first: for a single token this is 0
    weights[rows, tokens[:, 0]] = shares
    moved = (weights * scores).sum(1) + bias
    change = np.abs(special.expit(moved) - special.expit(mean + bias))
    found = torch.from_numpy(weights)
    return Adversary(
        weights=found.to(trace.weights),
        divergence=js_divergence(torch.from_numpy(own), found),
        change=torch.from_numpy(change),
        epsilon=epsilon,
        kind="exact",
        decided=decisions(torch.from_numpy(mean + bias)[:, None]),
        largest=torch.from_numpy(own.max(1)),
        tokens=torch.from_numpy(tokens),
    )


def checked_epsilon(epsilon: float | Tensor) -> float:
    """The bound as a number; refused where it is no change of a probability."""
    several = isinstance(epsilon, Tensor) and epsilon.numel() != 1
    if several or not 0 <= epsilon <= 1:
        raise UserError(
            f"The output may move by epsilon, a number from 0 to 1 such as 0.01, and this is {epsilon}."
        )
    return float(epsilon)


def _binary_scores(trace: Trace) -> tuple[Floats, float]:
    """What each slot says for the second class (B,T), and the bias, in double precision."""
    linear = trace.linear
    if linear is None or linear.out_features > 2:
        came = "another head" if linear is None else f"{linear.out_features} classes"
        raise UserError(
            f"The exact adversary needs a linear head with one score or two logits, and this trace has "
            f"{came}: take ascent_adversary, which gives a lower bound."
        )
    logits = trace.token_logits.detach().cpu().double()  # (B,T,K)
    bias = logits.new_zeros(2) if linear.bias is None else linear.bias.detach().cpu().double()
    if linear.out_features == 1:
        return logits[..., 0].numpy(), float(bias[0])
    return (logits[..., 1] - logits[..., 0]).numpy(), float(bias[1] - bias[0])


def _band(scores: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """The scores (B,) between which the probability moves by at most ε, infinite where none goes so far."""
    if epsilon == 0:
        return scores, scores
    yes, no = special.expit(scores), special.expit(-scores)  # both, so that neither tail is lost to rounding
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(yes > epsilon, np.log((yes - epsilon) / (no + epsilon)), -np.inf)
        high = np.where(no > epsilon, np.log((yes + epsilon) / (no - epsilon)), np.inf)
    return np.minimum(low, scores), np.maximum(high, scores)


def _search(
    own: Floats, scores: Floats, real: NDArray[np.bool_], counts: NDArray, band: tuple[Floats, Floats, Floats]
) -> tuple[NDArray[np.int64], Floats]:
    """The slots (B,2) of the farthest vertex and the weight of the first of them (B,)."""
    rows, length = own.shape
    tokens, shares = np.full((rows, 2), -1), np.zeros(rows)
    kernel = compiled_pairs(rows * length**2)
    if kernel is not None:
        order = np.argsort(np.where(real, own, np.inf), axis=1, kind="stable")
        kernel.farthest(own, scores, order, counts, *band, tokens, shares)
    else:
        for b in range(rows):
            slots = np.flatnonzero(real[b])
            pair, shares[b] = enumerate_vertices(own[b, slots], scores[b, slots], *(part[b] for part in band))
            tokens[b] = np.where(pair < 0, -1, slots[pair])
    assert (tokens[:, 0] >= 0).all(), "an instance's own weights are feasible, so there must be a vertex"
    return tokens, shares


def enumerate_vertices(
    own: Floats, scores: Floats, low: float, high: float, slack: float
) -> tuple[NDArray[np.int64], float]:
    """The best vertex of one instance, by looking at all: its two tokens, and the weight of the first."""
    best, tokens, share = np.inf, np.array([-1, -1]), 0.0
    inside = np.flatnonzero((low - slack <= scores) & (scores <= high + slack))
    if len(inside):
        token = inside[np.argmin(own[inside])]
        best, tokens, share = float(_overlap(own[token], 1.0)), np.array([token, -1]), 1.0
    for edge in {low, high}:
        left, right = np.flatnonzero(scores < edge), np.flatnonzero(scores > edge)
        if not np.isfinite(edge) or not len(left) or not len(right):
            continue
        below, above = edge - scores[left][:, None], scores[right] - edge
        on_left = above / (below + above)  # the weight of the left token
        losses = _overlap(own[left][:, None], on_left) + _overlap(own[right], below / (below + above))
        i, j = np.unravel_index(np.argmin(losses), losses.shape)
        if losses[i, j] < best:
            best, tokens, share = losses[i, j], np.array([left[i], right[j]]), float(on_left[i, j])
    return tokens, share


def _overlap(own: Floats | float, weight: Floats | float) -> Floats:
    """L(a, w) of the module's head."""
    both = np.add(own, weight)
    overlap: Floats = (
        special.xlogy(both, both) - special.xlogy(own, own) - special.xlogy(weight, weight)
    ) / 2
    return overlap
