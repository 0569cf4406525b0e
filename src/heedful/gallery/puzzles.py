"""The tasks of `pointer`, as Vinyals et al. (2015) define them: sorting, convex hulls, shortest tours.

Items are drawn from the unit interval or square, in any order. An answer is a path over them: all numbers
from the smallest up; the corners of the hull, counter-clockwise from the lowest point and back to it; all
cities on the shortest tour, counter-clockwise from the lowest. (In the paper paths begin at the first item.)
All puzzles drawn together have as many items. Axes: B puzzles, T items, D = 2 coordinates, Q steps of a path.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
import torch
from scipy.spatial import ConvexHull
from torch import Tensor

from heedful.gallery.tours import Floats, Whole, nearest_tours, shortest_tours, tour_lengths

SLOTS = 20  # the longest puzzle; shorter ones use any of the slots, so that each slot is met in training
AT_ONCE = 1 << 22  # sets of cities times puzzles that are weighed at once: some 200 MB


@dataclass(frozen=True)
class Puzzles:
    """Items and the right path over them."""

    items: Tensor  # (B,T,D)
    slots: Tensor  # (B,T) a name for each item, from 0 to SLOTS − 1, no two of a puzzle alike
    paths: Tensor  # (B,Q) places of items, -1 beyond the end

    def __len__(self) -> int:
        return len(self.items)

    def rows(self, chosen: Tensor) -> "Puzzles":
        return Puzzles(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def to(self, device: str) -> "Puzzles":
        return Puzzles(*(getattr(self, field.name).to(device) for field in fields(self)))


@dataclass(frozen=True)
class Task:
    """One kind of puzzle."""

    name: str
    draw: "Callable[[int, int, np.random.Generator], tuple[Floats, Whole]]"  # items (B,T,D), paths (B,Q)
    returns: bool  # whether a path ends by coming back to its first item
    longest: int  # items of a test
    plain: str  # the plain method

    def puzzles(self, count: int, items: int, generator: np.random.Generator) -> Puzzles:
        """So many puzzles of so many items."""
        drawn, paths = self.draw(count, items, generator)
        slots = generator.random((count, SLOTS)).argsort(-1)[:, :items]
        return Puzzles(torch.from_numpy(drawn).float(), torch.from_numpy(slots), torch.from_numpy(paths))


def numbers(count: int, items: int, generator: np.random.Generator) -> tuple[Floats, Whole]:
    """Numbers between 0 and 1 (the second coordinate is 0), to be put in order."""
    drawn = generator.random((count, items, 2)) * (1, 0)
    return drawn, np.argsort(drawn[..., 0], -1)


def hulls(count: int, items: int, generator: np.random.Generator) -> tuple[Floats, Whole]:
    """Points of the unit square, of which the hull is to be found."""
    drawn = generator.random((count, items, 2))
    paths = np.full((count, items + 1), -1)
    for row, points in enumerate(drawn):
        corners = ConvexHull(points).vertices  # counter-clockwise in the plane
        corners = np.roll(corners, -int(points[corners, 1].argmin()))
        paths[row, : len(corners) + 1] = [*corners, corners[0]]
    return drawn, paths[:, : int((paths >= 0).sum(-1).max())]


def tours(count: int, items: int, generator: np.random.Generator) -> tuple[Floats, Whole]:
    """Cities of the unit square, of which the shortest tour is to be found."""
    drawn = generator.random((count, items, 2))
    parts = np.array_split(drawn, 1 + (count << items) // AT_ONCE)
    shortest = np.concatenate([shortest_tours(part) for part in parts if len(part)])
    return drawn, counter_clockwise(drawn, shortest)


def counter_clockwise(points: Floats, path: Whole) -> Whole:
    """The same closed tours (B,T), from the lowest city."""
    corners = torch.from_numpy(points), torch.from_numpy(np.concatenate([path, path[:, :1]], 1))
    path = np.where((area(*corners) > 0).numpy()[:, None], path, path[:, ::-1])
    lowest = (path == points[..., 1].argmin(1)[:, None]).argmax(1)
    turned = (np.arange(path.shape[1]) + lowest[:, None]) % path.shape[1]
    return np.take_along_axis(path, turned, 1)


TASKS = (
    Task("sort", numbers, returns=False, longest=SLOTS, plain="sorting"),
    Task("hull", hulls, returns=True, longest=SLOTS, plain="gift wrapping"),
    Task("tour", tours, returns=False, longest=15, plain="always to the nearest city"),
)


def open_items(path: Tensor, *, items: int, returns: bool) -> Tensor:
    """Which items (B,T) may come next on a path (B,·): those not on it; from three on, also its first.

    A path that has come back stays at its first.
    """
    on_path = torch.zeros(len(path), items, dtype=torch.bool, device=path.device).scatter(1, path, True)
    if not returns or path.shape[1] < 3:
        return ~on_path
    first = torch.zeros_like(on_path).scatter(1, path[:, :1], True)
    ended = (path[:, 1:] == path[:, :1]).any(1, keepdim=True)
    return first | (~on_path & ~ended)


def opened(puzzles: Puzzles, *, returns: bool) -> Tensor:
    """What may be chosen (B,Q,T) at each step of the right path."""
    path, items = puzzles.paths.clamp(min=0), puzzles.items.shape[1]
    steps = [open_items(path[:, :step], items=items, returns=returns) for step in range(path.shape[1])]
    return torch.stack(steps, 1)


def solved(task: Task, puzzles: Puzzles, path: Tensor) -> Tensor:
    """Which puzzles (B) a path (B,Q) solves; of tours the length counts, wherever they begin and turn."""
    if task.name == "tour":
        return excess(puzzles, path) < 1e-5
    return ((path == puzzles.paths) | (puzzles.paths < 0)).all(-1)


def plainly(task: Task, puzzles: Puzzles) -> Tensor:
    """The path (B,Q) of the plain method, which solves every puzzle but tours."""
    if task.name != "tour":
        return puzzles.paths
    points = puzzles.items.double().numpy()
    return torch.from_numpy(nearest_tours(points, puzzles.paths[:, 0].numpy()))


def excess(puzzles: Puzzles, tour: Tensor) -> Tensor:
    """By what share a tour (B,T) is longer than the shortest."""
    points = puzzles.items.double().numpy()
    ours, best = (tour_lengths(points, path.numpy()) for path in (tour, puzzles.paths))
    return torch.from_numpy(ours / best - 1)


def turn(start: Tensor, middle: Tensor, end: Tensor) -> Tensor:
    """Twice the signed area of three points (..., D): above 0 if they turn left."""
    go, leave = middle - start, end - start
    return go[..., 0] * leave[..., 1] - go[..., 1] * leave[..., 0]


def area(items: Tensor, path: Tensor) -> Tensor:
    """The area (B) of the polygons whose corners, in order and closed, are on the path (B,Q)."""
    corners = items.gather(1, path[..., None].expand(-1, -1, 2))
    return turn(corners[:, :1], corners[:, :-1], corners[:, 1:]).sum(-1) / 2
