"""Optimisers on the touched rows are exactly the dense ones of torch."""

import pytest
import torch
import torch.nn.functional as F

from heedful.training.optimisers import rows_adagrad, rows_sgd

VOCABULARY, WIDTH = 13, 5
BATCHES = [[1, 4, 4, 9], [4, 12], [11, 1, 1, 1], [9, 0, 4]]


def objective(vectors, number):
    """Something curved in which each occurrence counts."""
    return (vectors.sin() * torch.arange(1, WIDTH + 1)).prod(1).exp().sum() * (number + 1)


@pytest.mark.parametrize("optimiser", ["adagrad", "sgd"])
def test_moving_the_batchs_rows_equals_moving_the_whole_table(optimiser):
    table = torch.randn(VOCABULARY, WIDTH, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    dense = table.clone().requires_grad_()
    sums = torch.zeros_like(table)
    usual = (
        torch.optim.Adagrad([dense], lr=0.1, lr_decay=0.3)
        if optimiser == "adagrad"
        else torch.optim.SGD([dense], lr=0.1)
    )
    for number, ids in enumerate(BATCHES):
        usual.zero_grad()
        objective(dense[ids], number).backward()
        usual.step()

        tokens, inverse = torch.unique(torch.tensor(ids), return_inverse=True)
        rows = table[tokens].requires_grad_()
        objective(F.embedding(inverse, rows), number).backward()
        if optimiser == "adagrad":
            rows_adagrad(
                table, rows.grad, sums=sums, tokens=tokens, step=number + 1, rate=0.1, rate_decay=0.3
            )
        else:
            rows_sgd(table, rows.grad, tokens=tokens, rate=0.1)
        torch.testing.assert_close(table, dense.detach(), rtol=1e-13, atol=0)


def test_without_tokens_the_whole_tensor_moves():
    context = torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64)
    dense = context.clone().requires_grad_()
    usual, sums = torch.optim.Adagrad([dense], lr=0.1, lr_decay=0.5), torch.zeros_like(context)
    for step in (1, 2, 3):
        usual.zero_grad()
        dense.pow(3).sum().backward()
        usual.step()
        rows_adagrad(context, 3 * context.square(), sums=sums, step=step, rate=0.1, rate_decay=0.5)
    torch.testing.assert_close(context, dense.detach(), rtol=1e-13, atol=0)


def test_rows_without_words_stay_bit_for_bit():
    table = torch.randn(VOCABULARY, WIDTH)
    before, sums = table.clone(), torch.zeros_like(table)
    tokens = torch.tensor([2, 7])
    rows_adagrad(table, torch.ones(2, WIDTH), sums=sums, tokens=tokens, step=1, rate=0.1)
    rest = [token for token in range(VOCABULARY) if token not in (2, 7)]
    assert torch.equal(table[rest], before[rest])
    # Adagrad's first step is rate × sign of the gradient.
    torch.testing.assert_close(table[tokens], before[tokens] - 0.1)
