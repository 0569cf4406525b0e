"""Dropout's noise, cheaply: random bits instead of random numbers, found again from a key.

Drawing noise is the largest single cost of an ordinary training step of a small model (`F.dropout` needs a
random number an element). A key (seed, step, place) names the noise, so a run that is taken up again repeats
it exactly.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from heedful.errors import UserError


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
