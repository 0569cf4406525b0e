"""The task of `location`: noisy frames, as of speech, in which each symbol lasts a while; write them down.

A symbol is a few noisy copies of its sound, then comes a pause. The same symbol may come again and again, so
what a frame holds does not say which of them it belongs to. Axes: B utterances, T frames, D features of a
frame, N symbols.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import Tensor

SYMBOLS = "abcde"
END = len(SYMBOLS)  # written after the last symbol
FEATURES = 8  # D
LASTING, PAUSE = (2, 4), (1, 2)  # frames: shortest and longest


@dataclass(frozen=True)
class Utterances:
    """Frames, and what was said."""

    frames: Tensor  # (B,T,D)
    mask: Tensor  # (B,T)
    symbols: Tensor  # (B,N+1), the end after the last, then -1
    owners: Tensor  # (B,T) the place of the symbol that a frame belongs to, -1 in pauses

    def __len__(self) -> int:
        return len(self.frames)

    def rows(self, chosen: Tensor) -> "Utterances":
        """These utterances, no longer than the longest of them."""
        frames, mask, symbols, owners = (getattr(self, field.name)[chosen] for field in fields(self))
        length, count = int(mask.sum(-1).max()), int((symbols >= 0).sum(-1).max())
        return Utterances(frames[:, :length], mask[:, :length], symbols[:, :count], owners[:, :length])

    def to(self, device: str) -> "Utterances":
        return Utterances(*(getattr(self, field.name).to(device) for field in fields(self)))


def draw_sounds(seed: int) -> np.ndarray:
    """How each symbol sounds (symbols, D): directions of length 1, none near another."""
    directions, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((FEATURES, FEATURES)))
    return directions[: len(SYMBOLS)]


def draw_utterances(
    count: int,
    *,
    sounds: np.ndarray,
    seed: int | Sequence[int],
    shortest: int,
    longest: int,
    noise: float = 0.2,
) -> Utterances:
    """Utterances of `shortest` to `longest` symbols, each drawn alike."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(shortest, longest + 1, size=count)
    said = np.where(
        np.arange(longest + 1) < lengths[:, None],
        generator.integers(len(SYMBOLS), size=(count, longest + 1)),
        -1,
    )
    said[np.arange(count), lengths] = END
    owners = [owners_of(generator, length) for length in lengths]
    placed = np.full((count, max(map(len, owners))), -2)  # -2 beyond the end
    for row, own in enumerate(owners):
        placed[row, : len(own)] = own
    sounding = np.take_along_axis(said, placed.clip(min=0), 1)
    clean = sounds[sounding.clip(max=len(SYMBOLS) - 1)] * (placed >= 0)[..., None]
    frames = clean + noise * generator.standard_normal(clean.shape)
    return Utterances(
        torch.from_numpy(frames).float(),
        torch.from_numpy(placed > -2),
        torch.from_numpy(said),
        torch.from_numpy(placed.clip(min=-1)),
    )


def owners_of(generator: np.random.Generator, length: int) -> np.ndarray:
    """The place of each frame's symbol, -1 in the pause after it."""
    lasting = generator.integers(LASTING[0], LASTING[1] + 1, size=length)
    pauses = generator.integers(PAUSE[0], PAUSE[1] + 1, size=length)
    frames = np.stack([lasting, pauses], -1).ravel()
    return np.repeat(np.stack([np.arange(length), np.full(length, -1)], -1).ravel(), frames)


def symbol_error(written: Tensor, said: Tensor, *, end: int) -> float:
    """Symbols to insert, remove or change in what was written (B,N), up to its end, for each symbol said."""
    faults = sum(
        edits(until_end(one, end), until_end(other, end))
        for one, other in zip(written.tolist(), said.tolist(), strict=True)
    )
    return faults / int(((said >= 0) & (said < end)).sum())


def until_end(symbols: list[int], end: int) -> list[int]:
    return symbols[: symbols.index(end)] if end in symbols else symbols


def edits(one: list[int], other: list[int]) -> int:
    """Levenshtein's distance: the fewest insertions, removals and changes from one to the other."""
    row = list(range(len(other) + 1))
    for place, symbol in enumerate(one, start=1):
        corner, row[0] = row[0], place
        for column, wanted in enumerate(other, start=1):
            changed = corner + (symbol != wanted)
            corner, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, changed)
    return row[-1]
