"""The paired bootstrap: against SciPy, against plain resampling, and by simulation."""

import tracemalloc

import numpy as np
import pytest
import scipy.stats

from heedful.errors import UserError
from heedful.records import bootstrap, bootstrap_interval, paired_difference, ratio_of_means, resampling


def skewed(n, seed=1):
    return np.random.default_rng(seed).exponential(size=n)


@pytest.mark.parametrize(
    ("statistic", "function"), [("mean", np.mean), ("median", np.median), (np.std, np.std)]
)
def test_intervals_agree_with_scipy_within_monte_carlo_error(statistic, function):
    values = skewed(211)
    ours = bootstrap_interval(values, statistic, resamples=8000)
    theirs = scipy.stats.bootstrap((values,), function, method="percentile", n_resamples=8000, rng=7)
    tolerance = 0.12 * theirs.standard_error  # an end of 8000 resamples wobbles by about 0.03 standard errors
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=tolerance)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=tolerance)


def test_a_paired_ratio_agrees_with_scipy_within_monte_carlo_error():
    attention, random, best = skewed(173, 2) + 2, skewed(173, 3), skewed(173, 4) + 4
    ours = ratio_of_means(attention - random, best - random, resamples=8000)
    theirs = scipy.stats.bootstrap(
        (attention, random, best),
        lambda a, r, b, axis: (a.mean(axis) - r.mean(axis)) / (b.mean(axis) - r.mean(axis)),
        paired=True,
        method="percentile",
        n_resamples=8000,
        rng=7,
    )
    tolerance = 0.12 * theirs.standard_error
    assert ours.interval.low == pytest.approx(theirs.confidence_interval.low, abs=tolerance)
    assert ours.interval.high == pytest.approx(theirs.confidence_interval.high, abs=tolerance)


def test_counting_gives_the_means_of_the_rows_drawn():
    table = np.random.default_rng(5).normal(size=(13, 3))
    rows = np.concatenate(list(resampling._resampled_rows(13, 7, 11)))
    np.testing.assert_allclose(
        resampling._resampled_means(table, 7, 11), table[rows].mean(axis=1), atol=1e-15
    )


def test_chunks_do_not_change_the_result(monkeypatch):
    values = skewed(37)
    whole = [bootstrap_interval(values, s, resamples=101) for s in ("mean", "median")]
    monkeypatch.setattr(resampling, "CHUNK", 37 * 5)
    pieces = [bootstrap_interval(values, s, resamples=101) for s in ("mean", "median")]
    for a, b in zip(whole, pieces, strict=True):
        assert (a.low, a.high) == pytest.approx((b.low, b.high), rel=1e-14)


def test_one_seed_gives_one_result_and_another_seed_another():
    values = skewed(29)
    assert bootstrap_interval(values, seed=3) == bootstrap_interval(values, seed=3)
    assert bootstrap_interval(values, seed=3) == bootstrap_interval(values, seed=np.random.default_rng(3))
    assert bootstrap_interval(values, seed=3) != bootstrap_interval(values, seed=4)


def test_the_95_percent_interval_of_a_mean_covers_about_95_percent():
    generator = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        interval = bootstrap_interval(generator.normal(2, 3, size=59), resamples=400, seed=generator)
        covered += interval.low <= 2 <= interval.high
    assert 0.90 <= covered / 400 <= 0.99


def test_the_95_percent_interval_of_a_ratio_covers_about_95_percent():
    generator = np.random.default_rng(1)
    covered = 0
    for _ in range(400):
        bottom = generator.normal(2, 1, size=(61, 2))
        top = bottom * [0.5, 0.25] + generator.normal(0, 1, size=(61, 2))
        interval = ratio_of_means(top, bottom, resamples=400, seed=generator).interval
        covered += interval.low <= 0.375 <= interval.high
    assert 0.90 <= covered / 400 <= 0.99


def test_a_lower_level_gives_a_narrower_interval():
    values = skewed(41)
    wide, narrow = bootstrap_interval(values, level=0.99), bootstrap_interval(values, level=0.5)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_pairing_takes_out_what_two_columns_share():
    shared = np.random.default_rng(2).normal(0, 100, size=101)
    difference = paired_difference(shared + 1, shared)
    assert difference.value == pytest.approx(1)
    assert difference.interval.low == pytest.approx(1)
    assert difference.interval.high == pytest.approx(1)


def test_a_ratio_of_several_columns_is_the_average_of_their_ratios():
    bottom = np.ones((5, 2)) * [2.0, 4.0]
    assert ratio_of_means(bottom * [0.5, 0.25], bottom).value == pytest.approx(0.375)


def test_a_mapping_and_a_table_give_the_same_as_the_ratio_itself():
    top, bottom = skewed(43, 1), skewed(43, 2) + 1
    ratio = ratio_of_means(top, bottom)
    named = bootstrap({"top": top, "bottom": bottom}, lambda m: m["top"] / m["bottom"])
    table = bootstrap(np.stack([top, bottom], axis=1), lambda m: m[0] / m[1])
    for other in (named, table):
        assert other.value == pytest.approx(ratio.value, rel=1e-14)
        assert other.interval.low == pytest.approx(ratio.interval.low, rel=1e-14)
        assert other.interval.high == pytest.approx(ratio.interval.high, rel=1e-14)


def test_a_denominator_that_may_be_zero_leaves_the_ratio_unbounded():
    noise = np.random.default_rng(3).normal(size=47)
    ratio = ratio_of_means(np.ones(47), noise)
    assert np.isfinite(ratio.value)
    assert not ratio.interval.bounded
    assert ratio.interval.method == "none: the denominator may be 0"
    with pytest.raises(UserError, match="mean is not 0"):
        ratio_of_means(np.ones(4), [1, -1, 2, -2])


def test_a_statistic_undefined_in_some_resamples_has_no_interval():
    estimate = bootstrap({"a": [0.0, 0.0, 1.0]}, lambda m: 1 / m["a"])
    assert estimate.value == pytest.approx(3)
    assert "undefined in" in estimate.interval.method


def test_one_instance_has_a_value_and_no_interval():
    estimates = [paired_difference([3], [1]), ratio_of_means([4], [2]), bootstrap([2], lambda m: m[0])]
    assert [estimate.value for estimate in estimates] == [2, 2, 2]
    for interval in [bootstrap_interval([5.0]), *(estimate.interval for estimate in estimates)]:
        assert (interval.low, interval.high) == (-np.inf, np.inf)
        assert interval.method == "none: one instance"


def test_no_instances_are_refused():
    for call in (
        lambda: bootstrap_interval([]),
        lambda: paired_difference([], []),
        lambda: ratio_of_means([], []),
        lambda: bootstrap({"a": []}, lambda m: m["a"]),
    ):
        with pytest.raises(UserError, match="There are no instances"):
            call()


def test_nan_is_refused_with_its_row_and_column():
    with pytest.raises(UserError, match=r"Row 2 of 'values' is nan"):
        bootstrap_interval([1, 2, np.nan])
    with pytest.raises(UserError, match=r"Row 1 of 'second' is inf"):
        paired_difference([1, 2, 3], [1, np.inf, 2])
    with pytest.raises(UserError, match=r"Row 0 of 'numerator 1' is nan"):
        ratio_of_means([[1, np.nan], [1, 1]], np.ones((2, 2)))


def test_what_does_not_fit_is_refused_in_a_sentence():
    with pytest.raises(UserError, match="first 3, second 2"):
        paired_difference([1, 2, 3], [1, 2])
    with pytest.raises(UserError, match="one shape"):
        ratio_of_means(np.ones((5, 2)), np.ones((5, 3)))
    with pytest.raises(UserError, match="nearest is 'median'"):
        bootstrap_interval([1, 2], "medain")
    with pytest.raises(UserError, match=r"between 0 and 1.*95"):
        bootstrap_interval([1, 2], level=95)
    with pytest.raises(UserError, match="at least one resample"):
        bootstrap_interval([1, 2], resamples=0)
    for shape in ((2, 0), (2, 1, 1)):
        with pytest.raises(UserError, match="needs shape"):
            ratio_of_means(np.ones(shape), np.ones(2))
    with pytest.raises(UserError, match="one number per instance"):
        bootstrap_interval([[1, 2], [3, 4]])
    with pytest.raises(UserError, match="one number for each of"):
        bootstrap({"a": [1.0, 2.0]}, lambda m: m["a"].mean())
    with pytest.raises(UserError, match="one number for each of"):
        bootstrap_interval([1, 2], lambda samples, axis: samples)


def test_memory_stays_small_for_a_whole_test_half():
    columns = np.random.default_rng(4).normal(1, 1, size=(25_000, 8))
    tracemalloc.start()
    try:
        ratio_of_means(columns[:, :4], columns[:, 4:], resamples=500)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 60e6  # 500 × 25,000 float64 would be 100 MB
