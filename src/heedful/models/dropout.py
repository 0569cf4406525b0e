"""Dropout with cheap noise: random bits, not a random number an element; and any model's for a while.

Drawing noise is the largest single cost of an ordinary training step of a small model, and a tenth of a
recurrent one's. The layer's bits come from torch's own generator, so a seeded run repeats them. Where steps
are written out (`keep_factors`) a key (seed, step, place) names the noise, so a run that is taken up again
repeats it exactly.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, nn

from heedful.errors import UserError


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


def keep_factors(shape: Sequence[int], rate: float, *, key: Sequence[int], like: Tensor) -> Tensor | None:
    """Dropout's factors, 0 with probability `rate`, else 1/(1 − rate), in `like`'s dtype; None at rate 0.

    On a CPU a rate other than ½ is rounded to a multiple of 2⁻¹⁶, and the factors belong to the rounded rate.
    """
    check_rate(rate)
    if rate == 0:
        return None
    if like.device.type != "cpu":
        seed = int(np.random.SeedSequence(key).generate_state(1, np.uint64)[0] >> 1)
        generator = torch.Generator(like.device).manual_seed(seed)
        kept = torch.rand(tuple(shape), generator=generator, device=like.device) >= rate
        return kept.to(like.dtype) / (1 - rate)
    generator_bits = np.random.Generator(np.random.SFC64(np.random.SeedSequence(key)))
    count = math.prod(shape)
    if rate == 0.5:
        bits = np.frombuffer(generator_bits.bytes(-(-count // 8)), np.uint8)
        kept_bits, share = np.unpackbits(bits, count=count), 0.5
    else:
        drop = min(round(rate * 2**16), 2**16 - 1)
        draws = np.frombuffer(generator_bits.bytes(2 * count), np.uint16)
        kept_bits, share = (draws >= drop).view(np.uint8), 1 - drop / 2**16
    return torch.from_numpy(kept_bits).to(like.dtype).mul_(1 / share).reshape(tuple(shape))


def check_rate(rate: float) -> None:
    """Refuse a dropout rate outside [0, 1)."""
    if not 0 <= rate < 1:
        raise UserError(f"A dropout rate must be at least 0 and below 1, but it is {rate}.")


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
