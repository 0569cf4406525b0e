"""Words painted by their weights, for the pictures of the gallery: darker is more."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Painted = tuple[str, float]  # a word, and how much of it from 0 to 1
EM = 0.602  # width of a character of the monospaced font, in parts of its size


def wrap(words: Sequence[Painted], columns: int) -> list[list[Painted]]:
    """The words in lines of at most so many characters."""
    lines: list[list[Painted]] = [[]]
    used = 0
    for word, weight in words:
        if lines[-1] and used + len(word) > columns:
            lines.append([])
            used = 0
        lines[-1].append((word, weight))
        used += len(word) + 1
    return lines


def paint_lines(
    axes: "Axes", lines: Sequence[Sequence[Painted]], *, columns: int, colours: str = "Blues"
) -> None:
    """Fill the axes with lines of words, each on the colour of its weight."""
    import matplotlib
    from matplotlib.patches import Rectangle

    figure = axes.figure
    box = axes.get_position()
    width, height = figure.get_size_inches() * (box.width, box.height)  # type: ignore[union-attr]
    size = min(72 * width / columns / EM, 72 * height / max(len(lines), 1) / 1.5)
    colour = matplotlib.colormaps[colours]
    axes.set_xlim(0, 72 * width / size / EM)
    axes.set_ylim(72 * height / size / 1.5, 0)
    axes.axis("off")
    for row, line in enumerate(lines):
        place = 0.0
        for word, weight in line:
            axes.add_patch(
                Rectangle((place - 0.35, row + 0.08), len(word) + 0.7, 0.84, color=colour(0.8 * weight), lw=0)
            )
            axes.text(
                place,
                row + 0.5,
                word,
                family="monospace",
                fontsize=size,
                va="center",
                color="white" if weight > 0.7 else "black",
            )
            place += len(word) + 1
