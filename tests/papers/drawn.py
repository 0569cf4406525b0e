"""Every figure of the papers and of the debate by its name, and one of them drawn."""

from heedful.drawing import draw_to, styled
from heedful.papers import FILES, experiment
from heedful.papers.debate import sanity

FIGURES = {name: make for one in FILES for name, make in experiment(one).figures.items()}
FIGURES |= sanity.STAGE.figures


def draw(name, tables):
    with styled():
        return FIGURES[name](tables)


def drawn_to(name, tables, folder):
    return draw_to(folder / name, FIGURES[name], tables)
