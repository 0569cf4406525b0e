"""Codes and their ancestors: the table, and what attention over it comes to by hand."""

import pytest
import torch

from heedful.attention import AncestorAttention, ancestor_table
from heedful.errors import UserError

# 0 and 1 are children of 3, 2 is a child of 4, 3 is a child of 4, and 4 is the root.
PARENTS = torch.tensor([3, 3, 4, 4, -1])


def test_each_node_is_followed_by_its_ancestors_and_the_root_is_repeated():
    nodes, mask = ancestor_table(PARENTS)
    assert nodes.tolist() == [[0, 3, 4], [1, 3, 4], [2, 4, 4], [3, 4, 4], [4, 4, 4]]
    assert mask.sum(1).tolist() == [3, 3, 2, 2, 1]
    assert (mask[:, 0]).all()


def test_several_roots_are_a_forest_and_no_node_is_an_empty_table():
    nodes, mask = ancestor_table(torch.tensor([-1, -1, 1]))
    assert nodes.tolist() == [[0, 0], [1, 1], [2, 1]]
    assert mask.tolist() == [[True, False], [True, False], [True, True]]
    assert ancestor_table(torch.zeros(0, dtype=torch.long))[0].shape == (0, 1)


@pytest.mark.parametrize("parents", [[1, 0], [0], [1, 2, 0, -1]])
def test_a_circle_is_refused(parents):
    with pytest.raises(UserError, match="its own ancestor"):
        ancestor_table(torch.tensor(parents))


@pytest.mark.parametrize("parents", [[3, -1, -1], [-2, -1, -1]])
def test_a_parent_that_does_not_exist_is_refused_with_what_came(parents):
    with pytest.raises(UserError, match="needs parents from -1 to 2, but"):
        ancestor_table(torch.tensor(parents))


def test_a_code_is_the_mixture_of_the_paper():
    torch.manual_seed(0)
    module, states = AncestorAttention(2, width=3), torch.randn(1, 3, 2)
    attended = module(states, torch.tensor([[True, True, True]]))
    weights = []
    for place in range(3):
        inside = module.score.query_projection @ states[0, 0] + module.score.projection @ states[0, place]
        weights.append(module.score.context @ (inside + module.score.bias).tanh())
    by_hand = torch.stack(weights).softmax(0)
    torch.testing.assert_close(attended.weights[0], by_hand)
    torch.testing.assert_close(attended.context[0], by_hand @ states[0])


def test_a_root_is_itself():
    states = torch.randn(1, 3, 5)
    attended = AncestorAttention(5)(states, torch.tensor([[True, False, False]]))
    assert attended.weights.tolist() == [[1.0, 0.0, 0.0]]
    torch.testing.assert_close(attended.context, states[:, 0])


@pytest.mark.parametrize(
    ("states", "mask", "said"),
    [
        ((3, 7, 4), (3, 7), r"AncestorAttention needs states of shape \(B, T, 5\), but \(3, 7, 4\) came"),
        ((3, 7, 5), (3, 2), r"AncestorAttention needs a mask of shape \(3, 7\), but \(3, 2\) came"),
    ],
)
def test_a_wrong_shape_is_said_with_what_was_needed_and_what_came(states, mask, said):
    with pytest.raises(UserError, match=said):
        AncestorAttention(5)(torch.zeros(states), torch.ones(mask, dtype=torch.bool))
