# mypy: allow-untyped-defs, allow-incomplete-defs
"""The two loops over pairs of tokens, compiled. Imports numba, so only `trials.compiled` imports this file.

Axes: B instances, T slots; an instance's n real slots come first in every order.
"""

import math

import numpy as np
from numba import njit

compiled = njit(cache=True, error_model="numpy")


@compiled
def dense_ranks(values, order, n, ranks):
    """Fill ranks[slot] with 0, 1, … along the order of values, ties alike; return sums over ties of size t.

    They are Σ t(t−1)/2, Σ t(t−1)(t−2) and Σ t(t−1)(2t+5).
    """
    pairs, threes, spread = 0.0, 0.0, 0.0
    rank, start = 0, 0
    for k in range(n):
        if k > 0 and values[order[k]] != values[order[k - 1]]:
            t = np.float64(k - start)
            pairs += t * (t - 1) / 2
            threes += t * (t - 1) * (t - 2)
            spread += t * (t - 1) * (2 * t + 5)
            rank, start = rank + 1, k
        ranks[order[k]] = rank
    t = np.float64(n - start)
    return pairs + t * (t - 1) / 2, threes + t * (t - 1) * (t - 2), spread + t * (t - 1) * (2 * t + 5)


@compiled
def below(ranks, rank):
    """How many of the ranks are less than this one.

    The count has the ranks' own narrow type, and the slice starts at 0: only so is this loop vectorised.
    """
    count = type(rank)(0)
    for j in range(len(ranks)):
        count = type(rank)(count + type(rank)(ranks[j] < rank))
    return count


@compiled
def count_pairs(a, b, order_a, order_b, counts, narrow, found):
    """Fill found (B,8): discordant pairs, pairs tied in both, and the three sums over ties of a and of b.

    a, b (B,T) are ordered by order_a, order_b (B,T), of which the first counts[i] are real. `narrow` is an
    empty array of the narrowest integer type that holds T.
    """
    length = a.shape[1]
    ranks_a, ranks_b = np.empty(length, narrow.dtype), np.empty(length, narrow.dtype)
    first, second = np.empty(length, narrow.dtype), np.empty(length, narrow.dtype)
    for i in range(len(a)):
        n = counts[i]
        found[i, 2], found[i, 3], found[i, 4] = dense_ranks(a[i], order_a[i], n, ranks_a)
        found[i, 5], found[i, 6], found[i, 7] = dense_ranks(b[i], order_b[i], n, ranks_b)
        for k in range(n):
            first[k], second[k] = ranks_a[order_a[i, k]], ranks_b[order_a[i, k]]
        discordant, both, end = 0, 0, 0
        for k in range(n):
            if k == end:  # a new run of equal a begins
                end += 1
                while end < n and first[end] == first[k]:
                    end += 1
            for j in range(k + 1, end):
                both += second[j] == second[k]
            # A pair within the run is no pair of a, so it starts behind it.
            discordant += below(second[end:n], second[k])
        found[i, 0], found[i, 1] = discordant, both


@compiled
def overlap(own, own_log, weight, weight_log):
    """L(a, w) = ½[(a+w) log(a+w) − a log a − w log w]: what one token takes of log 2 − JSD."""
    both = own + weight
    return 0.5 * (both * math.log(both) - own_log - weight_log) if own > 0 and weight > 0 else 0.0


@compiled
def times_log(x):
    return x * math.log(x) if x > 0 else 0.0


@compiled
def farthest(own, scores, order, counts, low, high, slack, tokens, shares):
    """Fill tokens (B,2) and shares (B,): the two slots farthest from `own`, and the weight of the first.

    own (B,T) are the weights, scores (B,T) what each slot says, order (B,T) the real slots by rising own
    weight. The mixed score must lie in [low, high] (B,); single slots may miss it by `slack` (B,). The second
    token is −1 where the first has all the weight.
    """
    length = own.shape[1]
    logs, halves = np.empty(length), np.empty(length)
    half_log = times_log(0.5)
    for b in range(len(own)):
        n, best, known = counts[b], np.inf, 0
        least, most = np.inf, -np.inf
        for k in range(n):
            score = scores[b, order[b, k]]
            least, most = min(least, score), max(most, score)
            # L rises with a token's own weight, so the first one inside the band is the best of them.
            if best == np.inf and low[b] - slack[b] <= score <= high[b] + slack[b]:
                weight = own[b, order[b, k]]
                best = overlap(weight, times_log(weight), 1.0, 0.0)
                tokens[b, 0], tokens[b, 1], shares[b] = order[b, k], -1, 1.0
        for side in range(2):
            edge = high[b] if side else low[b]
            if not math.isfinite(edge) or (side and high[b] == low[b]):
                continue
            for k in range(n):  # the token with at least half of the weight
                major = order[b, k]
                if k == known:
                    logs[k] = times_log(own[b, major])
                    halves[k] = overlap(own[b, major], logs[k], 0.5, half_log)
                    known += 1
                if halves[k] >= best:
                    break
                near = abs(edge - scores[b, major])
                left = scores[b, major] < edge
                far = most - edge if left else edge - least
                if near == 0 or far < near:
                    continue
                largest = far / (near + far)
                rest = 1 - largest
                rest_log = times_log(rest)
                at_largest = overlap(own[b, major], logs[k], largest, times_log(largest))
                for j in range(n):  # the other
                    minor = order[b, j]
                    if j == known:
                        logs[j] = times_log(own[b, minor])
                        halves[j] = overlap(own[b, minor], logs[j], 0.5, half_log)
                        known += 1
                    # L is concave in the weight, so its least over [½, largest] is at one of the ends; and it
                    # rises with the other's own weight: what holds for this one holds for all that follow.
                    if (
                        halves[k] + halves[j] >= best
                        and at_largest + overlap(own[b, minor], logs[j], rest, rest_log) >= best
                    ):
                        break
                    across = scores[b, minor] - edge if left else edge - scores[b, minor]
                    if across < near:  # on the same side, or itself the one with more weight
                        continue
                    share = across / (near + across)
                    loss = overlap(own[b, major], logs[k], share, times_log(share))
                    loss += overlap(own[b, minor], logs[j], 1 - share, times_log(1 - share))
                    if loss < best:
                        best = loss
                        tokens[b, 0], tokens[b, 1], shares[b] = major, minor, share
