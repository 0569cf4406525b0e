"""Intervals and estimates of small made-up numbers, digit for digit: their arithmetic cannot drift unseen.

`PYTHONPATH=src:tests python tests/records/test_pinned_intervals.py` writes pinned_intervals.jsonl anew.
"""

import math
from pathlib import Path

import numpy as np
import pytest

from heedful.errors import UserError
from heedful.records import Claim, Estimate, Finding, Interval, decide
from heedful.records.crossed import crossed_interval, crossed_mean, pairs_mean
from heedful.records.interval import (
    COMPARISONS,
    benjamini_hochberg,
    finite,
    mcnemar_exact,
    seeds_interval,
    unknown,
    wilson_interval,
)
from heedful.records.ratios import difference_of_ratios, ratios
from heedful.records.resampling import bootstrap, bootstrap_interval, paired_difference, ratio_of_means
from pinned import check, keep, kept

PINNED = Path(__file__).with_name("pinned_intervals.jsonl")
DRAW = np.random.default_rng(11)
SKEWED, OTHER = DRAW.exponential(size=23), DRAW.normal(size=23)
TABLE = DRAW.uniform(size=(13, 6))


def said(found):
    """An estimate or interval as plain numbers."""
    if isinstance(found, Estimate):
        return [found.value, said(found.interval)]
    return None if found is None else [found.low, found.high, found.level, found.method, found.bounded]


def attempt(make):
    """What it gives, or the sentence it refuses with."""
    try:
        return said(make())
    except UserError as error:
        return str(error)


def wilson():
    pairs = [(0, 0), (0, 1), (1, 1), (0, 7), (3, 7), (7, 7), (50, 101)]
    return [said(wilson_interval(*pair, level=level)) for pair in pairs for level in (0.5, 0.95)]


def over_seeds():
    runs = [[0.5], [0.5, 0.7], [0.1, 0.2, 0.9], [1, 2, 3, 5], [3.0] * 5, [0.1, 0.4, 0.2, 0.8, 0.5, 0.9, 0.3]]
    return [said(seeds_interval(values, level=level)) for values in runs for level in (0.8, 0.95)]


def paired_outcomes():
    counts = [(0, 0), (0, 1), (1, 0), (1, 5), (5, 1), (4, 4), (0, 12), (3, 17)]
    return [mcnemar_exact(*pair) for pair in counts]


def adjusted():
    columns = [[], [0.04], [0.01, 0.04, 0.03, 0.2], [0.5, 0.5, 0.001], [0.0, 1.0, 0.9, 0.02, 0.02]]
    return [benjamini_hochberg(values).tolist() for values in columns]


def crossed():
    return [
        said(crossed_interval(values, count=count, error=error, alone=alone, within=within, level=level))
        for values in ([0.5], [0.5, 0.6], [0.97, 0.98, 0.99], [0.5, 0.5, 0.5])
        for count in (5, 200)
        for error in (None, 0.0, 0.05)
        for alone in (False, True)
        for within, level in (((0.0, 1.0), 0.95), ((-math.inf, math.inf), 0.8))
    ]


def crossed_means():
    seeds, texts = np.repeat(np.arange(3), 5), np.tile(np.arange(5), 3)
    values = SKEWED[:15]
    found = [crossed_mean(values, seeds=seeds, texts=texts, within=(0.0, 1.2))]
    found += [crossed_mean(values[:12], seeds=seeds[:12], texts=texts[:12])]  # two texts of the last seed
    found += [crossed_mean(values[:4], seeds=[0, 1, 2, 3], texts=[0, 0, 0, 0])]  # one text
    found += [crossed_mean(values[:5], seeds=[7] * 5, texts=range(5), alone=alone) for alone in (False, True)]
    found += [crossed_mean(values[:6], seeds=[0] * 6, texts=[0, 0, 1, 2, 2, 2], alone=True)]
    found += [pairs_mean(TABLE[:, :pairs], within=(0.0, 0.55)) for pairs in (1, 3, 6)]
    far = 9 * np.random.default_rng(5).normal(size=120)
    found += [crossed_mean(far, seeds=np.repeat(np.arange(3), 40), texts=np.tile(np.arange(40), 3))]
    found += [pairs_mean(far.reshape(40, 3))]
    found += [pairs_mean(TABLE[:1, :3])]  # one text
    found += [pairs_mean(np.tile(TABLE, (1, 40))[:, :190])]  # twenty seeds
    return [said(one) for one in found]


def of_sums():
    groups, copies = np.arange(23) % 3, np.arange(23) // 2
    found = []
    for more in (
        {}, {"weights": SKEWED + 0.5}, {"clusters": copies}, {"strata": groups}, {"seed": 5},
        {"seed": 1000}, {"seed": -1},
        {"clusters": copies, "strata": copies % 2, "weights": OTHER**2}, {"resamples": 300},
    ):  # fmt: skip
        ratio = ratios(np.column_stack([OTHER, SKEWED]), SKEWED + 0.1, **more)
        found += [ratio.estimate(0), ratio.estimate(1, level=0.8), ratio.difference(0, 1, level=0.9)]
    found += [ratios(np.ones((3, 1)), [1.0, 1.0, 0.0]).estimate()]  # all draws may be of the last
    found += [ratios(np.ones((2, 1)), [1.0, 0.0]).estimate(), ratios(np.ones((1, 1)), [2.0]).estimate()]
    found += [ratios(np.ones((4, 1)), [1.0, 1, 1, 1]).estimate()]
    found += [ratios([[0.0], [0.0], [0.0], [9.0]], [1.0, 1, 1, 1]).estimate()]
    return [said(one) for one in found]


def two_ratios():
    both = np.column_stack([OTHER, SKEWED + 0.2]), np.column_stack([SKEWED, SKEWED**2 + 0.3])
    found = [*difference_of_ratios(*both, texts=np.arange(23))]
    found += difference_of_ratios(*both, texts=np.arange(23) % 12, level=0.8, resamples=500, seed=3)
    first, second = both[0].copy(), both[1].copy()
    first[:6], second[-5:] = 0, 0  # some texts are known to one alone
    found += difference_of_ratios(first, second, texts=np.arange(23))
    found += difference_of_ratios(*both, texts=np.zeros(23))  # one text
    halves = np.concatenate([first, 0 * first]), np.concatenate([0 * second, second])
    found += difference_of_ratios(*halves, texts=np.tile(np.arange(23), 2))
    return [said(one) for one in found]


def resampled():
    columns = {"a": SKEWED, "b": OTHER + 5}
    found = [
        bootstrap_interval(SKEWED), bootstrap_interval(SKEWED, "median", level=0.8, resamples=300, seed=4),
        bootstrap_interval(SKEWED, np.max), bootstrap_interval([1.5]), bootstrap_interval([1.5, 1.5]),
        bootstrap_interval(SKEWED, seed=np.random.default_rng(2)),
        paired_difference(SKEWED, OTHER), paired_difference([1.0], [3.0]),
        ratio_of_means(SKEWED, OTHER + 5), ratio_of_means(TABLE[:, :2], TABLE[:, 2:4] + 1, level=0.8),
        ratio_of_means(SKEWED, OTHER), ratio_of_means([1.0], [4.0]), ratio_of_means(OTHER, -SKEWED),
        bootstrap(columns, lambda m: m["a"] / m["b"]), bootstrap(TABLE, lambda m: m[0] - m[1], level=0.5),
        bootstrap({"a": [2.0]}, lambda m: m["a"]),
    ]  # fmt: skip
    return [said(one) for one in found]


def decided():
    """Every comparison of intervals around −1, 0 and 1 with 1."""
    ends = (-math.inf, -1.5, -1.0, 0.0, 1.0, 1.5, math.inf)
    spans = [(low, high) for low in ends for high in ends if low <= high]
    intervals = [Interval(low, high, level=0.9, method="m") for low, high in spans]
    return {one: "".join(decide(span, one, 1.0)[0] for span in intervals) for one in COMPARISONS}


def bounded():
    """What bounds on either side decide: about 0, and about numbers between their ends."""
    found = []
    for kind in ("exact", "estimate", "lower bound", "upper bound"):
        for interval in (None, Interval(-1.0, 2.0, 0.95, "m"), Interval(0.5, 2.0, 0.95, "m")):
            effect = Finding("x", 0.75, count=3, measured="So.", kind=kind, interval=interval)
            found += [
                Claim.decided(
                    "It is.", "here", effect=effect, comparison=comparison, threshold=threshold
                ).outcome
                for comparison in COMPARISONS
                for threshold in (-2.0, 0.0, 0.75, 1.0, 3.0)
            ]
    return found


def refused():
    nan, inf = math.nan, math.inf
    return [
        attempt(make)
        for make in (
            lambda: Interval(nan, 1, 0.95, "m"), lambda: Interval(0, nan, 0.95, "m"),
            lambda: Interval(2, 1, 0.95, "m"), lambda: Interval(1, 1, 0.95, "m"),
            lambda: Interval(-inf, 1, 0.95, "m"), lambda: Interval(1, inf, 0.95, "m"),
            lambda: Interval(0, 1, 0.0, "m"), lambda: Interval(0, 1, 1.0, "m"),
            lambda: unknown("so", level=0.9), lambda: wilson_interval(-1, 3), lambda: wilson_interval(4, 3),
            lambda: seeds_interval([]), lambda: seeds_interval([[1.0]]), lambda: seeds_interval([1.0, nan]),
            lambda: mcnemar_exact(-1, 2), lambda: mcnemar_exact(2, -1),
            lambda: benjamini_hochberg([[0.1]]), lambda: benjamini_hochberg([0.1, 1.1]),
            lambda: benjamini_hochberg([-0.1]), lambda: crossed_interval([1.0], count=3, error=-0.1),
            lambda: crossed_interval([1.0], count=3, error=inf), lambda: crossed_mean([], seeds=[], texts=[]),
            lambda: crossed_mean([nan], seeds=[0], texts=[0]), lambda: pairs_mean(TABLE[:, :2]),
            lambda: pairs_mean(TABLE[:, 0]), lambda: pairs_mean([[nan]]), lambda: pairs_mean(TABLE[:0]),
            lambda: ratio_of_means([1.0], [0.0]), lambda: ratio_of_means([1.0], [1.0, 2.0]),
            lambda: bootstrap_interval([]), lambda: bootstrap_interval([1.0, nan]),
            lambda: bootstrap_interval([1.0, 2.0], resamples=0),
            lambda: bootstrap_interval([1.0, 2.0], resamples=1),
            lambda: ratio_of_means([[1.0, 1.0]], [[1.0, 0.0]]), lambda: paired_difference([1.0], [1.0, 2.0]),
            lambda: finite("x", "it"), lambda: finite(inf, "it"),
        )
    ]  # fmt: skip


CASES = {
    one.__name__: one
    for one in (
        wilson, over_seeds, paired_outcomes, adjusted, crossed, crossed_means, of_sums, two_ratios, resampled,
        decided, bounded, refused,
    )
}  # fmt: skip


def test_every_case_is_pinned():
    assert list(kept(PINNED)) == list(CASES)


@pytest.mark.parametrize("case", CASES)
def test_numbers_are_what_they_were(case):
    check(PINNED, case, CASES[case]())


def test_a_paired_ratio_is_the_ratio_of_sums():
    first, second = [[1.0, 2.0], [3.0, 6.0]], [[4.0, 2.0], [2.0, 2.0]]
    one, two, apart = difference_of_ratios(first, second, texts=[0, 1])
    assert (one.value, two.value, apart.value) == (0.5, 1.5, 1.0)


@pytest.mark.parametrize("which", [0, 1])
def test_a_ratio_of_nothing_is_refused(which):
    tables = [np.ones((3, 2)), np.ones((3, 2))]
    tables[which] = np.zeros((3, 2))
    with pytest.raises(ValueError, match="a ratio of nothing"):
        difference_of_ratios(*tables, texts=range(3))


if __name__ == "__main__":
    keep(PINNED, CASES)
