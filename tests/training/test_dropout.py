"""Dropout's noise from a key: the right share, the right factor, and the same again for the same key."""

import numpy as np
import pytest
import torch

from heedful.errors import UserError
from heedful.models.dropout import keep_factors

LIKE = torch.zeros(1)


@pytest.mark.parametrize("rate", [0.5, 0.3, 0.9])
def test_factors_drop_the_rate_and_keep_the_mean(rate):
    factors = keep_factors((307, 211), rate, key=[1, 2, 3], like=LIKE)
    assert factors.shape == (307, 211)
    assert sorted(factors.unique().tolist()) == pytest.approx([0, 1 / (1 - rate)], rel=1e-4)
    error = np.sqrt(rate * (1 - rate) / factors.numel())
    assert abs((factors == 0).double().mean().item() - rate) < 4 * error


@pytest.mark.parametrize("rate", [0.5, 0.3])
def test_a_key_gives_the_same_noise_and_another_key_other_noise(rate):
    first = keep_factors((17, 19), rate, key=[5, 0, 0], like=LIKE)
    assert torch.equal(first, keep_factors((17, 19), rate, key=[5, 0, 0], like=LIKE))
    for other in ([5, 1, 0], [5, 0, 1], [6, 0, 0]):
        assert not torch.equal(first, keep_factors((17, 19), rate, key=other, like=LIKE))


def test_factors_take_the_dtype_of_the_tensor_they_are_for():
    assert keep_factors((3,), 0.5, key=[1], like=LIKE.double()).dtype == torch.float64


def test_no_dropout_needs_no_noise():
    assert keep_factors((3, 5), 0.0, key=[1], like=LIKE) is None


@pytest.mark.parametrize("rate", [-0.1, 1.0, 2.0])
def test_an_impossible_rate_is_refused(rate):
    with pytest.raises(UserError, match="at least 0 and below 1"):
        keep_factors((3,), rate, key=[1], like=LIKE)
