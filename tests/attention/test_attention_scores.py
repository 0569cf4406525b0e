"""Scores a person can check, and agreement with torch's own attention."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Generator, tensor

from heedful.attention import (
    AdditiveScore,
    CosineScore,
    DotScore,
    GeneralScore,
    LocationScore,
    additive_scores,
    attend,
    cosine_scores,
    dot_scores,
    general_scores,
    location_scores,
    merge_heads,
    normal_init,
    scaled_dot,
    split_heads,
    usual_init,
    xavier_init,
)

STATES = tensor([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]])  # (1, 3, 2)
TWO_ROWS = torch.cat([STATES, STATES + 6])  # (2, 3, 2)


def counting(parameter):
    """Fill with 1, 2, 3, ..."""
    with torch.no_grad():
        parameter.copy_(torch.arange(1.0, parameter.numel() + 1).view_as(parameter))


def test_dot_scores_are_products_divided_by_the_scale():
    assert dot_scores(tensor([1.0, 2.0]), STATES).tolist() == [[5, 11, 17]]
    assert dot_scores(tensor([1.0, 2.0]), STATES, scale=10).tolist() == [pytest.approx([0.5, 1.1, 1.7])]
    assert dot_scores(tensor([1.0, 2.0]), STATES, scale=0.5).tolist() == [[10, 22, 34]]


def test_queries_are_one_for_all_one_a_row_or_several_a_row():
    assert dot_scores(tensor([1.0, 0.0]), TWO_ROWS).tolist() == [[1, 3, 5], [7, 9, 11]]
    assert dot_scores(tensor([[1.0, 0.0], [0.0, 1.0]]), TWO_ROWS).tolist() == [[1, 3, 5], [8, 10, 12]]
    several = tensor([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [0.0, 2.0]]])
    expected = [[[1, 3, 5], [2, 4, 6]], [[15, 19, 23], [16, 20, 24]]]
    assert dot_scores(several, TWO_ROWS).tolist() == expected


def test_the_dot_module_scores_by_its_context_or_by_the_query():
    assert DotScore(2, init=counting)(STATES).tolist() == [[5, 11, 17]]
    assert DotScore(2, query=2)(STATES, tensor([[1.0, -1.0]])).tolist() == [[-1, -1, -1]]


def test_the_scaled_dot_divides_by_the_root_of_the_width():
    score = scaled_dot(2, init=counting)
    assert score.scale == math.sqrt(2)
    assert score(STATES).tolist() == [pytest.approx([5 / 2**0.5, 11 / 2**0.5, 17 / 2**0.5])]
    assert scaled_dot(2, scale=7).scale == 7


def test_general_scores_put_a_matrix_between_query_and_state():
    matrix = tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])  # from queries of width 3 to states of width 2
    assert general_scores(tensor([1.0, 0.0, 1.0]), STATES, matrix=matrix).tolist() == [[22, 50, 78]]
    score = GeneralScore(2, query=3, scale=2, init=counting)
    assert score(STATES, tensor([[1.0, 0.0, 1.0]])).tolist() == [[11, 25, 39]]
    learned = GeneralScore(2, width=3, init=counting)  # context 1, 2, 3 times the matrix is 22, 28
    assert learned(STATES).tolist() == [[78, 178, 278]]


def test_additive_scores_weigh_a_tanh_layer():
    keys = torch.atanh(tensor([[[0.5, 0.25], [0.0, -0.5]]]))
    assert additive_scores(None, keys, context=tensor([2.0, 4.0])).tolist() == [pytest.approx([2, -2])]
    assert additive_scores(None, keys, context=tensor([2.0, 4.0]), scale=4).tolist() == [
        pytest.approx([0.5, -0.5])
    ]
    shifted = additive_scores(tensor([[1.0, 2.0]]), keys - tensor([1.0, 2.0]), context=tensor([2.0, 4.0]))
    assert shifted.tolist() == [pytest.approx([2, -2])]
    two = tensor([[[0.0, 0.0], [20.0, 20.0]]])  # the second query saturates both units
    assert additive_scores(two, keys, context=tensor([2.0, 4.0])).flatten().tolist() == pytest.approx(
        [2, -2, 6, 6]
    )


def test_the_additive_module_projects_states_and_query_and_adds_a_bias():
    score = AdditiveScore(2, query=3, width=5, scale=7)
    states, query = torch.randn(2, 3, 2), torch.randn(2, 3)
    with torch.no_grad():
        score.bias.copy_(torch.arange(5.0) / 5)
    by_hand = torch.empty(2, 3)
    for b in range(2):
        for t in range(3):
            layer = torch.tanh(
                score.projection @ states[b, t] + score.query_projection @ query[b] + score.bias
            )
            by_hand[b, t] = score.context @ layer / 7
    torch.testing.assert_close(score(states, query), by_hand)
    torch.testing.assert_close(score(states, query[:, None])[:, 0], by_hand)
    assert AdditiveScore(2, bias=False).bias is None


def test_the_concat_form_of_luong_is_the_additive_one():
    score = AdditiveScore(2, query=3, width=5, bias=False)
    states, query = torch.randn(2, 7, 2), torch.randn(2, 3)
    both = torch.cat([states, query[:, None].expand(2, 7, 3)], -1)
    concat = torch.tanh(both @ torch.cat([score.projection, score.query_projection], -1).mT) @ score.context
    torch.testing.assert_close(score(states, query), concat)


def test_cosine_scores_know_direction_and_not_length():
    keys = tensor([[[3.0, 4.0], [-30.0, 40.0], [0.0, 0.0]]])
    assert cosine_scores(tensor([2.0, 0.0]), keys).tolist() == [pytest.approx([0.6, -0.6, 0])]
    assert cosine_scores(tensor([2.0, 0.0]), keys, scale=0.1).tolist() == [pytest.approx([6, -6, 0])]
    torch.testing.assert_close(cosine_scores(tensor([1e30, 0]), keys * 1e30), tensor([[0.6, -0.6, 0]]))
    assert CosineScore(2, init=counting)(tensor([[[2.0, 4.0], [2.0, -1.0]]])).tolist() == [
        pytest.approx([1, 0], abs=1e-6)
    ]


def test_the_cosine_of_a_zero_vector_has_a_finite_gradient():
    keys = torch.zeros(1, 3, 2, requires_grad=True)
    cosine_scores(tensor([1.0, 2.0]), keys).sum().backward()
    assert keys.grad.isfinite().all()


def test_cosine_agrees_with_torch():
    generator = Generator().manual_seed(0)
    queries = torch.randn(2, 5, 7, generator=generator)
    keys = torch.randn(2, 3, 7, generator=generator)
    expected = F.cosine_similarity(queries[:, :, None], keys[:, None], dim=-1)
    torch.testing.assert_close(cosine_scores(queries, keys), expected)


def test_location_scores_depend_on_the_slot_alone():
    slots = tensor(
        [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [10.0, 11.0, 12.0], [13.0, 14.0, 15.0]]
    )
    assert location_scores(tensor([[1.0, 0.0, -1.0]]), 4, slots=slots).tolist() == [[-2, -2, -2, -2]]
    score = LocationScore(2, longest=5, query=3, scale=2, init=counting)
    assert score(STATES, tensor([[1.0, 1.0, 0.0]])).tolist() == [[1.5, 4.5, 7.5]]
    assert LocationScore(2, longest=5, init=counting)(TWO_ROWS).tolist() == [[1, 2, 3], [1, 2, 3]]


def test_scores_fit_half_precision_if_the_result_does_though_the_product_does_not():
    state = torch.full((1, 1, 2), 300.0, dtype=torch.float16)
    assert dot_scores(tensor([300.0, 300.0]).half(), state, scale=100).tolist() == [
        [pytest.approx(1800, rel=0.01)]
    ]


@pytest.mark.parametrize("heads", [1, 3])
def test_attend_agrees_with_the_scaled_dot_product_of_torch(heads):
    generator = Generator().manual_seed(heads)
    queries = torch.randn(2, 5, 3 * 7, generator=generator)
    keys = torch.randn(2, 11, 3 * 7, generator=generator)
    values = torch.randn(2, 11, 3 * 13, generator=generator)
    mask = torch.arange(11) < tensor([[11], [4]])
    split = [split_heads(states, heads) for states in (queries, keys, values)]
    expected = F.scaled_dot_product_attention(*split, attn_mask=mask[:, None, None])
    scale = math.sqrt(21 // heads)

    def score(q, k):
        return dot_scores(q, k, scale=scale)

    attended = attend(*split, mask[:, None], score=score)
    torch.testing.assert_close(attended.context, expected)
    assert attended.weights.shape == (2, heads, 5, 11)
    assert merge_heads(attended.context).shape == (2, 5, 3 * 13)
    if heads == 1:
        torch.testing.assert_close(attend(queries, keys, values, mask, score=score).context, expected[:, 0])


def test_attend_takes_a_mask_for_each_query():
    generator = Generator().manual_seed(0)
    states = torch.randn(2, 5, 7, generator=generator)
    earlier = torch.ones(5, 5, dtype=torch.bool).tril()
    expected = F.scaled_dot_product_attention(states, states, states, is_causal=True, scale=1.0)
    torch.testing.assert_close(attend(states, states, states, earlier[None]).context, expected)


def test_attend_reads_for_one_query_a_row():
    attended = attend(tensor([[0.0, 0.0]]), STATES, STATES, tensor([[True, True, False]]))
    assert attended.weights.tolist() == [[0.5, 0.5, 0]]
    assert attended.context.tolist() == [[2, 3]]


def test_splitting_and_merging_heads_are_each_others_inverse():
    states = torch.arange(2 * 3 * 10.0).view(2, 3, 10)
    heads = split_heads(states, 2)
    assert heads.shape == (2, 2, 3, 5)
    assert heads[0, 1, 0].tolist() == [5, 6, 7, 8, 9]
    assert merge_heads(heads).equal(states)


def test_parameters_start_as_the_papers_say_and_repeat_by_seed():
    vector, matrix = torch.empty(9973), torch.empty(97, 101)
    normal_init(vector, Generator().manual_seed(0))
    normal_init(matrix, Generator().manual_seed(0))
    assert vector.std().item() == pytest.approx(1, abs=0.03)
    assert matrix.abs().max().item() == pytest.approx(101**-0.5, rel=0.01)
    xavier_init(matrix, Generator().manual_seed(0))
    assert matrix.abs().max().item() == pytest.approx(math.sqrt(6 / 198), rel=0.01)
    xavier_init(vector, Generator().manual_seed(0))
    assert vector.abs().max().item() == pytest.approx(math.sqrt(6 / 9974), rel=0.01)
    usual_init(vector, Generator().manual_seed(0))
    usual_init(matrix, Generator().manual_seed(0))
    assert vector.abs().max().item() == pytest.approx(9973**-0.5, rel=0.01)
    assert matrix.abs().max().item() == pytest.approx(101**-0.5, rel=0.01)
    xavier_init(vector, Generator().manual_seed(0))
    again = torch.empty(9973)
    xavier_init(again, Generator().manual_seed(0))
    assert again.equal(vector)
