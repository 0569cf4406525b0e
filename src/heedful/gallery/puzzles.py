"""The tasks of `pointer`: put numbers in order, and find the corners of the convex hull of points.

An answer is a path over items: all numbers from the smallest up; or the corners of the hull, counter-
clockwise from the lowest point and back to it. `open_numbers` and `open_points` say what may come next, so
that every path is an answer of the right kind: each number once; a convex polygon whose corners are points.
Whether it is the right one is left to the model.
Axes: B puzzles, T items, D = 2 coordinates, Q steps of a path.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
import torch
from scipy.spatial import ConvexHull
from torch import Tensor

SLOTS = 20  # the longest puzzle; shorter ones use any of the slots, so that each slot is met in training
OpenItems = Callable[[Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Puzzles:
    """Items and the right path over them."""

    items: Tensor  # (B,T,D)
    mask: Tensor  # (B,T)
    slots: Tensor  # (B,T) a name for each item, from 0 to SLOTS − 1, no two of a puzzle alike
    paths: Tensor  # (B,Q) places of items, -1 beyond the end
    opened: Tensor  # (B,Q,T) what may be chosen at each step of the right path

    def __len__(self) -> int:
        return len(self.items)

    def rows(self, chosen: Tensor) -> "Puzzles":
        return Puzzles(*(getattr(self, field.name)[chosen] for field in fields(self)))


def draw_numbers(count: int, *, seed: int, shortest: int, longest: int) -> Puzzles:
    """Numbers between 0 and 1 (the second coordinate is 0), to be put in order."""
    generator = np.random.default_rng(seed)
    items = generator.random((count, longest, 2)) * (1, 0)
    lengths = generator.integers(shortest, longest + 1, size=count)
    real = np.arange(longest) < lengths[:, None]
    paths = np.where(real, np.argsort(np.where(real, items[..., 0], np.inf), -1), -1)
    return puzzles(items, real, paths, generator=generator, opens=open_numbers)


def draw_points(count: int, *, seed: int, shortest: int, longest: int) -> Puzzles:
    """Points of the unit square, of which the hull is to be found."""
    generator = np.random.default_rng(seed)
    items = generator.random((count, longest, 2))
    lengths = generator.integers(shortest, longest + 1, size=count)
    paths = np.full((count, longest + 1), -1)
    for row, length in enumerate(lengths):
        corners = ConvexHull(items[row, :length]).vertices  # counter-clockwise in the plane
        first = int(items[row, corners, 1].argmin())
        paths[row, : len(corners) + 1] = [*np.roll(corners, -first), corners[first]]
    real = np.arange(longest) < lengths[:, None]
    return puzzles(items, real, paths, generator=generator, opens=open_points)


def puzzles(
    items: np.ndarray,
    real: np.ndarray,
    paths: np.ndarray,
    *,
    generator: np.random.Generator,
    opens: OpenItems,
) -> Puzzles:
    """Name the items, cut paths to the longest, and write down what was open at each of their steps."""
    paths = paths[:, : int((paths >= 0).sum(-1).max())]
    slots = generator.random((len(items), SLOTS)).argsort(-1)[:, : items.shape[1]]
    places, mask, path = torch.from_numpy(items).float(), torch.from_numpy(real), torch.from_numpy(paths)
    opened = [opens(places, mask, path[:, :step].clamp(min=0)) for step in range(path.shape[1])]
    return Puzzles(places, mask, torch.from_numpy(slots), path, torch.stack(opened, 1))


def open_numbers(items: Tensor, mask: Tensor, path: Tensor) -> Tensor:
    """Every number that is not yet on the path (B,·)."""
    return mask & ~on_path(mask, path)


def open_points(items: Tensor, mask: Tensor, path: Tensor) -> Tensor:
    """Every point with which the path (B,·) stays a convex polygon; from three corners on, also its first."""
    steps = path.shape[1]
    if steps == 0:
        return mask
    corners = items.gather(1, path[..., None].expand(-1, -1, 2))  # (B,·,D)
    first, last = corners[:, :1], corners[:, -1:]
    free = mask & ~on_path(mask, path)
    if steps == 1:  # a second corner must leave some point to its left for a third
        left = turn(first[:, None], items[:, :, None], items[:, None]) > 0  # (B,T,T)
        return free & (left & mask[:, None]).any(-1)
    second, before = corners[:, 1:2], corners[:, -2:-1]
    convex = (
        (turn(before, last, items) > 0) & (turn(last, items, first) > 0) & (turn(first, second, items) > 0)
    )
    if steps == 2:
        return free & convex
    is_first = torch.zeros_like(mask).scatter(1, path[:, :1], True)
    return (free & convex) | is_first


def turn(start: Tensor, middle: Tensor, end: Tensor) -> Tensor:
    """Twice the signed area of three points (..., D): above 0 if they turn left."""
    go, leave = middle - start, end - start
    return go[..., 0] * leave[..., 1] - go[..., 1] * leave[..., 0]


def on_path(mask: Tensor, path: Tensor) -> Tensor:
    return torch.zeros_like(mask).scatter(1, path, True)


def area(items: Tensor, path: Tensor) -> Tensor:
    """The area (B) of the polygons whose corners, in order and closed, are on the path (B,Q)."""
    corners = items.gather(1, path[..., None].expand(-1, -1, 2))
    return turn(corners[:, :1], corners[:, :-1], corners[:, 1:]).sum(-1) / 2
