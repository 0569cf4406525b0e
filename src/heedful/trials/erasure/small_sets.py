"""Small sets of items whose erasure changes the outcome: what the exact way and the searches alike return.

Axes: B instances, N items.
"""

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from heedful.trials.to_frames import Framed


@dataclass(frozen=True, eq=False)
class SmallSets(Framed):
    """For each instance a set of items whose erasure changes the outcome, and what it changes it to."""

    sizes: Tensor  # (B,) −1 where no set does
    items: tuple[Tensor, ...]  # the item numbers of each set, ascending
    to_class: Tensor  # (B,) the class that decides without them, −1 where no set does
    kind: Literal["exact", "upper bound"]

    @property
    def exact(self) -> bool:
        """Whether no smaller set exists; false for what a search found, which is an upper bound."""
        return self.kind == "exact"

    def __len__(self) -> int:
        return len(self.sizes)


def split_rows(taken: Tensor) -> tuple[Tensor, ...]:
    """The columns where taken (B,N) is true, one index tensor a row."""
    rows: tuple[Tensor, ...] = taken.nonzero()[:, 1].split(taken.sum(1).tolist())
    return rows
