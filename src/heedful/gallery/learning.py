"""One way to train a small model of the gallery, the same for a mechanism and its baseline."""

from collections.abc import Callable

import torch
from torch import Tensor, nn


def learn(model: nn.Module, loss: Callable[[], Tensor], *, steps: int, rate: float) -> None:
    """Lower a loss, drawn anew for each step, with Adam; the rate rises over a tenth of them, then falls.

    Whatever the loss draws should come from torch's generator: see `seeded`.
    """
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps, pct_start=0.1)
    model.train()
    for _ in range(steps):
        optimiser.zero_grad()
        loss().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
    model.eval()


def parameters_of(model: nn.Module) -> int:
    """How many numbers a model learns."""
    return sum(parameter.numel() for parameter in model.parameters())
