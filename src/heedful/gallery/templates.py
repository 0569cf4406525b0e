"""Connected digits by templates (Vintsyuk, 1971; Ney, 1984): the plain yardstick of `location` on speech.

A string is explained as a row of training takes and pauses, each warped in time, so that the distance is the
smallest in all; one pass finds it. Frames of 20 ms. Unlike the models it is told where each training take
begins and ends. A cost for each template begun (1 to 12) made it worse on dev takes.
Axes: T frames of a string, S frames of all templates, D bands.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from heedful.gallery.spoken_digits import STACKED, Takes, quietest
from heedful.gallery.utterances import Utterances, edits, until_end

AVERAGED = 2  # frames of 10 ms that become one
PAUSE = -1  # in the place of a digit


@dataclass(frozen=True)
class Templates:
    """Some takes of each speaker and digit, one after the other, and a pause of each speaker."""

    frames: np.ndarray  # (S,D)
    last: np.ndarray  # where templates end, as places in S
    digit: np.ndarray  # of each template


def make_templates(takes: Takes, each: int) -> Templates:
    """The first so many takes of every speaker and digit, each speaker's mean taken off."""
    frames, digits = [], []
    for speaker in np.unique(takes.speaker):
        own = np.flatnonzero(takes.speaker == speaker)
        mean = np.concatenate([takes.frames[take] for take in own]).mean(0)
        for digit in np.unique(takes.digit):
            for take in own[takes.digit[own] == digit][:each]:
                frames.append(averaged((takes.frames[take] - mean) / takes.scale))
                digits.append(int(digit))
        still = np.mean([quietest(takes.frames[take]) for take in own], 0)
        frames.append(((still - mean) / takes.scale)[None])
        digits.append(PAUSE)
    lengths = [len(own) for own in frames]
    return Templates(np.concatenate(frames), np.cumsum(lengths) - 1, np.array(digits))


def averaged(frames: np.ndarray) -> np.ndarray:
    """Every two frames (T,D) as their mean; one left over is dropped."""
    count = len(frames) // AVERAGED
    means: np.ndarray = frames[: AVERAGED * count].reshape(count, AVERAGED, -1).mean(1)
    return means


def spell_out(frames: np.ndarray, templates: Templates) -> list[int]:
    """The digits of the row of templates that comes nearest to the frames (T,D) of a string."""
    first = np.zeros(len(templates.frames), dtype=bool)
    first[[0, *(templates.last[:-1] + 1)]] = True
    cost, least = np.full(len(first), np.inf), 0.0
    begun = np.full(len(first), -1)  # the frame after which the template of each place was begun
    ends: list[
        tuple[int, int]
    ] = []  # of the best row that ends at each frame: its last digit, where it began
    for time, distance in enumerate(distances(frames, templates.frames)):
        # Stay, go on by one or by two places; where a template begins, come from the best end of any.
        best, again = cost.copy(), begun.copy()
        for stride, crossing in ((1, first[1:]), (2, first[1:-1] | first[2:])):
            came = np.where(crossing, np.inf, cost[:-stride])
            better = came < best[stride:]
            best[stride:][better], again[stride:][better] = came[better], begun[:-stride][better]
        entered = first & (best > least)
        best[entered], again[entered] = least, time - 1
        cost, begun = best + distance, again
        end = int(cost[templates.last].argmin())
        least = float(cost[templates.last[end]])
        ends.append((int(templates.digit[end]), int(begun[templates.last[end]])))
    return list(told_backwards(ends))[::-1]


def told_backwards(ends: list[tuple[int, int]]) -> Iterator[int]:
    """The digits of the best row, from the last to the first."""
    time = len(ends) - 1
    while time >= 0:
        digit, time = ends[time]
        if digit != PAUSE:
            yield digit


def distances(frames: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Euclidean distances (T,S)."""
    squares = (frames**2).sum(-1)[:, None] - 2 * frames @ others.T + (others**2).sum(-1)
    roots: np.ndarray = np.sqrt(squares.clip(min=0))
    return roots


def template_error(templates: Templates, strings: Utterances, *, end: int) -> float:
    """Digits to insert, remove or change for each digit said."""
    faults = said = 0
    for frames, mask, symbols in zip(strings.frames, strings.mask, strings.symbols, strict=True):
        bands = frames[mask].numpy().reshape(STACKED * int(mask.sum()), -1)
        wanted = until_end(symbols.tolist(), end)
        faults += edits(spell_out(averaged(bands), templates), wanted)
        said += len(wanted)
    return faults / said
