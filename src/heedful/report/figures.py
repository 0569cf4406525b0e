"""The figures of the experiments by name: each a function of an experiment's tables."""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.errors import choose_from
from heedful.report.style import save_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

# The papers' figures live in modules with a FIGURES of their own: name → function of tables.
PAPERS = {
    "sun-lu": "heedful.report.sun_lu",
    "serrano-smith": "heedful.report.serrano_smith",
    "jain-wallace": "heedful.report.jain_wallace",
    "wiegreffe-pinter": "heedful.report.wiegreffe_pinter",
}


def figures() -> "dict[str, Callable[[Mapping[str, DataFrame]], Figure]]":
    """Every figure by its name."""
    return {name: make for module in PAPERS.values() for name, make in import_module(module).FIGURES.items()}


def draw(name: str, tables: "Mapping[str, DataFrame]") -> "Figure":
    """The figure of this name, drawn from tables."""
    known = figures()
    with styled():
        return known[choose_from("figure", name, known)](tables)


def draw_to(name: str, tables: "Mapping[str, DataFrame]", folder: str | Path) -> tuple[Path, Path]:
    """Draw a figure into FOLDER/NAME.png and FOLDER/NAME.svg."""
    return save_figure(draw(name, tables), Path(folder) / name)
