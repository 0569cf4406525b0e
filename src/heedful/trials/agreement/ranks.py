"""How two scores order the same tokens, for many texts at once: Kendall's τ-b, Spearman's ρ, the highest k.

τ-b = (C − D) / √((N − A)(N − B)) (Kendall, 1945) with C concordant and D discordant of N = n(n−1)/2 pairs, A
and B of them tied in the one and in the other. Sorting gives dense ranks in narrow integers; discordant pairs
are then counted all against all, which for texts beats merging because a comparison of ranks takes a lane of
a vector register and no branch. The p-value of "no association" is two-sided and chosen as
`scipy.stats.kendalltau` does: exact where nothing is tied and n ≤ 33 (or at most one pair deviates), else
normal with the variance for ties.

Among the highest k, tied tokens share the places they compete for: where two tie for the last place, each
counts half. That is the mean over all ways to break the ties of both scores by chance, without drawing any. A
random ranking reaches k/n on average.
Axes: B instances, T slots; n tokens in an instance.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import special
from torch import Tensor

from heedful.errors import UserError
from heedful.trials.compiled import compiled_pairs

Floats = NDArray[np.float64]

CHUNK = 2**15  # slots sorted and counted at once: they stay in the cache of one core

LONGEST_EXACT = 33  # tokens up to which the p-value is exact when nothing is tied


@dataclass(frozen=True, eq=False)
class Kendall:
    """τ-b and its p-value (B,) in double precision; both NaN where a score is constant, or of one token."""

    tau: Tensor
    p_value: Tensor


def kendall_tau(a: Tensor, b: Tensor, mask: Tensor) -> Tensor:
    """τ-b (B,) of scores a and b (B,T) over the slots where `mask` is true; NaN where a score is constant.

    Example: `heedful.kendall_tau(trace.weights, scores, trace.mask)`
    """
    return kendall(a, b, mask).tau


def kendall(a: Tensor, b: Tensor, mask: Tensor) -> Kendall:
    """τ-b and p-values of scores a and b (B,T) over the slots where `mask` is true."""
    first, second, real = compact(a, b, mask)
    counts = real.sum(1)
    loops = compiled_pairs(len(first) * first.shape[1] ** 2)
    if loops is None:
        found = _count_pairs(first, second, counts)
    else:
        found = np.empty((len(first), 8))
        at_once = max(1, CHUNK // max(1, first.shape[1]))
        for start in range(0, len(first), at_once):
            part = slice(start, start + at_once)
            orders = np.argsort(first[part], axis=1), np.argsort(second[part], axis=1)
            loops.count_pairs(
                first[part], second[part], *orders, counts[part], _narrow(first.shape[1]), found[part]
            )
    tau, p_value = _judge(found, counts)
    return Kendall(torch.from_numpy(tau), torch.from_numpy(p_value))


def compact(a: Tensor, b: Tensor, mask: Tensor) -> tuple[NDArray, NDArray, NDArray[np.bool_]]:
    """The scores (B,T) with real slots first and infinity behind them, as arrays, and which are real."""
    if not a.shape == b.shape == mask.shape or a.dim() != 2 or mask.dtype != torch.bool:
        shapes = ", ".join(str(tuple(part.shape)) for part in (a, b, mask))
        raise ValueError(f"two scores and a bool mask must all be (B, T), but they are {shapes}.")
    real = mask.cpu().numpy()
    scores = [_floats(part) for part in (a, b)]
    for name, score in zip(("first", "second"), scores, strict=True):
        bad = real & ~np.isfinite(score)
        if bad.any():
            row, slot = np.argwhere(bad)[0]
            raise UserError(
                f"A ranking needs finite scores, and row {row} of the {name} has {score[row, slot]}."
            )
    if (real[:, 1:] > real[:, :-1]).any():  # padding before a token
        places = np.argsort(~real, axis=1, kind="stable")
        scores = [np.take_along_axis(score, places, axis=1) for score in scores]
        real = np.take_along_axis(real, places, axis=1)
    first, second = (np.ascontiguousarray(np.where(real, score, np.inf)) for score in scores)
    return first, second, real


def _floats(scores: Tensor) -> NDArray:
    if scores.dtype not in (torch.float32, torch.float64):
        scores = scores.double() if scores.dtype in (torch.int32, torch.int64) else scores.float()
    return scores.detach().cpu().numpy()


def _narrow(length: int) -> NDArray:
    return np.empty(0, np.int16 if length <= np.iinfo(np.int16).max else np.int32)


def _count_pairs(a: NDArray, b: NDArray, counts: NDArray) -> Floats:
    """What the compiled `count_pairs` counts (B,8), in NumPy."""
    length = a.shape[1]
    ranks = [_dense_ranks(part) for part in (a, b)]
    joint = np.sort(ranks[0] * length + ranks[1], axis=1)  # by a, and by b where a is tied
    second = (joint % max(length, 1)).astype(_narrow(length).dtype)
    discordant = np.zeros(len(a))
    for i in range(length):  # padding has the largest rank of all, so it is never below anything
        discordant += (second[:, i + 1 :] < second[:, i : i + 1]).sum(1)
    ties = [_tie_sums(np.sort(part, axis=1), counts) for part in ranks]
    both = _tie_sums(joint, counts)[0]
    return np.stack([discordant, both, *ties[0], *ties[1]], axis=1)


def _dense_ranks(values: NDArray) -> NDArray[np.int64]:
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    steps = np.zeros(values.shape, np.int64)
    steps[:, 1:] = (ordered[:, 1:] != ordered[:, :-1]).cumsum(axis=1)
    ranks = np.empty_like(steps)
    np.put_along_axis(ranks, order, steps, axis=1)
    return ranks


def _tie_sums(ordered: NDArray, counts: NDArray) -> tuple[Floats, Floats, Floats]:
    """Σ t(t−1)/2, Σ t(t−1)(t−2), Σ t(t−1)(2t+5) over runs of equals among the first counts (B,) of a row."""
    rows, length = ordered.shape
    begins = np.ones(ordered.shape, bool)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    runs = begins.cumsum(axis=1) - 1 + length * np.arange(rows)[:, None]
    real = np.arange(length) < counts[:, None]
    t = np.bincount(runs[real], minlength=rows * length).reshape(rows, length).astype(np.float64)
    pairs = t * (t - 1)
    return pairs.sum(1) / 2, (pairs * (t - 2)).sum(1), np.where(t > 0, pairs * (2 * t + 5), 0).sum(1)


def _judge(found: Floats, counts: NDArray) -> tuple[Floats, Floats]:
    """τ-b and p-values (B,) from what was counted."""
    discordant, both, ties_a, a0, a1, ties_b, b0, b1 = found.T
    n = counts.astype(np.float64)
    pairs = n * (n - 1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        constant = (ties_a == pairs) | (ties_b == pairs)
        difference = pairs - ties_a - ties_b + both - 2 * discordant
        tau = np.clip(difference / np.sqrt(pairs - ties_a) / np.sqrt(pairs - ties_b), -1, 1)
        variance = (2 * pairs * (2 * n + 5) - a1 - b1) / 18 + ties_a * ties_b / pairs
        # With two tokens nothing is tied here, and 0 / 0 stands for 0.
        variance += np.where(n > 2, a0 * b0 / (18 * pairs * (n - 2)), 0)
        p_value = special.erfc(np.abs(difference) / np.sqrt(2 * variance))
    few = np.minimum(discordant, pairs - discordant)
    exact = (ties_a == 0) & (ties_b == 0) & ~constant & ((n <= LONGEST_EXACT) | (few <= 1))
    table = _exact_p_values()
    short = exact & (n <= LONGEST_EXACT)
    p_value[short] = table[counts[short], few[short].astype(int)]
    # One order of n! has no discordant pair, n − 1 have one; on either side: 2/n! and 2/(n−1)!.
    long = exact & ~short
    p_value[long] = 2 * np.exp(-special.gammaln(n[long] + 1 - few[long]))
    return np.where(constant, np.nan, tau), np.where(constant, np.nan, p_value)


@cache
def _exact_p_values() -> Floats:
    """P(at most c pairs deviate) on either side, at [n, c], when all n! orders are equally likely."""
    most = LONGEST_EXACT * (LONGEST_EXACT - 1) // 2
    table = np.ones((LONGEST_EXACT + 1, most // 2 + 1))
    orders = [1]  # how many orders of n have 0, 1, 2, … discordant pairs, in whole numbers
    for n in range(2, LONGEST_EXACT + 1):
        sums = [0, *_running(orders + [0] * (n - 1))]
        orders = [sums[c + 1] - sums[max(0, c + 1 - n)] for c in range(len(orders) + n - 1)]
        tails = _running(orders)
        for c in range(len(orders) // 2 + 1):
            if c < len(table[n]):
                table[n, c] = min(1.0, 2 * tails[c] / math.factorial(n))
    return table


def _running(numbers: list[int]) -> list[int]:
    total, sums = 0, []
    for number in numbers:
        total += number
        sums.append(total)
    return sums


def top_overlap(a: Tensor, b: Tensor, mask: Tensor, *, k: int) -> Tensor:
    """The share (B,) of the k highest tokens of a (B,T) that b has too; NaN with no more than k tokens."""
    if k < 1:
        raise UserError(f"The overlap of the highest tokens needs at least one of them, and got k = {k}.")
    first, second, real = compact(a, b, mask)
    counts = real.sum(1)
    both = (_among_top(first, counts, k) * _among_top(second, counts, k) * real).sum(1) / k
    return torch.from_numpy(np.where(counts > k, both, np.nan))


def random_overlap(mask: Tensor, *, k: int) -> Tensor:
    """What a random ranking reaches on average: k/n (B,); NaN where there are no more than k tokens."""
    counts = mask.sum(1).cpu().double()
    return torch.where(counts > k, k / counts, torch.nan)


def _among_top(values: NDArray, counts: NDArray, k: int) -> NDArray[np.float64]:
    """The probability (B,T) that each token is among the k highest when ties are broken by chance."""
    begins, ends = runs(values)
    higher = counts[:, None] - 1 - ends
    return np.clip((k - higher) / (ends - begins + 1), 0, 1)


def spearman(a: Tensor, b: Tensor, mask: Tensor) -> Tensor:
    """ρ (B,) of scores a and b (B,T) over the slots where `mask` is true; NaN where a score is constant."""
    first, second, real = compact(a, b, mask)
    middle = (real.sum(1, keepdims=True) - 1) / 2
    # Ranks are halves and their mean is exact, so these sums are too, up to their last division.
    x, y = (np.where(real, np.add(*runs(part)) / 2 - middle, 0) for part in (first, second))
    with np.errstate(invalid="ignore"):
        return torch.from_numpy((x * y).sum(1) / np.sqrt((x * x).sum(1)) / np.sqrt((y * y).sum(1)))


def runs(values: NDArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where in the rising order of its row each value's (B,T) run of equals begins, and where it ends."""
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    places = np.arange(values.shape[1])
    new = ordered[:, 1:] != ordered[:, :-1]
    starts, ends = np.zeros_like(order), np.full_like(order, values.shape[1] - 1)
    starts[:, 1:] = np.maximum.accumulate(np.where(new, places[1:], 0), axis=1)
    ends[:, :-1] = np.minimum.accumulate(np.where(new, places[:-1], values.shape[1] - 1)[:, ::-1], axis=1)[
        :, ::-1
    ]
    begins, finishes = np.empty_like(order), np.empty_like(order)
    np.put_along_axis(begins, order, starts, axis=1)
    np.put_along_axis(finishes, order, ends, axis=1)
    return begins, finishes
