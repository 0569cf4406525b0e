"""Optimisers: PyTorch's by name, and two that touch only the rows a batch has words of, exactly as the dense.

A row without a gradient does not move under plain SGD, nor under Adagrad, whose step is rate · g / √Σg².
(Adam is not among them: its averages move every row at every step.) For autograd, make a leaf of the batch's
distinct rows, `rows = table[tokens].requires_grad_()`, embed with `F.embedding(inverse, rows)`, and hand
`rows.grad` to these.
Axes: V vocabulary, R distinct tokens of a batch, E width.
"""

from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from heedful.errors import choose_from
from heedful.training.settings import OPTIMISERS, TrainingSettings

Groups = list[dict[str, Any]]


def optimiser_of(groups: Groups, settings: TrainingSettings) -> Optimizer:
    """The optimiser of the settings, over groups of parameters as PyTorch takes them."""
    return OPTIMISERS[choose_from("optimiser", settings.optimiser, OPTIMISERS)](groups, settings)


def sgd(groups: Groups, settings: TrainingSettings) -> Optimizer:
    """Plain gradient descent."""
    return torch.optim.SGD(groups, lr=settings.rate)


def adagrad(groups: Groups, settings: TrainingSettings) -> Optimizer:
    """Adagrad; fused, a step is one call for all parameters: made for the CPU, as is Adagrad here."""
    on_cpu = all(parameter.device.type == "cpu" for group in groups for parameter in group["params"])
    return torch.optim.Adagrad(groups, lr=settings.rate, lr_decay=settings.rate_decay, fused=on_cpu)


def adam(groups: Groups, settings: TrainingSettings) -> Optimizer:
    """Adam moves every row of a table at every step; fused, it goes over the memory once."""
    return torch.optim.Adam(groups, lr=settings.rate, amsgrad=settings.amsgrad, fused=True)


def adamw(groups: Groups, settings: TrainingSettings) -> Optimizer:
    """Adam with L2 apart from the gradient."""
    return torch.optim.AdamW(groups, lr=settings.rate, amsgrad=settings.amsgrad, fused=True)


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
