"""The recogniser of `location` (Chorowski et al., 2015): frames are heard, then written down.

    α_i = Attend(s_{i−1}, α_{i−1}, h),  g_i = Σ_j α_ij h_j,  y_i ~ Generate(s_{i−1}, g_i),
    s_i = Recurrency(s_{i−1}, g_i, y_i)

Before the first step all weight lies on the first frame.
Axes: B utterances, T frames, D features of a frame, N symbols, H width of a frame's state, C of the
decoder's, K outputs.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.attention import LocationSensitiveAttention
from heedful.gallery.both_ways import BothWays
from heedful.gallery.utterances import Utterances, symbol_error

Kind = Literal["content", "location", "hybrid"]
KINDS: tuple[Kind, ...] = ("content", "location", "hybrid")


@dataclass(frozen=True)
class Shape:
    """What all kinds have alike."""

    features: int  # D
    end: int  # the symbol after the last; those that are said have smaller numbers
    state: int  # H, half of it for each direction
    decoder: int  # C
    filters: int  # over the weights before
    window: int  # of a filter, in frames, odd


class Written(NamedTuple):
    """What was written: logits (B,N,K), and the weights (B,N,T) with which it was read."""

    logits: Tensor
    weights: Tensor


class Listener(nn.Module):
    """A GRU over the frames in both directions, and the decoder that reads it."""

    def __init__(self, kind: Kind, shape: Shape, *, width: int) -> None:
        super().__init__()
        self.kind, self.shape = kind, shape
        state, decoder, outputs = shape.state, shape.decoder, shape.end + 1
        self.hear = BothWays(shape.features, state // 2)
        self.attend = LocationSensitiveAttention(
            state,
            query=None if kind == "location" else decoder,
            filters=0 if kind == "content" else shape.filters,
            window=shape.window,
            width=width,
        )
        self.generate = nn.Sequential(
            nn.Linear(decoder + state, decoder), nn.Tanh(), nn.Linear(decoder, outputs)
        )
        self.symbols = nn.Embedding(outputs, state)
        self.recur = nn.GRUCell(2 * state, decoder)

    def forward(self, utterances: Utterances, steps: int, symbols: Tensor | None = None) -> Written:
        """Write for some steps, each after the given symbols (B,N) or else after its own."""
        mask = utterances.mask
        states, _ = self.hear(utterances.frames, mask)
        state = states.new_zeros(len(states), self.shape.decoder)
        weights = F.one_hot(mask.new_zeros(len(mask), dtype=torch.long), mask.shape[1]).to(states.dtype)
        read, aligned = [], []
        for step in range(steps):
            query = None if self.kind == "location" else state
            previous = None if self.kind == "content" else weights
            attended = self.attend(states, mask, query=query, previous=previous)
            context, weights = attended.context, attended.weights
            read.append(torch.cat([state, context], -1))
            aligned.append(weights)
            symbol = self.generate(read[-1]).argmax(-1) if symbols is None else symbols[:, step].clamp(min=0)
            state = self.recur(torch.cat([context, self.symbols(symbol)], -1), state)
        return Written(self.generate(torch.stack(read, 1)), torch.stack(aligned, 1))


def surprise(model: Listener, utterances: Utterances) -> Tensor:
    """The loss: how little each symbol was expected after the right ones before it."""
    logits = model(utterances, utterances.symbols.shape[1], utterances.symbols).logits
    return F.cross_entropy(logits.flatten(0, 1), utterances.symbols.flatten(), ignore_index=-1)


class Dictation(NamedTuple):
    """What a model makes of utterances that it writes down by itself, in shares."""

    in_place: float  # of symbols: the greatest weight of their step lies on their frames or the pause beside
    monotone: float  # of utterances: the greatest weight goes on at every symbol, neither back nor staying
    error: float  # symbols to insert, remove or change, for each symbol said


@torch.no_grad()
def dictate(model: Listener, utterances: Utterances, *, end: int, steps: int | None = None) -> Dictation:
    """Let a model write, each symbol after its own before, up to so many steps (those of the longest)."""
    said = utterances.symbols
    written = model(utterances, steps or said.shape[1])
    peaks = written.weights.argmax(-1)[:, : said.shape[1]]  # (B,N)
    places = torch.arange(said.shape[1], device=said.device)
    spoken = (said >= 0) & (said < end)
    beside = [(peaks + aside).clamp(0, utterances.owners.shape[1] - 1) for aside in (-1, 0, 1)]
    own = torch.stack([utterances.owners.gather(1, frames) == places for frames in beside]).any(0)
    forward = (peaks.diff(dim=1) > 0) | ~spoken[:, 1:]
    return Dictation(
        float(own[spoken].double().mean()),
        float(forward.all(-1).double().mean()),
        symbol_error(written.logits.argmax(-1), said, end=end),
    )
