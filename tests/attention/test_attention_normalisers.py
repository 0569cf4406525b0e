"""Normalisers: literal answers, an oracle, the `entmax` package, and any scores under any mask."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Generator, tensor

from heedful.attention import NORMALISERS, entmax15, masked_softmax, sigmoid_weights, sparsemax

ALL = tensor([[True, True, True, True]])


def test_softmax_of_logarithms_is_the_share_of_each():
    scores = tensor([[1.0, 2.0, 3.0, 4.0]]).log()
    assert masked_softmax(scores, ALL).tolist() == [pytest.approx([0.1, 0.2, 0.3, 0.4])]
    mask = tensor([[True, False, True, False]])
    assert masked_softmax(scores, mask).tolist() == [pytest.approx([0.25, 0, 0.75, 0])]


def test_sparsemax_drops_what_lies_below_the_threshold():
    assert sparsemax(tensor([[1.0, 0.5, -1.0, 0.0]]), ALL).tolist() == [[0.75, 0.25, 0, 0]]
    assert sparsemax(tensor([[9.0, 2.0, 2.0, 2.0]]), ALL).tolist() == [[1, 0, 0, 0]]
    assert sparsemax(tensor([[0.0, 0.0, 0.0, 0.0]]), ALL).tolist() == [[0.25] * 4]


def test_entmax_gives_squares_of_what_lies_above_the_threshold():
    mask = tensor([[True, True, False, False]])
    assert entmax15(tensor([[0.4, 0.0, 9.0, 9.0]]), mask).tolist() == [pytest.approx([0.64, 0.36, 0, 0])]
    third = entmax15(tensor([[2 / 3, 2 / 3, 0.0, -0.7]]), ALL)
    assert third.tolist() == [pytest.approx([4 / 9, 4 / 9, 1 / 9, 0])]
    assert third[0, 3] == 0


def test_sigmoid_weighs_each_token_by_itself():
    scores = tensor([[0.0, math.log(3), -math.log(3), 5.0]])
    mask = tensor([[True, True, True, False]])
    assert sigmoid_weights(scores, mask).tolist() == [pytest.approx([0.5, 0.75, 0.25, 0])]


def by_bisection(scores, power):
    """The weights by halving an interval around the threshold, in double precision."""
    z = scores.double() / power
    low, high = z.amax(-1, keepdim=True) - 1, z.amax(-1, keepdim=True)
    for _ in range(80):
        middle = (low + high) / 2
        above = (z - middle).clamp(min=0).pow(power).sum(-1, keepdim=True) >= 1
        low, high = torch.where(above, middle, low), torch.where(above, high, middle)
    return (z - low).clamp(min=0).pow(power)


@pytest.mark.parametrize(("normalise", "power"), [(sparsemax, 1), (entmax15, 2)])
@pytest.mark.parametrize("spread", [1e-3, 0.1, 1.0, 10.0])
def test_sparse_weights_solve_their_equation_also_in_long_rows(normalise, power, spread):
    scores = spread * torch.randn(5, 4001, generator=Generator().manual_seed(7))
    mask = torch.ones(5, 4001, dtype=torch.bool)
    expected = by_bisection(scores, power)
    double = normalise(scores.double(), mask)
    torch.testing.assert_close(double, expected, atol=1e-12, rtol=1e-9)
    torch.testing.assert_close(normalise(scores, mask).double(), expected, atol=3e-6, rtol=0)


@pytest.mark.parametrize("ours", [sparsemax, entmax15])
@pytest.mark.parametrize("spread", [0.3, 1.0, 5.0])
def test_sparse_weights_and_gradients_agree_with_the_entmax_package(ours, spread):
    theirs = getattr(pytest.importorskip("entmax"), ours.__name__)
    scores = (spread * torch.randn(13, 29, generator=Generator().manual_seed(3))).double().requires_grad_()
    direction = torch.randn(13, 29, generator=Generator().manual_seed(4)).double()
    weights = ours(scores, torch.ones(13, 29, dtype=torch.bool))
    expected = theirs(scores, dim=-1)
    torch.testing.assert_close(weights, expected, atol=1e-12, rtol=0)
    (gradient,) = torch.autograd.grad((weights * direction).sum(), scores)
    (expected_gradient,) = torch.autograd.grad((expected * direction).sum(), scores)
    torch.testing.assert_close(gradient, expected_gradient, atol=1e-12, rtol=0)


@pytest.mark.parametrize("normalise", NORMALISERS.values(), ids=NORMALISERS)
def test_second_derivatives_are_exact_too(normalise):
    scores = torch.randn(3, 7, generator=Generator().manual_seed(5)).double().requires_grad_()
    mask = torch.arange(7) < tensor([[7], [5], [0]])
    assert torch.autograd.gradgradcheck(lambda given: normalise(given, mask), (scores,))


@pytest.mark.parametrize("name", NORMALISERS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
@settings(max_examples=30)
@given(data=st.data())
def test_any_scores_under_any_mask_give_finite_weights_and_gradients(name, dtype, data):
    length = data.draw(st.integers(1, 7))
    numbers = st.floats(width=32, allow_nan=False) | st.sampled_from(
        [math.inf, -math.inf, 65504.0, 3e38, 0.0]
    )
    rows = data.draw(st.lists(st.lists(numbers, min_size=length, max_size=length), min_size=1, max_size=3))
    flags = st.lists(st.booleans(), min_size=length, max_size=length)
    mask = tensor(data.draw(st.lists(flags, min_size=len(rows), max_size=len(rows))))
    scores = tensor(rows).to(dtype).requires_grad_()

    weights = NORMALISERS[name](scores, mask)
    weights.float().square().sum().backward()
    assert weights.dtype == dtype
    assert scores.grad.isfinite().all()
    assert ((weights >= 0) & (weights <= 1)).all()
    assert (weights[~mask] == 0).all()
    assert (scores.grad[~mask] == 0).all()
    if name != "sigmoid":
        allowed = 4 * torch.finfo(dtype).eps
        torch.testing.assert_close(weights.float().sum(-1), mask.any(-1).float(), atol=allowed, rtol=0)


@pytest.mark.parametrize("normalise", NORMALISERS.values(), ids=NORMALISERS)
def test_a_nan_in_the_padding_does_no_harm_and_one_at_a_token_is_not_hidden(normalise):
    mask = tensor([[True, True, False]])
    scores = tensor([[1.0, 2.0, math.nan]], requires_grad=True)
    weights = normalise(scores, mask)
    weights.square().sum().backward()
    assert weights.isfinite().all()
    assert scores.grad.isfinite().all()
    assert normalise(tensor([[1.0, math.nan, 0.0]]), mask).isnan().any()


@pytest.mark.parametrize("name", [name for name in NORMALISERS if name != "sigmoid"])
def test_an_infinite_score_takes_all_the_weight_and_two_share_it(name):
    scores = tensor([[math.inf, 5.0, math.inf, -math.inf]])
    assert NORMALISERS[name](scores, ALL).tolist() == [pytest.approx([0.5, 0, 0.5, 0])]
    assert NORMALISERS[name](torch.full((1, 4), -math.inf), ALL).tolist() == [pytest.approx([0.25] * 4)]


@pytest.mark.parametrize("normalise", NORMALISERS.values(), ids=NORMALISERS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_rounds_the_result_and_not_the_way_to_it(normalise, dtype):
    scores = torch.randn(3, 1009, generator=Generator().manual_seed(8)).to(dtype)
    mask = torch.ones(3, 1009, dtype=torch.bool)
    exact = normalise(scores.double(), mask)
    allowed = torch.finfo(dtype)
    torch.testing.assert_close(
        normalise(scores, mask).double(), exact, rtol=allowed.eps, atol=allowed.smallest_normal
    )


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize("normalise", NORMALISERS.values(), ids=NORMALISERS)
def test_no_nan_arises_on_the_way_back_from_a_row_without_tokens(normalise):
    scores = torch.randn(2, 3, requires_grad=True)
    mask = tensor([[True, True, False], [False, False, False]])
    with torch.autograd.detect_anomaly():  # refuses a NaN also where a later step would wipe it away
        normalise(scores, mask).square().sum().backward()
    assert (scores.grad[1] == 0).all()
