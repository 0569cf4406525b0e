"""The travelling salesman's shortest tours, exactly for a few cities; and the plain way, to the nearest next.

Axes: B puzzles, T cities, D = 2 coordinates.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


def distances(points: Floats) -> Floats:
    """Between any two cities, (B,T,T)."""
    apart: Floats = np.linalg.norm(points[:, :, None] - points[:, None], axis=-1)
    return apart


def shortest_tours(points: Floats) -> Whole:
    """The shortest closed tours (B,T) through cities (B,T,D), each from its last, by dynamic programming.

    Held & Karp (1962): what the cheapest way costs from the last city through each set of the others to each
    member of it. Time and memory grow with 2ᵀ: 15 cities take a tenth of a second a puzzle.
    """
    between = np.ascontiguousarray(distances(points).transpose(1, 2, 0), dtype=np.float32)  # (T,T,B)
    home = points.shape[1] - 1
    costs = _set_costs(between)
    left = np.full(len(points), (1 << home) - 1)
    everyone = np.arange(len(points))
    tour = [np.full(len(points), home)]
    for _ in range(home):  # backwards: the set's member that is the cheapest to come from
        here = tour[-1]
        ways = costs[left, :, everyone] + between[:home, here, everyone].T
        tour.append(ways.argmin(1))
        left = left & ~(1 << tour[-1])
    return np.stack(tour, 1)


def _set_costs(between: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cheapest way through each set of cities that ends at each of its members: (2^(T−1), T−1, B)."""
    home = len(between) - 1
    sets = np.arange(1 << home)
    sizes = np.array([int(number).bit_count() for number in sets])
    costs = np.full((1 << home, home, between.shape[2]), np.inf, dtype=np.float32)
    for city in range(home):
        costs[1 << city, city] = between[home, city]
    for size in range(2, home + 1):
        for city in range(home):
            found = sets[(sizes == size) & (sets >> city & 1 == 1)]
            costs[found, city] = (costs[found ^ (1 << city)] + between[:home, city]).min(1)
    return costs


def nearest_tours(points: Floats, first: Whole) -> Whole:
    """Tours (B,T) that begin at a city and always go on to the nearest that is left."""
    apart, rows = distances(points), np.arange(len(points))
    tour = [first]
    for _ in range(points.shape[1] - 1):
        apart[rows, :, tour[-1]] = np.inf  # nobody comes back
        tour.append(apart[rows, tour[-1]].argmin(1))
    return np.stack(tour, 1)


def tour_lengths(points: Floats, tours: Whole) -> Floats:
    """How long closed tours (B,T) are."""
    visited = np.take_along_axis(points, tours[..., None], 1)
    length: Floats = np.linalg.norm(visited - np.roll(visited, -1, 1), axis=-1).sum(1)
    return length
