"""Encoders: from embedded words (B,T,E) and their mask (B,T) to the states (B,T,H) that attention sees.

Each has `width` (H) and `mixes_tokens` (does a state carry what other words say?). Padding is on the right;
what an encoder gives there is for nobody to read, and the models put 0 in its place. Encoders that mix tokens
never let padding in: a text alone and the same text among longer ones get the same states. (What stands in
padding must be finite, and of ordinary size; the models' own is 0.)

The pretrained encoder has a file of its own, `pretrained`, because it reads sub-words. The functions at the
end make an encoder from settings; `models.settings.ENCODERS` names them.
Axes: B texts (or sentences), T words, E embedding width, H state width.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from heedful.models.settings import ModelSettings

SHUT = 1e4  # far beyond what words and states add to it; e^-10,000 is 0 in all precisions


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
        states: Tensor = self.project(embedded)
        return states


class AverageEncoder(nn.Module):
    """Each word projected by itself, h = tanh(M e + b): Jain & Wallace's "average"; attention averages."""

    mixes_tokens = False

    def __init__(self, embedding: int, hidden: int) -> None:
        super().__init__()
        self.width = hidden
        self.project = nn.Linear(embedding, hidden)

    def forward(self, embedded: Tensor, mask: Tensor) -> Tensor:
        states: Tensor = self.project(embedded).tanh()
        return states


class RecurrentEncoder(nn.Module):
    """An LSTM or a GRU over the words, in one direction or in both, half of the width each.

    Read backwards, a padded row begins with its padding, which must not change the state that its last word
    finds: one more input says where padding is, and shuts the gate through which a step would write. So a
    padded bidirectional pass gives what two passes give, the second over rows turned round, without turning
    them; a packed one takes 4 to 6 times as long on a CPU.
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
        if "back" not in self.passes:
            states: Tensor = self.passes["onward"](embedded)[0]
            return states
        weights: list[Tensor] = list(self.passes.parameters())  # four of each direction, first of the inputs
        steps = embedded.transpose(0, 1)  # (T,B,E): the cells walk along the first axis, each with a copy
        if mask.all():
            steps = steps.contiguous()
        else:
            steps = torch.cat([steps, (~mask).T[..., None].to(steps.dtype)], dim=-1)
            weights[0], weights[4] = self._shutting(weights[0]), self._shutting(weights[4])
        start = steps.new_zeros(2, steps.shape[1], self.width // 2)
        rest = (weights, True, 1, 0.0, self.training, True, False)  # biases, a layer, no dropout, both ways
        if isinstance(self.passes["onward"], nn.LSTM):
            states = torch.lstm(steps, (start, start), *rest)[0]
        else:
            states = torch.gru(steps, start, *rest)[0]
        return states.transpose(0, 1).contiguous()

    def _shutting(self, weight: Tensor) -> Tensor:
        """The weights of the inputs (gates × H/2, E), with a column for padding (gates × H/2, E + 1).

        With a state of 0 an LSTM keeps it if the first gate, of what is written, is 0: c = f·0 + i·g. A GRU
        keeps it if the second, of what is kept, is 1: h = (1 − z)·n + z·0.
        """
        lstm = isinstance(self.passes["onward"], nn.LSTM)
        column = weight.new_zeros(len(weight) // (self.width // 2), self.width // 2)
        column[0 if lstm else 1] = -SHUT if lstm else SHUT
        return torch.cat([weight, column.view(-1, 1)], dim=1)


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


def no_encoder(settings: "ModelSettings", width: int) -> NoEncoder:
    """The encoder none: words as they are embedded."""
    return NoEncoder(width)


def affine(settings: "ModelSettings", width: int) -> AffineEncoder:
    """The encoder affine, of the width that is set."""
    return AffineEncoder(width, settings.hidden)


def average(settings: "ModelSettings", width: int) -> AverageEncoder:
    """The encoder average, of the width that is set."""
    return AverageEncoder(width, settings.hidden)


def recurrent(settings: "ModelSettings", width: int) -> RecurrentEncoder:
    """The encoder that is named: an LSTM or a GRU, in one direction or, with bi before it, in both."""
    cell = {"lstm": nn.LSTM, "gru": nn.GRU}[settings.encoder.removeprefix("bi")]
    return RecurrentEncoder(cell, width, settings.hidden, both=settings.encoder.startswith("bi"))


def convolution(settings: "ModelSettings", width: int) -> ConvolutionEncoder:
    """The encoder conv, of the widths that are set."""
    return ConvolutionEncoder(width, settings.hidden, settings.widths)
