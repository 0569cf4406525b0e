"""Intervals over seeds and texts cover what they say also where seeds vary more than texts do."""

from itertools import combinations

import numpy as np
import pytest

from heedful.errors import UserError
from heedful.records import bootstrap_interval
from heedful.records.crossed import crossed_mean, pairs_mean

TRUTH = 0.1


def pairs_of(draw, seeds, *, texts=150):
    """Pairs of seeds that vary much more than texts do: each seed has its own way, and each pair too."""
    own, each = 0.1 * draw.standard_normal(seeds), 0.2 * draw.standard_normal(texts)
    columns = [
        TRUTH + own[i] + own[j] + 0.05 * draw.standard_normal() + each + 0.3 * draw.standard_normal(texts)
        for i, j in combinations(range(seeds), 2)
    ]
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("seeds", [3, 8])
def test_the_interval_of_pairs_covers_the_truth_and_one_over_texts_alone_does_not(seeds):
    draw = np.random.default_rng(seeds)
    tables = [pairs_of(draw, seeds) for _ in range(300)]
    covered = np.mean([inside(pairs_mean(table).interval) for table in tables])
    texts_alone = np.mean([inside(bootstrap_interval(table.mean(1), resamples=200)) for table in tables])
    assert 0.92 <= covered <= 0.995
    assert texts_alone < 0.6


def test_the_interval_of_seeds_and_texts_covers_the_truth_and_one_over_texts_alone_does_not():
    draw, covered, texts_alone = np.random.default_rng(0), [], []
    texts, seeds = np.tile(np.arange(150), 3), np.repeat(np.arange(3), 150)
    for _ in range(300):
        each = 0.2 * draw.standard_normal(150)
        rows = TRUTH + 0.1 * draw.standard_normal((3, 1)) + each + 0.3 * draw.standard_normal((3, 150))
        covered.append(inside(crossed_mean(rows.ravel(), seeds=seeds, texts=texts).interval))
        texts_alone.append(inside(bootstrap_interval(rows.mean(0), resamples=200)))
    assert 0.92 <= np.mean(covered) <= 0.99
    assert np.mean(texts_alone) < 0.6


def inside(interval):
    return interval.low <= TRUTH <= interval.high


def test_leaving_a_seed_out_is_what_the_pseudo_values_are():
    table = pairs_of(np.random.default_rng(1), 5, texts=307)
    pairs = list(combinations(range(5), 2))
    without = [
        table[:, [seed not in pair for pair in pairs]].mean() for seed in range(5)
    ]  # the mean of the pairs that are left
    found = pairs_mean(table)
    assert found.value == pytest.approx(table.mean())
    spread = 4 / 5 * np.sum((np.array(without) - np.mean(without)) ** 2)
    texts = table.mean(1).var(ddof=1) / 307
    half = (found.interval.high - found.interval.low) / 2
    assert half == pytest.approx(np.hypot(2.776445 * spread**0.5, 1.959964 * texts**0.5), rel=1e-5)
    assert found.interval.method == "jackknife over 5 seeds, crossed with 307 texts"


def test_seeds_that_have_other_texts_count_alike_and_one_seed_has_an_interval_only_alone():
    values, seeds, texts = [1, 2, 3, 7], [0, 0, 0, 1], [0, 1, 2, 0]
    assert crossed_mean(values, seeds=seeds, texts=texts).value == pytest.approx((2 + 7) / 2)
    one = {"seeds": [4, 4, 4], "texts": [0, 1, 2]}
    assert not crossed_mean([1, 2, 3], **one).interval.bounded
    assert "bootstrap" in crossed_mean([1, 2, 3], **one, alone=True).interval.method


def test_one_pair_has_no_interval_and_no_number_of_seeds_has_two_pairs():
    assert not pairs_mean(np.ones((7, 1))).interval.bounded
    with pytest.raises(UserError, match="1, 3, 6, 10"):
        pairs_mean(np.ones((7, 2)))
    with pytest.raises(UserError, match="finite"):
        pairs_mean(np.full((7, 3), np.nan))
    with pytest.raises(UserError, match="undefined"):
        crossed_mean([np.nan], seeds=[0], texts=[0])
