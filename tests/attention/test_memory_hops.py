"""A memory that is asked several times: what a hop reads, and what the next one asks."""

import pytest
import torch

from heedful.attention import MemoryHops, attend, recall, recall_adjacent
from heedful.errors import UserError

KEYS = torch.tensor([[[100.0, 0.0, 0.0], [0.0, 100.0, 0.0], [0.0, 0.0, 100.0]]])
ALL = torch.ones(1, 3, dtype=torch.bool)


def test_the_second_hop_finds_by_what_the_first_has_read():
    # Key 0 leads to a value that matches key 2; only whoever asks twice gets there.
    values = torch.tensor([[[-1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 5.0, 0.0]]])
    query, same = torch.tensor([[1.0, 0.0, 0.0]]), torch.eye(3).expand(2, 3, 3)
    recalled = recall(query, KEYS, values, ALL, matrices=same)
    torch.testing.assert_close(recalled.weights, torch.tensor([[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]]))
    torch.testing.assert_close(recalled.contexts[0], torch.tensor([[-1.0, 0.0, 1.0], [0.0, 5.0, 0.0]]))
    torch.testing.assert_close(recalled.answer, torch.tensor([[0.0, 5.0, 1.0]]))


def test_one_hop_is_attention_followed_by_its_matrix():
    torch.manual_seed(0)
    keys, values, query = torch.randn(2, 7, 5), torch.randn(2, 7, 5), torch.randn(2, 5)
    mask = torch.arange(7) < torch.tensor([[7], [4]])
    memory = MemoryHops(5, hops=1)
    recalled, once = memory(keys, mask, query=query, values=values), attend(query, keys, values, mask)
    torch.testing.assert_close(recalled.weights[:, 0], once.weights)
    torch.testing.assert_close(recalled.answer, (query + once.context) @ memory.matrices[0].T)


def test_each_hop_has_a_matrix_of_its_own():
    matrices = MemoryHops(5, hops=2).matrices
    assert matrices.shape == (2, 5, 5)
    assert not matrices[0].equal(matrices[1])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"keys": torch.zeros(2, 7, 3)}, "MemoryHops needs keys of shape (B, T, 5), but (2, 7, 3) came."),
        ({"query": torch.zeros(2, 3)}, "MemoryHops needs a query of shape (2, 5), but (2, 3) came."),
        ({"values": torch.zeros(2, 3, 5)}, "MemoryHops needs values of shape (2, 7, 5), but (2, 3, 5) came."),
        (
            {"mask": torch.ones(2, 3, dtype=torch.bool)},
            "MemoryHops needs a mask of shape (2, 7), but (2, 3) came.",
        ),
    ],
)
def test_a_wrong_shape_is_said_with_what_was_needed_and_what_came(change, said):
    given = {
        "keys": torch.zeros(2, 7, 5),
        "mask": torch.ones(2, 7, dtype=torch.bool),
        "query": torch.zeros(2, 5),
    }
    with pytest.raises(UserError) as error:
        MemoryHops(5)(**given | change)
    assert str(error.value) == said


def test_a_memory_without_hops_is_refused():
    with pytest.raises(UserError, match="at least one hop, but 0 came"):
        MemoryHops(5, hops=0)


def test_adjacent_hops_read_the_next_memory_by_the_one_before_and_ask_with_what_was_read():
    torch.manual_seed(5)
    first, second, third = (torch.randn(2, 3, 5) for _ in range(3))
    query, mask = torch.randn(2, 5), torch.tensor([[True, True, False], [True, True, True]])
    recalled = recall_adjacent(query, [first, second, third], mask)
    once = attend(query, first, second, mask)
    twice = attend(query + once.context, second, third, mask)
    torch.testing.assert_close(recalled.weights, torch.stack([once.weights, twice.weights], 1))
    torch.testing.assert_close(recalled.answer, query + once.context + twice.context)
    assert recalled.weights[0, :, 2].eq(0).all()


def test_one_memory_makes_no_hop():
    with pytest.raises(UserError, match="needs two memories for one hop, but 1 came"):
        recall_adjacent(torch.zeros(1, 3), [torch.zeros(1, 2, 3)], torch.ones(1, 2, dtype=torch.bool))
