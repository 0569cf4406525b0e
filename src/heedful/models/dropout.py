"""Dropout with cheap noise: sixteen random bits an element instead of a random number.

Drawing noise is a large cost of `nn.Dropout` on a CPU (a tenth of a recurrent model's whole training step).
The bits come from torch's own generator, so a seeded run repeats them.
"""

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
