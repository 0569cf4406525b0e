"""D-Attn (Seo et al., 2017): a gate for each word from the words around it, and one from the whole text.

Local gate: s_t = σ(Σ_k W_kᵀ x_{t+k} + b) over a window of w words around word t, beyond the text 0.
Global gate: s_t = σ(W_xᵀ x_t + W_gᵀ x̄ + b), x̄ the mean of the text. (The paper's global kernel has a row for
each place of a padded text. Here all places but the word's own share one row, so a text of any length can be
read and its padding is never seen.)
Then x̂_t = s_t x_t, tanh convolutions of several lengths over x̂, and the maximum of each over the text.

Gates are weights that do not compete: each lies between 0 and 1, and they do not sum to 1. Masked words get
exactly 0.
Axes: B texts, T words, H width of a word, F filters of one length.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.export
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.attention.attended import weighted_sum
from heedful.attention.controls import uniform_weights
from heedful.attention.initial import Init, new_weight, xavier_init
from heedful.attention.normalise import finite, sigmoid_weights
from heedful.attention.shapes import Axis, check_mask, check_shape, shown
from heedful.errors import UserError


@dataclass(frozen=True)
class Gated:
    """A text whose words were let through by their gates."""

    states: Tensor  # (B,T,H): gate × word
    weights: Tensor  # (B,T): the gates
    scores: Tensor  # (B,T): before the sigmoid; means nothing at masked positions


@dataclass(frozen=True)
class DualAttended:
    """What convolutions found in a text that went through two gates."""

    context: Tensor  # (B, F × number of lengths): first those after the local gate
    near: Gated
    whole: Gated


torch.export.register_dataclass(Gated, serialized_type_name="heedful.attention.Gated")
torch.export.register_dataclass(DualAttended, serialized_type_name="heedful.attention.DualAttended")


def window_scores(states: Tensor, mask: Tensor, *, kernel: Tensor) -> Tensor:
    """Score each word by its window: states (B,T,H) and a kernel (w,H), w odd, give (B,T)."""
    check_text("window_scores", states, mask, hidden="H")
    check_shape("window_scores", "a kernel", tensor=kernel, expected=("w", states.shape[-1]))
    width, words = kernel.shape[0], states.shape[1]
    if width % 2 == 0:
        raise UserError(f"window_scores needs a kernel of odd width, but {shown(kernel.shape)} came.")
    columns = states.masked_fill(~mask.unsqueeze(-1), 0).mT  # (B,H,T)
    # One place more than there are words, cut off again: so a text of no words has scores too, none.
    padded = F.pad(columns, (width // 2, width // 2 + 1))
    return F.conv1d(padded, kernel.mT.unsqueeze(0)).squeeze(1)[:, :words]


def pass_gates(states: Tensor, scores: Tensor, mask: Tensor) -> Gated:
    """Let words (B,T,H) through by the sigmoid of their scores (B,T)."""
    weights = sigmoid_weights(finite(scores), mask)
    return Gated(states * weights.unsqueeze(-1), weights, scores)


class LocalGate(nn.Module):
    """A gate for each word from the words around it."""

    def __init__(self, hidden: int, *, window: int = 5, init: Init = xavier_init) -> None:
        super().__init__()
        if window < 1 or window % 2 == 0:
            raise UserError(f"LocalGate needs an odd window, to have a middle word, but {window} came.")
        self.hidden, self.window = hidden, window
        self.kernel = new_weight(window, hidden, init=init)
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, states: Tensor, mask: Tensor) -> Gated:
        """Gate the words (B,T,H) where the mask (B,T) is true."""
        check_text(type(self).__name__, states, mask, hidden=self.hidden)
        return pass_gates(states, window_scores(states, mask, kernel=self.kernel) + self.bias, mask)

    def extra_repr(self) -> str:
        return f"{self.hidden}, window={self.window}"


class GlobalGate(nn.Module):
    """A gate for each word from the word and the whole text."""

    def __init__(self, hidden: int, *, init: Init = xavier_init) -> None:
        super().__init__()
        self.hidden = hidden
        self.word = new_weight(hidden, init=init)
        self.text = new_weight(hidden, init=init)
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, states: Tensor, mask: Tensor) -> Gated:
        """Gate the words (B,T,H) where the mask (B,T) is true."""
        check_text(type(self).__name__, states, mask, hidden=self.hidden)
        inside = states.masked_fill(~mask.unsqueeze(-1), 0)
        mean = weighted_sum(uniform_weights(mask, states.dtype), inside)  # (B,H)
        return pass_gates(states, states @ self.word + (mean @ self.text).unsqueeze(-1) + self.bias, mask)

    def extra_repr(self) -> str:
        return f"{self.hidden}"


class ConvolutionMaxima(nn.Module):
    """tanh convolutions of several lengths, and the maximum of each over the words at which it begins."""

    def __init__(self, hidden: int, filters: int, *, lengths: Sequence[int]) -> None:
        super().__init__()
        if not lengths or min(lengths) < 1:
            raise UserError(f"ConvolutionMaxima needs lengths of 1 or more words, but {tuple(lengths)} came.")
        if filters < 1:
            raise UserError(f"ConvolutionMaxima needs at least one filter, but {filters} came.")
        self.hidden, self.lengths = hidden, tuple(lengths)
        self.convolutions = nn.ModuleList(nn.Conv1d(hidden, filters, length) for length in self.lengths)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Turn words (B,T,H) into (B, F × number of lengths), 0 for a text without words."""
        check_text(type(self).__name__, states, mask, hidden=self.hidden)
        columns = states.masked_fill(~mask.unsqueeze(-1), 0).mT  # (B,H,T)
        # A convolution may reach beyond the text, where all is 0: a text shorter than it has a maximum too.
        # One place more than there are words, closed: so a text of no words has a place too.
        closed = ~F.pad(mask, (0, 1)).unsqueeze(1)
        found = [
            convolve(F.pad(columns, (0, length))).tanh().masked_fill(closed, -1).amax(-1)
            for convolve, length in zip(self.convolutions, self.lengths, strict=True)
        ]
        return torch.cat(found, -1) * mask.any(-1, keepdim=True)


class DualAttention(nn.Module):
    """A text through a local and a global gate, each followed by convolutions and maxima of its own."""

    def __init__(
        self,
        hidden: int,
        filters: int,
        *,
        window: int = 5,
        local_lengths: Sequence[int] = (1,),
        global_lengths: Sequence[int] = (2, 3, 4),
        init: Init = xavier_init,
    ) -> None:
        super().__init__()
        self.near = LocalGate(hidden, window=window, init=init)
        self.whole = GlobalGate(hidden, init=init)
        self.near_maxima = ConvolutionMaxima(hidden, filters, lengths=local_lengths)
        self.whole_maxima = ConvolutionMaxima(hidden, filters, lengths=global_lengths)
        self.width = filters * (len(local_lengths) + len(global_lengths))

    def forward(self, states: Tensor, mask: Tensor) -> DualAttended:
        """Read a text (B,T,H) where the mask (B,T) is true."""
        near, whole = self.near(states, mask), self.whole(states, mask)
        found = [self.near_maxima(near.states, mask), self.whole_maxima(whole.states, mask)]
        return DualAttended(torch.cat(found, -1), near, whole)


def check_text(where: str, states: Tensor, mask: Tensor, *, hidden: Axis) -> None:
    check_shape(where, "states", tensor=states, expected=("B", "T", hidden))
    check_shape(where, "a mask", tensor=mask, expected=states.shape[:2])
    check_mask(where, mask)
