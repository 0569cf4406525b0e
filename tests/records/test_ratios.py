"""Ratios of sums with BCa intervals: against SciPy's, and what copies, weights and strata do."""

import numpy as np
import pytest
from scipy.stats import bootstrap, norm

from heedful.errors import UserError
from heedful.records import ratios as module
from heedful.records.ratios import Ratios, ratios


def skewed(n=61, seed=3):
    draw = np.random.default_rng(seed)
    bottom = draw.exponential(size=n) + 0.1
    return bottom * draw.normal(0.6, 0.5, size=n) ** 2, bottom


def quotient(top, bottom, axis=-1):
    return top.sum(axis) / bottom.sum(axis)


def of_scipy(top, bottom, level):
    found = bootstrap(
        (top, bottom), quotient, paired=True, method="BCa", confidence_level=level, n_resamples=20_000,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    return found.confidence_interval, found.standard_error


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_the_interval_is_that_of_scipy(level):
    top, bottom = skewed()
    own = ratios(top[:, None], bottom, resamples=20_000).estimate(level=level)
    (low, high), error = of_scipy(top, bottom, level)
    assert own.value == pytest.approx(top.sum() / bottom.sum())
    assert own.interval.low == pytest.approx(low, abs=0.12 * error)
    assert own.interval.high == pytest.approx(high, abs=0.12 * error)
    assert own.interval.level == level
    assert own.interval.method == "BCa bootstrap over texts, 20000 resamples"


def test_it_differs_from_the_plain_percentiles_where_values_are_skewed():
    top, bottom = skewed()
    found = ratios(top[:, None], bottom, resamples=20_000)
    low, high = np.quantile(found.draws[:, 0], [0.025, 0.975])
    assert found.estimate().interval.low > low + 0.005
    assert found.estimate().interval.high > high + 0.01


def test_each_interval_end_is_the_formula_of_efron():
    """Bias correction and acceleration by hand, of three texts and six resamples."""
    draws = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    pulls = np.array([-0.2, 0.1, 0.1])
    found = Ratios(np.array([0.4]), pulls[:, None], draws[:, None]).estimate(level=0.8)
    shift = norm.ppf((3 + 0.5) / 6)  # three draws are below, one is equal
    bend = (-0.008 + 2 * 0.001) / (6 * (0.04 + 2 * 0.01) ** 1.5)
    tails = [norm.cdf(shift + (shift + z) / (1 - bend * (shift + z))) for z in norm.ppf([0.1, 0.9])]
    assert [found.interval.low, found.interval.high] == pytest.approx(np.quantile(draws, tails))


def test_copies_of_a_text_count_once():
    top, bottom = skewed()
    once = ratios(top[:, None], bottom)
    thrice = ratios(np.repeat(top, 3)[:, None], np.repeat(bottom, 3), clusters=np.repeat(np.arange(61), 3))
    assert thrice.estimate().value == pytest.approx(once.estimate().value)
    assert thrice.estimate().interval.low == pytest.approx(once.estimate().interval.low)
    assert thrice.estimate().interval.high == pytest.approx(once.estimate().interval.high)
    apart = ratios(np.repeat(top, 3)[:, None], np.repeat(bottom, 3)).estimate().interval
    assert apart.high - apart.low < 0.7 * (thrice.estimate().interval.high - thrice.estimate().interval.low)


def test_a_weight_of_two_is_a_copy_in_the_same_cluster():
    top, bottom = skewed(13)
    weights = 1 + np.arange(13) % 2
    weighted = ratios(top[:, None], bottom, weights=weights)
    copied = ratios(
        np.repeat(top, weights)[:, None], np.repeat(bottom, weights),
        clusters=np.repeat(np.arange(13), weights),
    )  # fmt: skip
    assert weighted.values == pytest.approx(copied.values)
    assert weighted.pulls == pytest.approx(copied.pulls)
    assert weighted.draws == pytest.approx(copied.draws)


def test_strata_are_resampled_each_for_itself():
    """Two strata that differ only between each other have no spread at all."""
    top = np.repeat([0.25, 0.75], 20)
    found = ratios(top[:, None], np.ones(40), strata=np.repeat([7, 3], 20))
    assert found.estimate().interval.low == found.estimate().interval.high == 0.5
    assert found.pulls == pytest.approx(np.zeros((40, 1)), abs=1e-15)
    mixed = ratios(top[:, None], np.ones(40)).estimate().interval
    assert mixed.low < 0.45 < 0.55 < mixed.high


def test_with_strata_the_interval_is_that_of_scipy_with_several_samples():
    draw = np.random.default_rng(11)
    parts = [draw.exponential(size=23) ** 2, 5 + draw.exponential(size=29) ** 2]
    found = ratios(
        np.concatenate(parts)[:, None], np.ones(52), strata=np.repeat(["a", "b"], [23, 29]), resamples=20_000
    ).estimate()
    of = bootstrap(
        parts, lambda one, two, axis=-1: (one.sum(axis) + two.sum(axis)) / 52, method="BCa",
        vectorized=True, n_resamples=20_000, rng=np.random.default_rng(2),
    )  # fmt: skip
    # SciPy divides by what is left when it leaves one out, and this statistic does not: same to first order.
    assert found.interval.low == pytest.approx(of.confidence_interval.low, abs=0.12 * of.standard_error)
    assert found.interval.high == pytest.approx(of.confidence_interval.high, abs=0.12 * of.standard_error)


def test_a_cluster_pulls_as_much_as_the_ratio_without_it_is_lower():
    top, bottom = np.array([1.0, 2, 4]), np.array([2.0, 3, 5])
    without = np.array([6 / 8, 5 / 7, 3 / 5])
    found = ratios(top[:, None], bottom)
    assert found.pulls[:, 0] == pytest.approx(without.mean() - without)
    assert found.values == pytest.approx([0.7])


def test_a_difference_is_paired():
    top, bottom = skewed()
    both = ratios(np.column_stack([top + 0.3 * bottom, top]), bottom)
    found = both.difference(0, 1)
    assert found.value == pytest.approx(0.3)
    assert found.interval.high - found.interval.low < 1e-9
    assert both.difference(1, 0).value == pytest.approx(-0.3)
    assert both.estimate(0).value == pytest.approx(both.estimate(1).value + 0.3)


def test_the_draws_of_a_seed_are_the_same_and_of_another_are_not():
    top, bottom = skewed()
    first, again, other = (ratios(top[:, None], bottom, seed=seed).draws for seed in (5, 5, 6))
    assert (first == again).all()
    assert not (first == other).all()
    assert first.shape == (4000, 1)
    assert first.mean() == pytest.approx(top.sum() / bottom.sum(), abs=0.02)


def test_every_resample_has_as_many_texts_as_there_are():
    counts = module._counts(17, 300, 0, 0)
    assert (counts.sum(1) == 17).all()
    assert counts.mean(0) == pytest.approx(np.ones(17), abs=0.3)
    assert len(np.unique(counts, axis=0)) == 300
    other = module._counts(17, 300, 0, 1)
    assert not (counts == other).all()


def test_many_texts_are_resampled_in_parts_alike():
    counts = module._counts(1031, 2100, 0, 0)  # more than 2**20 entries
    assert (counts.sum(1) == 1031).all()
    assert counts.var() == pytest.approx(1, abs=0.01)


def test_the_counts_of_very_many_texts_are_not_kept(monkeypatch):
    top, bottom = skewed(13)
    module._counts.cache_clear()
    monkeypatch.setattr(module, "KEPT", 13 * 50)
    small = ratios(top[:, None], bottom, resamples=50)
    assert module._counts.cache_info().currsize == 1
    monkeypatch.setattr(module, "KEPT", 13 * 50 - 1)
    module._counts.cache_clear()
    assert (ratios(top[:, None], bottom, resamples=50).draws == small.draws).all()
    assert module._counts.cache_info().currsize == 0


def test_one_text_has_no_interval():
    found = ratios(np.array([[0.5], [0.5]]), np.ones(2), clusters=[4, 4]).estimate()
    assert found.value == 0.5
    assert not found.interval.bounded
    assert "one text" in found.interval.method
    assert ratios(np.array([[0.5], [0.7]]), np.ones(2)).estimate().interval.bounded


@pytest.mark.parametrize("bottom", [[1.0, 0, 0, 0, 0, 0], [3.0, -1, -1, 0.1, 0.2, 0.3]])
def test_a_denominator_that_may_be_0_or_less_has_no_bounded_interval(bottom):
    found = ratios(np.ones((6, 1)), bottom).estimate()
    assert not found.interval.bounded
    assert "the denominator may be 0" in found.interval.method


def test_values_all_alike_have_an_interval_without_width():
    found = ratios(np.full((7, 1), 0.5), np.ones(7)).estimate()
    assert (found.interval.low, found.value, found.interval.high) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize("sign", [-1, 1])
def test_one_text_that_outweighs_all_bends_an_end_to_the_last_draw_and_not_beyond(sign):
    """1 − a·z is below 0 there: taken as it is, the ends would change places."""
    pulls = sign * np.r_[10.0, np.zeros(200)][:, None]
    draws = sign * np.r_[np.zeros(3999), 6.0]
    found = Ratios(np.array([sign * 5.0]), pulls, draws[:, None]).estimate(level=0.995)
    assert sign * (found.interval.high if sign > 0 else found.interval.low) == pytest.approx(6.0, abs=1e-5)
    assert found.interval.low <= found.interval.high


@pytest.mark.parametrize("value", [-1.0, 1.0])
def test_a_value_beyond_all_draws_is_left_to_the_percentiles(value):
    draws = np.linspace(-0.5, 0.5, 1001)
    found = Ratios(np.array([value]), np.array([[0.1], [-0.1]]), draws[:, None]).estimate()
    assert found.interval.low == pytest.approx(-0.475)
    assert found.interval.high == pytest.approx(0.475)


def test_a_level_is_a_share():
    with pytest.raises(UserError, match=r"0\.95"):
        ratios(np.ones((3, 1)), np.ones(3)).estimate(level=95)


@pytest.mark.slow
def test_the_interval_covers_the_truth_as_often_as_it_says_at_200_texts():
    """A rare class, effects between 0 and 1, most of them small: 1000 samples."""
    draw = np.random.default_rng(0)
    hits, above = 0, 0
    for trial in range(1000):
        size = draw.beta(0.7, 2, 200)
        rare = np.arange(200) < 30
        told = size * np.where(rare, draw.beta(1, 3, 200), draw.beta(6, 2, 200))
        weights = np.where(rare, 1.0, 3.0)
        truth = (30 * 0.25 + 3 * 170 * 0.75) / (30 + 3 * 170)
        found = ratios(told[:, None], size, weights=weights, strata=rare, resamples=1000, seed=trial)
        interval = found.estimate().interval
        hits += interval.low <= truth <= interval.high
        above += interval.low > truth
        module._counts.cache_clear()
    assert hits / 1000 > 0.93
    assert above / 1000 < 0.04  # called better than it is
