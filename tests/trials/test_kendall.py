import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from heedful.errors import UserError
from heedful.trials.agreement import ranks as module
from heedful.trials.agreement.ranks import kendall, kendall_tau, random_overlap, spearman, top_overlap
from heedful.trials.compiled import compiled_pairs


@pytest.fixture(params=["compiled", "plain"])
def way(request, monkeypatch):
    """Both ways to count pairs, whatever the size of the work."""
    found = compiled_pairs(10**9) if request.param == "compiled" else None
    assert (found is not None) == (request.param == "compiled"), "the tests need numba"
    monkeypatch.setattr(module, "compiled_pairs", lambda pairs: found)


def one_by_one(function, a, b, mask):
    """Statistic and p-value of scipy, instance by instance."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where an instance is constant or too short
        found = [function(x[m], y[m]) for x, y, m in zip(a, b, mask, strict=True)]
    return np.array([(result.statistic, result.pvalue) for result in found]).T


def scores(slots, *, levels, instances=31, seed=0):
    draw = np.random.default_rng([seed, slots])
    a, b = (draw.integers(levels, size=(instances, slots)).astype(float) for _ in range(2))
    b[:3], b[3:5] = a[:3], -a[3:5]
    a[5] = 1.0
    mask = draw.random((instances, slots)) < 0.8
    mask[:, slots // 2] = True
    mask[0] = True
    return a, b, mask


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("levels", [2, 5, 10**9])
@pytest.mark.parametrize("slots", [1, 2, 3, 7, 19, 33, 34, 41, 67])
def test_tau_and_p_value_are_those_of_scipy(slots, levels):
    a, b, mask = scores(slots, levels=levels)
    found = kendall(*map(torch.from_numpy, (a, b, mask)))
    tau, p_value = one_by_one(stats.kendalltau, a, b, mask)
    np.testing.assert_allclose(found.tau, tau, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.p_value, p_value, rtol=1e-9, atol=0)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("wrong", [0, 1, 2])
@pytest.mark.parametrize("slots", [5, 33, 34, 53])
def test_p_values_are_those_of_scipy_when_few_pairs_deviate(slots, wrong):
    a = np.arange(slots, dtype=float)[None]
    b = a.copy()
    for place in range(0, 2 * wrong, 2):  # each exchange of neighbours makes one discordant pair
        b[0, [place, place + 1]] = b[0, [place + 1, place]]
    for second in (b, -b):
        found = kendall(torch.from_numpy(a), torch.from_numpy(second), torch.ones(1, slots, dtype=torch.bool))
        _, p_value = one_by_one(stats.kendalltau, a, second, np.ones((1, slots), bool))
        np.testing.assert_allclose(found.p_value, p_value, rtol=1e-9, atol=0)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-2, 2)), min_size=2, max_size=23))
def test_both_ways_count_the_same_pairs(pairs):
    a, b = np.array(pairs, dtype=float).T[:, None]
    counts = np.array([len(pairs)])
    found = np.empty((1, 8))
    orders = np.argsort(a, axis=1), np.argsort(b, axis=1)
    compiled_pairs(10**9).count_pairs(a, b, *orders, counts, np.empty(0, np.int16), found)
    np.testing.assert_array_equal(found, module._count_pairs(a, b, counts))


@pytest.mark.usefixtures("way")
def test_a_constant_score_and_a_single_token_have_no_tau():
    a = torch.tensor([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    b = torch.tensor([[1.0, 2.0, 3.0], [4.0, 4.0, 4.0], [1.0, 2.0, 3.0]])
    mask = torch.tensor([[True, True, True], [True, True, True], [True, False, False]])
    found = kendall(a, b, mask)
    assert found.tau.isnan().all()
    assert found.p_value.isnan().all()


@pytest.mark.usefixtures("way")
def test_padding_does_not_change_tau():
    a, b, mask = map(torch.from_numpy, scores(11, levels=4))
    wide = [
        torch.nn.functional.pad(part, (2, 5), value=value)
        for part, value in ((a, 9.0), (b, -9.0), (mask, False))
    ]
    wide[0][:, 0] = torch.nan  # what padding holds is never read
    assert torch.equal(kendall_tau(*wide).nan_to_num(7), kendall_tau(a, b, mask).nan_to_num(7))


def test_a_long_text_is_ranked_in_wider_integers():
    slots = 40_000
    a = torch.arange(slots, dtype=torch.float64)[None]
    b = torch.cat([a[:, slots // 2 :], a[:, : slots // 2]], 1)  # half of the pairs across the cut deviate
    expected = 1 - 4 * (slots / 2) ** 2 / (slots * (slots - 1))
    tau = kendall_tau(a, b, torch.ones(1, slots, dtype=torch.bool))
    assert abs(float(tau) - expected) < 1e-12


def test_a_score_that_is_not_finite_is_named():
    a, mask = torch.tensor([[1.0, 2.0], [torch.nan, 1.0]]), torch.ones(2, 2, dtype=torch.bool)
    with pytest.raises(UserError, match="row 1 of the first has nan"):
        kendall_tau(a, a, mask)


@pytest.mark.parametrize("levels", [2, 5, 10**9])
@pytest.mark.parametrize("slots", [2, 3, 19, 41])
def test_rho_is_that_of_scipy(slots, levels):
    a, b, mask = scores(slots, levels=levels)
    mask[:, [0, slots - 1]] = True  # scipy's needs two tokens
    found = spearman(*map(torch.from_numpy, (a, b, mask)))
    np.testing.assert_allclose(found, one_by_one(stats.spearmanr, a, b, mask)[0], rtol=0, atol=1e-12)


def test_the_overlap_counts_common_top_tokens():
    a = torch.tensor([[5.0, 4.0, 3.0, 2.0, 1.0]])
    b = torch.tensor([[5.0, 1.0, 4.0, 2.0, 3.0]])
    mask = torch.ones(1, 5, dtype=torch.bool)
    assert [float(top_overlap(a, b, mask, k=k)) for k in (1, 2, 3, 4)] == [1, 1 / 2, 2 / 3, 3 / 4]
    assert top_overlap(a, b, mask, k=5).isnan().all()


def test_the_overlap_is_its_mean_over_all_ways_to_break_ties():
    draw = np.random.default_rng(0)
    a, b = np.array([[0.0, 1, 1, 1, 1, 2, 0]]), np.array([[1.0, 1, 2, 2, 2, 0, 1]])
    exact = float(top_overlap(*map(torch.from_numpy, (a, b, np.ones((1, 7), bool))), k=3))
    tops = [np.argsort(-(x + draw.random((40_000, 7)) / 2), axis=1)[:, :3] for x in (a, b)]
    drawn = (tops[0][:, :, None] == tops[1][:, None]).sum((1, 2)) / 3
    assert drawn.std() > 0.1
    assert abs(drawn.mean() - exact) < 5 * drawn.std() / np.sqrt(len(drawn))


def test_a_random_ranking_overlaps_by_k_of_n():
    mask = torch.tensor([[True] * 7, [True] * 5 + [False] * 2, [True, True] + [False] * 5])
    expected = random_overlap(mask, k=2)
    assert expected.tolist()[:2] == [2 / 7, 2 / 5]
    assert expected[2].isnan()
    constant = torch.zeros(3, 7)
    assert torch.allclose(top_overlap(constant, constant, mask, k=2)[:2], expected[:2])
