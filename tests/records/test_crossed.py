"""Intervals over seeds and texts: neither few seeds nor equal ones pretend certainty."""

import math

import numpy as np
import pytest

from heedful.errors import UserError
from heedful.records import seeds_interval, wilson_interval
from heedful.records.crossed import crossed_interval


def test_both_spreads_are_in_the_width():
    runs = [0.8, 0.82, 0.81]
    seeds = seeds_interval(runs)
    half = math.hypot((seeds.high - seeds.low) / 2, 1.959964 * 0.02)
    found = crossed_interval(runs, count=101, error=0.02)
    assert (found.low, found.high) == pytest.approx((0.81 - half, 0.81 + half))
    assert "3 seeds" in found.method
    assert "101 texts" in found.method


@pytest.mark.parametrize("error", [None, 0.0])
def test_equal_seeds_are_not_certain(error):
    found = crossed_interval([0.9, 0.9], count=97, error=error)
    least = wilson_interval(0, 97).high
    assert (found.low, found.high) == pytest.approx((0.9 - least, 0.9 + least))


def test_one_seed_speaks_of_its_texts_at_most_and_says_so():
    assert not crossed_interval([0.9], count=97, error=0.03).bounded
    assert not crossed_interval([0.9], count=97, alone=True).bounded  # nothing is known of its texts either
    found = crossed_interval([0.9], count=97, error=0.03, alone=True)
    assert (found.low, found.high) == pytest.approx((0.9 - 1.96 * 0.03, 0.9 + 1.96 * 0.03), abs=1e-5)
    assert "one seed" in found.method


def test_the_ends_stay_within_what_the_number_can_be():
    found = crossed_interval([0.99, 0.9], count=97, error=0.03, within=(0, 1))
    assert (found.low, found.high) == (pytest.approx(0.37, abs=0.01), 1)
    assert crossed_interval([0.02, 0.09], count=97, error=0.03, within=(0, 1)).low == 0
    assert seeds_interval([0.99, 0.9]).high > 1


def test_an_error_that_is_no_number_is_refused():
    with pytest.raises(UserError, match="error over texts"):
        crossed_interval([0.9, 0.8], count=97, error=math.nan)


@pytest.mark.parametrize("seeds", [2, 3, 8])
def test_it_covers_the_truth_where_seeds_and_texts_both_vary(seeds):
    """Simulated scores: seed + text + noise around 0.6; intervals over seeds alone cover far less."""
    generator, texts, hits, narrow = np.random.default_rng(7), 53, 0, 0
    for _ in range(400):
        scores = 0.6 + 0.02 * generator.standard_normal((seeds, 1)) + 0.3 * generator.standard_normal(texts)
        scores = scores + 0.1 * generator.standard_normal((seeds, texts))
        error = float(scores.mean(0).std(ddof=1) / math.sqrt(texts))
        found = crossed_interval(scores.mean(1), count=texts, error=error)
        alone = seeds_interval(scores.mean(1))
        hits += found.low <= 0.6 <= found.high
        narrow += alone.low <= 0.6 <= alone.high
    assert hits / 400 >= 0.93
    assert narrow < hits
