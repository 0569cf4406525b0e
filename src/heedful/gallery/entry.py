"""What an entry of the gallery is: a mechanism, the task it was made for, and a model without it to beat.

Each entry is a file of its own with the same order: data, model, training, `train`, `draw`, `ENTRY`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Size = Literal["full", "small"]  # small: seconds, for the tests


@dataclass(frozen=True)
class Outcome:
    """What training once came to: the mechanism's figure beside that of an equal model without it."""

    figure: float
    baseline: float
    parameters: int
    baseline_parameters: int  # as many, to within 1 % at full size: the mechanism must win, not its size
    table: Mapping[str, float] = field(default_factory=dict)  # further figures, by name
    picture: Mapping[str, Any] = field(default_factory=dict, repr=False)  # arrays and words that `draw` needs


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
