"""What an entry of the gallery is: a mechanism, the task it was made for, and a model without it to beat.

Each entry is a file of its own with the same order: data, model, training, `train`, `draw`, `ENTRY`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

# small: seconds, for the tests. quick: minutes for all seeds. full: as long as it takes. A generated task is
# the same in quick and full.
Size = Literal["small", "quick", "full"]


@dataclass(frozen=True)
class Outcome:
    """What training once came to: the mechanism's figure beside that of an equal model without it."""

    figure: float
    baseline: float
    parameters: int
    baseline_parameters: int  # as many, to within 1 % at full size: the mechanism must win, not its size
    table: Mapping[str, float] = field(default_factory=dict)  # further figures, by name
    picture: Mapping[str, Any] = field(default_factory=dict, repr=False)  # arrays and words that `draw` needs
    yardstick: float | None = None  # the figure of the plain method that a real task has beside it


@dataclass(frozen=True)
class Published:
    """What somebody else reported on the same data."""

    figure: float
    source: str  # who, and on what
    difference: str  # what is not the same here: size, budget, preparation
    ours: str = "figure"  # what stands beside it here: the entry's figure, or one of the table by its name


@dataclass(frozen=True)
class RealTask:
    """The task of an entry on real data, which takes the place of the generated one where the files are.

    A picture of a real task holds plain JSON values, so that a trained seed can be kept and gone on from.
    """

    files: tuple[
        str, ...
    ]  # in the data folder or its folder `gallery`; none where the paper's rules make them
    obtain: str  # how a reader gets the data, one or two sentences
    task: str
    without: str
    measure: str
    better: Literal["higher", "lower"]
    yardstick: str  # the plain method, whose figure is measured in the same run
    train: "Callable[[int, Size, Path, str], Outcome]"  # train(seed, size, folder, device)
    draw: "Callable[[Sequence[Outcome], Figure], None]"  # all seeds
    published: Published | None = None


@dataclass(frozen=True)
class Entry:
    """One mechanism and its task."""

    name: str
    title: str
    source: str  # the paper
    task: str  # one sentence
    formula: str  # in plain text, as the docs page shows it
    without: str  # what the baseline has in its place, one sentence
    measure: str  # what `figure` is: "exact match", "RMSE", …
    better: Literal["higher", "lower"]
    train: Callable[[int, Size], Outcome]  # train(seed, size)
    draw: "Callable[[Outcome, Figure], None]"
    aim: float | None = None  # what the figure itself must reach
    real: RealTask | None = None  # the same mechanism on real data
