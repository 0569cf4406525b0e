"""A recurrence in each direction over padded sequences.

Axes: B sequences, T slots, E width of an input, H width of a state.
"""

import torch
from torch import Tensor, nn


class BothWays(nn.Module):
    """A GRU in each direction; padding stands at the end of a sequence and changes nothing."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.forwards = nn.GRU(inputs, width, batch_first=True)
        self.backwards = nn.GRU(inputs, width, batch_first=True)

    def forward(self, inputs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Turn inputs (B,T,E) into states (B,T,H) and the last states of both directions (B,H), H = 2·width.

        Forwards, a recurrence comes to padding last; backwards, each sequence is turned round in its own
        slots. (Packed sequences give the same in twice the time.)
        """
        there = self.forwards(inputs)[0]
        turned = turned_round(mask).unsqueeze(-1)  # (B,T,1)
        back = self.backwards(inputs.gather(1, turned.expand_as(inputs)))[0]
        slots = turned.expand_as(back)
        states = torch.cat([there, back.gather(1, slots)], -1)
        last = torch.cat([there.gather(1, slots[:, :1]), back.gather(1, slots[:, :1])], -1)
        return states, last.squeeze(1)


def turned_round(mask: Tensor) -> Tensor:
    """For each slot of a mask (B,T), the slot as far from the other end of its sequence; padding stays."""
    slots = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)
    return torch.where(mask, mask.sum(-1, keepdim=True) - 1 - slots, slots)
