"""Wilson, Student, McNemar, Benjamini–Hochberg: each against SciPy."""

import numpy as np
import pytest
import scipy.stats

from heedful.errors import UserError
from heedful.records import benjamini_hochberg, mcnemar_exact, seeds_interval, wilson_interval
from heedful.records.interval import share_of


@pytest.mark.parametrize(("successes", "count"), [(0, 7), (7, 7), (3, 11), (410, 872), (1, 25_000)])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_interval_of_a_share_equals_scipys(successes, count, level):
    ours = wilson_interval(successes, count, level=level)
    theirs = scipy.stats.binomtest(successes, count).proportion_ci(level, method="wilson")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-14)


def test_a_share_of_all_is_not_called_certain():
    assert wilson_interval(20, 20).low == pytest.approx(0.8389, abs=1e-4)
    assert wilson_interval(20, 20).high == 1


def test_a_share_of_none_or_all_ends_exactly_at_the_edge():
    for count in range(1, 200):  # plain rounding misses the edge at most of these
        assert wilson_interval(0, count).low == 0
        assert wilson_interval(count, count).high == 1


def test_a_share_has_its_value_and_wilsons_interval():
    found = share_of([True, False, True, True])
    assert found.value == 0.75
    assert found.interval == wilson_interval(3, 4)


def test_a_share_of_nothing_may_be_anything():
    nothing = wilson_interval(0, 0)
    assert (nothing.low, nothing.high, nothing.method) == (0, 1, "none: no instances")


def test_more_successes_than_instances_are_refused():
    with pytest.raises(UserError, match="between 0 and 3 successes, and got 4"):
        wilson_interval(4, 3)


@pytest.mark.parametrize("seeds", [2, 3, 4, 5, 8, 31, 100])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_interval_over_seeds_equals_scipys(seeds, level):
    values = np.random.default_rng(seeds).normal(80, 2, size=seeds)
    ours = seeds_interval(values, level=level)
    theirs = scipy.stats.t.interval(level, seeds - 1, loc=values.mean(), scale=scipy.stats.sem(values))
    # An end near 0 is what is left of two numbers near 80: the oldest SciPy misses it by 2e-9.
    assert (ours.low, ours.high) == pytest.approx(theirs, rel=1e-11, abs=1e-8)


def test_one_seed_cannot_tell_and_none_is_refused():
    assert not seeds_interval([81.0]).bounded
    assert seeds_interval([81.0]).method == "none: one seed"
    with pytest.raises(UserError, match="one number per seed"):
        seeds_interval([])
    with pytest.raises(UserError, match="Row 1 of the seeds is nan"):
        seeds_interval([1, np.nan, 2])


@pytest.mark.parametrize(("first", "second"), [(0, 5), (5, 0), (3, 3), (2, 11), (1, 0), (1200, 1303)])
def test_mcnemars_test_equals_the_binomial_test_on_discordant_pairs(first, second):
    assert mcnemar_exact(first, second) == pytest.approx(
        scipy.stats.binomtest(first, first + second).pvalue, rel=1e-9
    )


def test_mcnemars_test_says_nothing_without_discordant_pairs():
    assert mcnemar_exact(0, 0) == 1
    with pytest.raises(UserError, match="got -1 and 2"):
        mcnemar_exact(-1, 2)


def test_mcnemars_test_can_be_checked_by_hand():
    assert mcnemar_exact(1, 4) == 2 * (1 + 5) / 32


def test_adjusted_p_values_equal_scipys_in_the_order_given():
    p = np.random.default_rng(0).uniform(size=97) ** 3
    p[[5, 50]] = p[17]  # ties
    np.testing.assert_allclose(benjamini_hochberg(p), scipy.stats.false_discovery_control(p), rtol=1e-14)


def test_adjusting_refuses_what_is_no_p_value():
    assert benjamini_hochberg([]).shape == (0,)
    with pytest.raises(UserError, match="row 1 is nan"):
        benjamini_hochberg([0.1, np.nan])
    with pytest.raises(UserError, match=r"row 0 is 1\.5"):
        benjamini_hochberg([1.5, 0.1])
