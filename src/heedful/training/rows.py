"""Optimisers that touch only the rows a batch has words of, and are exactly the dense ones.

A row without a gradient does not move under plain SGD, nor under Adagrad, whose step is rate · g / √Σg².
(Adam is not among them: its averages move every row at every step.) For autograd, make a leaf of the batch's
distinct rows, `rows = table[tokens].requires_grad_()`, embed with `F.embedding(inverse, rows)`, and hand
`rows.grad` to these.
Axes: V vocabulary, R distinct tokens of a batch, E width.
"""

import torch
from torch import Tensor


@torch.no_grad()
def rows_adagrad(
    table: Tensor,
    gradient: Tensor,
    *,
    sums: Tensor,
    step: int,
    rate: float,
    rate_decay: float = 0.0,
    tokens: Tensor | None = None,
    rows: Tensor | None = None,
) -> None:
    """Move the rows `tokens` (R,) of `table` (V, E), and its `sums` of squares, by their gradient (R, E).

    As torch.optim.Adagrad with lr_decay and eps 1e-10. `step` counts from 1. Without `tokens` the whole
    tensor moves. Each token stands once in `tokens`. `rows`, if given, is a copy of those rows to work in.
    """
    if tokens is None:
        spread = sums.add_(gradient.square()).sqrt()
        table.addcdiv_(gradient, spread.add_(1e-10), value=-decayed(rate, rate_decay, step))
        return
    squares = sums.index_select(0, tokens).addcmul_(gradient, gradient)
    sums.index_copy_(0, tokens, squares)
    rows = table.index_select(0, tokens) if rows is None else rows
    rows.addcdiv_(gradient, squares.sqrt_().add_(1e-10), value=-decayed(rate, rate_decay, step))
    table.index_copy_(0, tokens, rows)  # faster than to add at an index


@torch.no_grad()
def rows_sgd(table: Tensor, gradient: Tensor, *, rate: float, tokens: Tensor | None = None) -> None:
    """Move the rows `tokens` (R,) of `table` (V, E) by their gradient (R, E); without `tokens` all of it."""
    if tokens is None:
        table.add_(gradient, alpha=-rate)
    else:
        table.index_add_(0, tokens, gradient, alpha=-rate)


def decayed(rate: float, rate_decay: float, step: int) -> float:
    """The rate of step 1, 2, …, as torch.optim.Adagrad has it."""
    return rate / (1 + (step - 1) * rate_decay)
