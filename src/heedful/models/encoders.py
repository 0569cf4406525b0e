"""Encoders: from embedded words (B,T,E) and their mask (B,T) to the states (B,T,H) that attention sees.

Each has `width` (H) and `mixes_tokens` (does a state carry what other words say?). Padding is on the right;
what an encoder gives there is for nobody to read, and the models put 0 in its place. Encoders that mix tokens
never let padding in: a text alone and the same text among longer ones get the same states.

The pretrained encoder has a file of its own, `pretrained`, because it reads sub-words.
Axes: B texts (or sentences), T words, E embedding width, H state width.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn


class NoEncoder(nn.Module):
    """Attention sees the embedded words themselves (h = e)."""

    mixes_tokens = False

    def __init__(self, embedding: int) -> None:
        super().__init__()
        self.width = embedding

    def forward(self, embedded: Tensor, mask: Tensor) -> Tensor:
        return embedded


class AffineEncoder(nn.Module):
    """h = M e, without a bias (Sun & Lu, Eq. 56)."""

    mixes_tokens = False

    def __init__(self, embedding: int, hidden: int) -> None:
        super().__init__()
        self.width = hidden
        self.project = nn.Linear(embedding, hidden, bias=False)

    def forward(self, embedded: Tensor, mask: Tensor) -> Tensor:
        return self.project(embedded)


class AverageEncoder(nn.Module):
    """Each word projected by itself, h = tanh(M e + b): Jain & Wallace's "average"; attention averages."""

    mixes_tokens = False

    def __init__(self, embedding: int, hidden: int) -> None:
        super().__init__()
        self.width = hidden
        self.project = nn.Linear(embedding, hidden)

    def forward(self, embedded: Tensor, mask: Tensor) -> Tensor:
        return self.project(embedded).tanh()


class RecurrentEncoder(nn.Module):
    """An LSTM or a GRU over the words, in one direction or in both, half of the width each.

    Both directions are two passes in one direction, the second over each row read backwards within its
    length. A padded bidirectional pass would read the padding first, and a packed one takes 4 to 6 times as
    long on a CPU.
    """

    mixes_tokens = True

    def __init__(
        self, kind: type[nn.LSTM] | type[nn.GRU], embedding: int, hidden: int, *, both: bool
    ) -> None:
        super().__init__()
        self.width = hidden
        directions = ("onward", "back") if both else ("onward",)
        self.passes = nn.ModuleDict(
            {name: kind(embedding, hidden // len(directions), batch_first=True) for name in directions}
        )

    def forward(self, embedded: Tensor, mask: Tensor) -> Tensor:
        onward, _ = self.passes["onward"](embedded)
        if "back" not in self.passes:
            return onward
        turn = backwards(mask)
        back, _ = self.passes["back"](_reorder(embedded, turn))
        return torch.cat([onward, _reorder(back, turn)], dim=-1)


class ConvolutionEncoder(nn.Module):
    """Convolutions of odd widths around each word, ReLU, concatenated (3 and 5: Serrano & Smith, A.1)."""

    mixes_tokens = True

    def __init__(self, embedding: int, hidden: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.width = hidden
        filters = hidden // len(widths)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(embedding, filters, width, padding=width // 2) for width in widths
        )

    def forward(self, embedded: Tensor, mask: Tensor) -> Tensor:
        # Padding must look like the edge of the text, which convolution takes for 0.
        columns = embedded.masked_fill(~mask[..., None], 0).transpose(1, 2)  # (B,E,T)
        return torch.cat([convolve(columns) for convolve in self.convolutions], dim=1).relu().transpose(1, 2)


Encoder = NoEncoder | AffineEncoder | AverageEncoder | RecurrentEncoder | ConvolutionEncoder


def backwards(mask: Tensor) -> Tensor:
    """The slot numbers (B,T) that turn round each row's words and leave its padding, given its mask (B,T)."""
    slots = torch.arange(mask.shape[1], device=mask.device)
    return torch.where(mask, mask.sum(1, keepdim=True) - 1 - slots, slots)


class _Reorder(torch.autograd.Function):
    """Slots in an order that undoes itself: its gradient is the same copy of rows, not a sum into them."""

    generate_vmap_rule = True

    @staticmethod
    def forward(states: Tensor, rows: Tensor) -> Tensor:
        return states.flatten(0, 1).index_select(0, rows).view_as(states)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (rows,) = ctx.saved_tensors
        return _Reorder.apply(gradients[0].contiguous(), rows), None


def _reorder(states: Tensor, order: Tensor) -> Tensor:
    rows = order + torch.arange(len(order), device=order.device)[:, None] * order.shape[1]
    return _Reorder.apply(states, rows.flatten())
