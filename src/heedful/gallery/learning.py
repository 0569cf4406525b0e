"""One way to train a small model of the gallery, the same for a mechanism and its baseline."""

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn

Model = TypeVar("Model", bound=nn.Module)


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


def as_large(make: Callable[[int], Model], parameters: int, *, widest: int = 1024) -> Model:
    """The model `make(width)` whose parameters come nearest to so many, by the smallest such width.

    The number of parameters must rise with the width. Torch's generator is left as it was before the search.
    """
    with torch.random.fork_rng(devices=[]):
        low, high = 1, widest
        while low < high:  # the first width that has at least so many
            middle = (low + high) // 2
            low, high = (low, middle) if parameters_of(make(middle)) >= parameters else (middle + 1, high)
        near = [width for width in (low - 1, low) if width >= 1]
        width = min(near, key=lambda width: abs(parameters_of(make(width)) - parameters))
    return make(width)
