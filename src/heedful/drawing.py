"""How figures look: one size of text, colours that the colour-blind can tell apart, and PNG and SVG of each.

Figures are made without pyplot, so that no window and no global state is involved. Text of an SVG stays text.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours: told apart with any colour vision, and in this order also in grey.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SKY, YELLOW, GREY, BLACK = "#56B4E9", "#E69F00", "#7F7F7F", "#222222"
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, YELLOW, GREY, BLACK)
TYPES = {"positive": ORANGE, "negative": BLUE, "neutral": GREY}
RANKINGS = {
    "attention": BLUE,
    "gradient": ORANGE,
    "attention × gradient": GREEN,
    "random": GREY,
    "shuffled": PURPLE,
    "exact": BLACK,
}
DPI = 150
SETTINGS: Any = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "svg.fonttype": "none",
    "svg.hashsalt": "heedful",  # the same figure gives the same file
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the project's style inside the block, and leave matplotlib's settings as they were."""
    import matplotlib

    with matplotlib.rc_context(SETTINGS):
        yield


def new_figure(width: float = 6.4, height: float = 3.6) -> "Figure":
    """An empty figure, in inches, that lays itself out."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def empty_figure(why: str) -> "Figure":
    """A figure that says why there is nothing on it."""
    figure = new_figure(6.4, 1.2)
    figure.text(0.5, 0.5, why, ha="center", va="center")
    return figure


def save_figure(
    figure: "Figure", stem: str | Path, formats: Sequence[str] = ("png", "svg")
) -> tuple[Path, ...]:
    """Write a figure as STEM.png, STEM.svg and STEM.pdf, as far as asked for, each whole or not at all."""
    stem = Path(stem)
    undated: Any = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    paths = []
    with styled():
        for form in formats:
            paths.append(stem.with_name(f"{stem.name}.{form}"))
            with write_atomically(paths[-1], "wb") as file:
                figure.savefig(file, format=form, dpi=DPI, metadata=undated.get(form))
    return tuple(paths)


def draw_to(
    stem: str | Path, draw: "Callable[..., Figure]", *given: Any, formats: Sequence[str] = ("png", "svg")
) -> tuple[Path, ...]:
    """Draw a figure in the project's style from what is given, into STEM.png and STEM.svg, or as asked."""
    with styled():
        figure = draw(*given)
    return save_figure(figure, stem, formats)
