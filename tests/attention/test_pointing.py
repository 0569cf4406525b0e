"""Pointing: the weights are the answer, closed items cannot be chosen, and the loss reads scores."""

import pytest
import torch

from heedful.attention import Pointer, pointing_loss
from heedful.errors import UserError

SCORES = torch.tensor([[0.0, 1.0, 2.0], [5.0, 0.0, 0.0]])


def test_scores_are_the_papers_small_network():
    torch.manual_seed(0)
    pointer, states, query = Pointer(5, query=13, width=11), torch.randn(2, 7, 5), torch.randn(2, 13)
    mask = torch.ones(2, 7, dtype=torch.bool)
    score = pointer.score
    by_hand = torch.tanh(states @ score.projection.T + (query @ score.query_projection.T)[:, None])
    torch.testing.assert_close(pointer(states, mask, query=query).scores, by_hand @ score.context)


def test_a_closed_item_is_never_pointed_at_and_the_others_share_its_weight():
    torch.manual_seed(0)
    pointer, states, query = Pointer(5, query=13), torch.randn(1, 3, 5), torch.randn(1, 13)
    everything = torch.ones(1, 3, dtype=torch.bool)
    before = pointer(states, everything, query=query).weights[0]
    after = pointer(states, torch.tensor([[True, False, True]]), query=query).weights[0]
    assert after[1] == 0
    torch.testing.assert_close(after[[0, 2]], before[[0, 2]] / before[[0, 2]].sum())


def test_each_step_may_have_its_own_closed_items():
    torch.manual_seed(0)
    pointer, states, query = Pointer(5, query=13), torch.randn(1, 3, 5), torch.randn(1, 2, 13)
    mask = torch.tensor([[[True, True, False], [False, False, True]]])
    weights = pointer(states, mask, query=query).weights
    assert (weights[~mask] == 0).all()
    assert weights[0, 1, 2] == 1


def test_the_loss_is_the_negative_log_of_the_weight_of_the_target():
    mask = torch.tensor([[True, True, True], [True, True, False]])
    losses = pointing_loss(SCORES, mask, targets=torch.tensor([1, 0]))
    by_hand = torch.stack(
        [SCORES[0].exp().sum().log() - SCORES[0, 1], SCORES[1, :2].exp().sum().log() - SCORES[1, 0]]
    )
    torch.testing.assert_close(losses, by_hand)


def test_a_step_beyond_the_end_costs_nothing_even_with_nothing_open():
    scores = SCORES.clone().requires_grad_()
    mask = torch.tensor([[True, True, True], [False, False, False]])
    losses = pointing_loss(scores, mask, targets=torch.tensor([1, -1]))
    assert losses[1] == 0
    losses.sum().backward()
    assert scores.grad.isfinite().all()
    assert (scores.grad[1] == 0).all()


def test_the_loss_has_a_gradient_where_the_weight_has_become_zero():
    scores = torch.tensor([[0.0, 1e4]], requires_grad=True)
    mask = torch.ones(1, 2, dtype=torch.bool)
    pointing_loss(scores, mask, targets=torch.tensor([0])).sum().backward()
    torch.testing.assert_close(scores.grad, torch.tensor([[-1.0, 1.0]]))


def test_a_wrong_shape_is_said_with_what_was_needed_and_what_came():
    pointer, mask = Pointer(5, query=13), torch.ones(2, 7, dtype=torch.bool)
    with pytest.raises(UserError, match=r"needs states of shape \(B, T, 5\), but \(2, 7, 3\) came"):
        pointer(torch.zeros(2, 7, 3), mask, query=torch.zeros(2, 13))
    with pytest.raises(UserError, match=r"needs a query of shape \(2, 13\), but \(2, 5\) came"):
        pointer(torch.zeros(2, 7, 5), mask, query=torch.zeros(2, 5))
    with pytest.raises(UserError, match=r"Pointer needs a mask for scores of shape \(2, 7\), but \(2, 3\)"):
        pointer(torch.zeros(2, 7, 5), mask[:, :3], query=torch.zeros(2, 13))
    with pytest.raises(UserError, match=r"pointing_loss needs targets of shape \(2\), but \(3\) came"):
        pointing_loss(SCORES, SCORES > -1, targets=torch.zeros(3, dtype=torch.long))
