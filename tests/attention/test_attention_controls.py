"""Controls: uniform, frozen and shuffled weights."""

from collections import Counter

import torch
from torch import Generator, tensor

from heedful.attention import (
    Attention,
    DotScore,
    FrozenAttention,
    ShuffledAttention,
    UniformAttention,
    frozen_weights,
    shuffled_weights,
    uniform_weights,
)

MASK = tensor([[True, True, True, False, False], [True, False, True, False, True], [False] * 5])
WEIGHTS = tensor([[1.0, 2.0, 3.0, 0.0, 0.0], [1.0, 0.0, 2.0, 0.0, 3.0], [0.0] * 5]) / 6


def test_uniform_weights_are_one_over_the_number_of_tokens():
    assert uniform_weights(tensor([[True, False, True, True, True], [False] * 5])).tolist() == [
        [0.25, 0, 0.25, 0.25, 0.25],
        [0] * 5,
    ]


def test_uniform_attention_is_the_mean_over_real_tokens():
    states = torch.arange(3 * 5 * 2.0).view(3, 5, 2)
    attended = UniformAttention()(states, MASK)
    torch.testing.assert_close(attended.context[0], states[0, :3].mean(0))
    assert (attended.scores == 0).all()


def test_frozen_weights_carry_no_gradient_and_none_to_padding():
    given = torch.full((3, 5), 0.2, requires_grad=True)
    frozen = frozen_weights(given, MASK)
    assert not frozen.requires_grad
    assert frozen.equal(MASK * 0.2)


def test_frozen_attention_reads_the_states_by_the_given_weights():
    states = torch.arange(3 * 5 * 2.0).view(3, 5, 2).requires_grad_()
    attended = FrozenAttention()(states, MASK, query=WEIGHTS)
    by_hand = (1 * states[0, 0] + 2 * states[0, 1] + 3 * states[0, 2]) / 6
    torch.testing.assert_close(attended.context[0], by_hand)
    attended.context.sum().backward()
    torch.testing.assert_close(states.grad[..., 0], WEIGHTS)


def test_shuffling_keeps_each_rows_weights_on_its_real_tokens():
    shuffled = shuffled_weights(WEIGHTS, MASK, generator=Generator().manual_seed(0))
    assert shuffled.sort(-1).values.equal(WEIGHTS.sort(-1).values)
    assert (shuffled[~MASK] == 0).all()
    assert shuffled_weights(WEIGHTS, MASK, generator=Generator().manual_seed(0)).equal(shuffled)


def test_shuffling_gives_every_permutation_equally_often_and_each_row_its_own():
    rows = WEIGHTS[1:2].expand(6000, 5)
    shuffled = shuffled_weights(rows, MASK[1:2], generator=Generator().manual_seed(1))
    counts = Counter(tuple(row) for row in (shuffled * 6).round().int().tolist())
    assert len(counts) == 6
    assert all(850 < count < 1150 for count in counts.values())


def test_the_shuffled_mechanism_gives_every_permutation_over_seeds_and_lengths():
    mechanism = Attention(DotScore(2))
    states = torch.randn(1, 5, 2, generator=Generator().manual_seed(0))
    plain = mechanism(states, MASK[1:2]).weights
    counts = Counter(
        tuple(ShuffledAttention(mechanism, seed=seed)(states, MASK[1:2]).weights[0].tolist())
        for seed in range(600)
    )
    assert len(counts) == 6
    assert all(60 < count < 140 for count in counts.values())
    assert all(sorted(row) == sorted(plain[0].tolist()) for row in counts)
    assert all(row[1] == row[3] == 0 for row in counts)


def test_the_shuffled_mechanism_moves_scores_with_their_weights():
    mechanism = Attention(DotScore(2))
    states = torch.randn(3, 5, 2, generator=Generator().manual_seed(0))
    plain = mechanism(states, MASK)
    shuffled = ShuffledAttention(mechanism, seed=4)(states, MASK)
    assert not shuffled.weights.equal(plain.weights)
    pairs = set(zip(plain.scores[0, :3].tolist(), plain.weights[0, :3].tolist(), strict=True))
    assert set(zip(shuffled.scores[0, :3].tolist(), shuffled.weights[0, :3].tolist(), strict=True)) == pairs
    torch.testing.assert_close(shuffled.context, (shuffled.weights[..., None] * states).sum(1))


def test_the_shuffled_mechanism_still_trains_what_it_wraps():
    mechanism = Attention(DotScore(2))
    ShuffledAttention(mechanism)(torch.randn(3, 5, 2), MASK).context.square().sum().backward()
    assert mechanism.score.context.grad.abs().sum() > 0
