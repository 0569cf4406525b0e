"""How figures of several seeds are drawn: the mean, and a bar from the lowest seed to the highest."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def mean_and_bar(values: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """The mean over seeds of values (seeds, ...), and how far the lowest and the highest are off (2, ...).

    Rounding can put the mean of equal numbers beside them: no bar is below 0, as matplotlib demands.
    """
    seeds = np.asarray(values, dtype=float)
    mean = seeds.mean(0)
    return mean, np.maximum(np.stack([mean - seeds.min(0), seeds.max(0) - mean]), 0)


def labelled_bars(
    axes: "Axes",
    names: Sequence[str],
    seeds: Sequence[Sequence[float]],
    *,
    colours: Sequence[str],
    digits: int,
) -> None:
    """A bar a name, the mean of its values (seeds, names), written above it; several seeds have their bar."""
    mean, bar = mean_and_bar(seeds)
    drawn = axes.bar(names, mean, yerr=bar if len(seeds) > 1 else None, capsize=3, color=colours)
    axes.bar_label(drawn, fmt=f"%.{digits}f", padding=4)
    axes.spines[["top", "right"]].set_visible(False)
