"""Dropout with cheap noise: sixteen random bits an element, not a random number; and any model's for a while.

Drawing noise is a large cost of `nn.Dropout` on a CPU (a tenth of a recurrent model's whole training step).
The bits come from torch's own generator, so a seeded run repeats them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Dropout(nn.Dropout):
    """As `nn.Dropout`; on a CPU the rate is rounded to a multiple of 2⁻¹⁶, and values scaled to match."""

    def forward(self, input: Tensor) -> Tensor:
        if not self.training or self.p in (0, 1) or input.device.type != "cpu":
            return super().forward(input)
        dropped = min(round(self.p * 2**16), 2**16 - 1)
        words = torch.empty(-(-input.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
        bits = words.view(torch.int16)[: input.numel()].view(input.shape)
        kept = torch.ge(bits, dropped - 2**15, out=torch.empty_like(bits, dtype=input.dtype))
        return input * kept.mul_(2**16 / (2**16 - dropped))


def _layers(model: object) -> list[nn.Dropout]:
    if not isinstance(model, nn.Module):
        return []
    return [part for part in model.modules() if isinstance(part, nn.Dropout) and part.p > 0]


def drops(model: object) -> bool:
    """Whether a model has dropout layers, and they are off."""
    layers = _layers(model)
    return bool(layers) and not any(layer.training for layer in layers)


@contextmanager
def dropping(model: object, *, seed: int) -> Iterator[None]:
    """While this lasts the model's dropout layers are on, and nothing else of it is in training.

    The seed's masks are drawn; torch's own chance is left as it was.
    """
    layers = _layers(model)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        try:
            for layer in layers:
                layer.train()
            yield
        finally:
            for layer in layers:
                layer.eval()
