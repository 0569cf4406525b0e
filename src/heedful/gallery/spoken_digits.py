"""Strings of spoken digits: takes of the Free Spoken Digit Dataset, one after the other with short pauses.

A string is of one speaker. Its mean is taken off, each band is divided by its deviation in training, and
four frames of 10 ms become one of 128 features. A pause repeats the quietest frame of the take before it.
Axes: B strings, T frames (of 40 ms), D features of a frame, N digits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from zipfile import BadZipFile

import numpy as np
import torch

from heedful.errors import UserError, listed
from heedful.gallery.utterances import Utterances

FILE = "fsdd_logmel32.npz"
ARRAYS = ("frames", "length", "digit", "speaker", "index", "split", "speakers")
DIGITS = 10
END = DIGITS  # written after the last digit
STACKED = 4  # frames of 10 ms that become one
PAUSE = 15  # frames of 10 ms, at most
DEV = 10  # training takes below this index are dev where something is chosen


@dataclass(frozen=True)
class Takes:
    """Recordings of single digits."""

    frames: tuple[np.ndarray, ...]  # each (T,bands), every 10 ms
    digit: np.ndarray
    speaker: np.ndarray
    index: np.ndarray
    speakers: tuple[str, ...]
    scale: np.ndarray  # (bands) the deviation of each band in all training takes

    def __len__(self) -> int:
        return len(self.digit)

    def rows(self, chosen: np.ndarray) -> Self:
        """The takes where `chosen` is true."""
        frames = tuple(frames for frames, kept in zip(self.frames, chosen, strict=True) if kept)
        kept = (self.digit[chosen], self.speaker[chosen], self.index[chosen])
        return type(self)(frames, *kept, self.speakers, self.scale)


def read_takes(folder: Path) -> tuple[Takes, Takes]:
    """The takes to learn from and those for the test, by the file's own split."""
    path = folder / FILE
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            held = {name: file[name] for name in file.files}
    except (OSError, EOFError, ValueError, TypeError, BadZipFile) as error:  # what NumPy and zip raise
        raise UserError(f"{path} cannot be read as arrays ({error}).") from None
    missing = [name for name in ARRAYS if name not in held]
    if missing:
        raise UserError(f"{path} has no array {listed(missing)}: it has {listed(list(held))}.")
    if held["length"].sum() != len(held["frames"]):
        raise UserError(f"{path} needs as many frames as its lengths add up to.")
    frames = np.split(held["frames"].astype(np.float32), held["length"].cumsum()[:-1])
    learnt = held["split"] == "train"
    scale = np.concatenate([own for own, kept in zip(frames, learnt, strict=True) if kept]).std(0)
    speakers = tuple(map(str, held["speakers"]))
    takes = Takes(tuple(frames), held["digit"], held["speaker"], held["index"], speakers, scale)
    return takes.rows(learnt), takes.rows(~learnt)


def draw_strings(
    takes: Takes, count: int, *, lengths: tuple[int, int], chance: np.random.Generator
) -> Utterances:
    """So many strings of `lengths` digits, from the shortest to the longest, each of one speaker."""
    by_speaker = [np.flatnonzero(takes.speaker == speaker) for speaker in np.unique(takes.speaker)]
    drawn, said = [], []
    for _ in range(count):
        own = by_speaker[chance.integers(len(by_speaker))]
        chosen = chance.choice(own, chance.integers(lengths[0], lengths[1] + 1))
        pauses = chance.integers(0, PAUSE + 1, len(chosen))
        drawn.append(spoken([takes.frames[take] for take in chosen], pauses, takes.scale))
        said.append([*takes.digit[chosen].tolist(), END])
    return as_utterances(drawn, said)


def spoken(
    pieces: Sequence[np.ndarray], pauses: Sequence[int] | np.ndarray, scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """One string: its frames (T,D), and the place of the digit that each belongs to, -1 in pauses."""
    parts, owners = [], []
    for place, (piece, pause) in enumerate(zip(pieces, pauses, strict=True)):
        parts += [piece, np.repeat(quietest(piece)[None], pause, 0)]
        owners += [np.full(len(piece), place), np.full(pause, -1)]
    whole, owned = np.concatenate(parts), np.concatenate(owners)
    frames, count = (whole - whole.mean(0)) / scale, len(whole) // STACKED  # what is left over is cut
    stacked = frames[: STACKED * count].reshape(count, -1)
    return stacked, owned[STACKED // 2 :: STACKED][:count]


def quietest(take: np.ndarray) -> np.ndarray:
    """The frame (bands) of a take (T,bands) that is least loud."""
    frame: np.ndarray = take[take.sum(-1).argmin()]
    return frame


def as_utterances(
    drawn: Sequence[tuple[np.ndarray, np.ndarray]], said: Sequence[Sequence[int]]
) -> Utterances:
    """Strings of different lengths as one table."""
    longest, most = max(len(frames) for frames, _ in drawn), max(map(len, said))
    frames = np.zeros((len(drawn), longest, drawn[0][0].shape[1]), dtype=np.float32)
    owners, symbols = np.full((len(drawn), longest), -1), np.full((len(drawn), most), -1)
    mask = np.zeros((len(drawn), longest), dtype=bool)
    for row, ((own, owned), digits) in enumerate(zip(drawn, said, strict=True)):
        frames[row, : len(own)], owners[row, : len(own)], mask[row, : len(own)] = own, owned, True
        symbols[row, : len(digits)] = digits
    return Utterances(*map(torch.from_numpy, (frames, mask, symbols, owners)))
