"""Which texts are read many times: drawn by decided class, so that a rare class is not overlooked.

Each decided class gets `EACH` texts where it has so many, the rest go by the classes' sizes. They are read in
parts, and after each an audit may stop. A class that turns out to be a default, which no word decides, gets
no more of them.
"""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

EACH = 30  # texts of a decided class, where they exist
# Of each look, so that all looks together are wrong in at most 5 % of audits (Bonferroni); the last get most.
LEVELS = (0.995, 0.99, 0.985, 0.98)


class Draw:
    """Texts of each decided class in the order of a seeded draw, and how many of them were handed out."""

    def __init__(self, decided: NDArray[np.int64], most: int | None, *, seed: int = 0) -> None:
        generator = np.random.default_rng([seed % 2**63, 14])
        self.most = len(decided) if most is None else min(most, len(decided))
        self.decided = decided
        self.order = {
            int(code): generator.permutation(np.flatnonzero(decided == code)) for code in np.unique(decided)
        }
        self.taken = dict.fromkeys(self.order, 0)

    def take(self, share: float, *, leave: Collection[int] = ()) -> NDArray[np.int64]:
        """The next texts, until each class has this share of its part; the classes in `leave` get no more."""
        live = [code for code in self.order if code not in leave]
        spent = sum(self.taken[code] for code in self.order if code in leave)
        sizes = np.array([len(self.order[code]) for code in live], dtype=np.int64)
        goals = np.ceil(share * quotas(sizes, self.most - spent)).astype(np.int64)
        rows = [np.zeros(0, dtype=np.int64)]
        for code, goal in zip(live, goals, strict=True):
            start, end = self.taken[code], max(self.taken[code], int(goal))
            rows.append(self.order[code][start:end])
            self.taken[code] = end
        return np.concatenate(rows)

    def weights(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """How many texts each of these stands for."""
        stands = {code: len(order) / max(1, self.taken[code]) for code, order in self.order.items()}
        return np.array([stands[int(code)] for code in self.decided[rows]])


def quotas(sizes: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """How many of each class: `EACH` first, be they more than `most` in all, then by size."""
    if not len(sizes):
        return sizes
    least = np.minimum(sizes, EACH)
    left, rest = max(0, most - int(least.sum())), sizes - least
    if not left or not rest.any():
        return least
    share = min(left, int(rest.sum())) * rest / rest.sum()
    more = np.floor(share).astype(np.int64)
    for place in np.argsort(more - share, kind="stable")[: min(left, int(rest.sum())) - int(more.sum())]:
        more[place] += 1
    counts: NDArray[np.int64] = least + more
    return counts
