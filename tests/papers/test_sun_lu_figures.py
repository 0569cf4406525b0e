"""The figures of Sun & Lu: each is drawn from its tables alone, with labelled axes, and without torch."""

import pandas as pd
import pytest
import sun_lu_tables as made
from drawn import FIGURES, draw, drawn_to

from heedful.papers.sun_lu.courses import pair_colours, pairs_in_order
from heedful.papers.sun_lu.words import colours, types_in_order

TABLE_ONE = pd.DataFrame(
    [
        {"corpus": corpus, "figure": figure, "ours": 101.0, "printed": 100.0, "difference %": 1.0}
        for corpus in ("sst", "20news-2")
        for figure in ("average words", "vocabulary", "train positive", "test talk.politics.guns")
    ]
)
TYPE_TABLE = pd.DataFrame(
    [
        {"corpus": "20news-2", "type": kind, "count": size, "printed": size + 3}
        for kind, size in made.CLASSES.items()
    ]
)


def tables(name):
    """Made-up tables for the figure of this name."""
    number = int(name.rpartition("fig")[2]) if "fig" in name else 0
    if name.startswith("sun-lu-s-fig"):
        if number >= 25:
            return {"words": made.class_words()}
        if number >= 14:
            return {"words": made.words(model="dp-a")}
        if number == 13:
            both = [made.words(model="dp-l", kind=kind, l2=0.01) for kind in ("local", "global")]
            return {"words": pd.concat(both)}
        courses = {
            1: (["small", "large"], made.OMEGAS),
            2: (["Data I"], made.OMEGAS),
            3: (["Data I", "Data II"], made.SCORES),
            5: (["no penalty", "penalty"], made.SCORES),
            6: (["Data II"], made.ONE_PAIR),
            8: (["affine"], made.OMEGAS | made.STATES),
            11: (["three classes"], made.CLASS_OMEGAS),
            12: (["three classes"], made.CLASS_ATTENTION),
        }
        if number == 7:
            return {"moments": made.skew()}
        return {"moments": made.moments(*courses.get(number, (["Data I"], made.SCORES)))}
    return {
        "sun-lu-table1": lambda: {"summary": TABLE_ONE},
        "sun-lu-s-table1": lambda: {"summary": TYPE_TABLE},
        "sun-lu-table2": made.accuracies,
        "sun-lu-fig3": lambda: {"words": pd.concat([made.words(scale=100.0), made.class_words()])},
        "sun-lu-fig5": lambda: {"words": made.weights()},
        "sun-lu-inequalities": lambda: {"shares": made.shares()},
        "sun-lu-penalty": lambda: {"words": made.penalties()},
        "sun-lu-terms": lambda: {"moments": made.moments(["λ = 1", "λ = 10"], made.TERMS)},
    }.get(name, lambda: {"words": made.words()})()


# Names that share a function and the shape of its tables with one that is there.
ALIKE = {f"sun-lu-s-fig{number}" for number in (4, 9, *range(15, 25), *range(26, 29))} | {"sun-lu-adam"}
# Tested with what they measure.
BEYOND = {f"sun-lu-{name}" for name in ("stability", "human", "vectors", "contextual", "words")}
OWN = [name for name in FIGURES if name.startswith("sun-lu-") and name not in ALIKE | BEYOND]


@pytest.mark.parametrize("name", OWN)
def test_a_figure_is_drawn_from_tables_and_its_axes_say_what_they_are(name):
    figure = draw(name, tables(name))
    assert figure.axes
    assert figure.get_supxlabel() or any(axes.get_ylabel() or axes.get_xlabel() for axes in figure.axes)
    drawn = [axes for axes in figure.axes if axes.lines or axes.collections or axes.patches]
    assert drawn == figure.axes


def test_a_figure_with_several_seeds_shows_the_words_of_the_first():
    words = made.words(seeds=2)
    one = draw("sun-lu-fig4", {"words": words})
    alone = draw("sun-lu-fig4", {"words": words[words["seed"] == 0]})
    ticks = [[label.get_text() for label in figure.axes[0].get_xticklabels()] for figure in (one, alone)]
    assert ticks[0] == ticks[1] == ["positive\n23", "negative\n19", "neutral\n61"]


def test_settings_stand_beside_each_other_and_their_scores_below(tmp_path):
    words = pd.concat([made.words(), made.words(corpus="imdb"), made.words(corpus="20news-1")])
    figure = draw("sun-lu-fig2", {"words": words})
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[:2] == ["SST, dp, λ = 10"] * 2
    places = {(axes.get_title(), axes.get_ylabel()): axes.get_position() for axes in figure.axes}
    upper = places["IMDB, dp, λ = 10", "polarity score s"]
    lower = places["IMDB, dp, λ = 10", "attention score a"]
    assert upper.y0 > lower.y1
    assert upper.x0 == pytest.approx(lower.x0, abs=0.05)
    png, svg = drawn_to("sun-lu-fig2", {"words": words}, tmp_path)
    assert png.stat().st_size > 10_000
    assert svg.stat().st_size < 2_000_000


def test_types_and_pairs_have_an_order_and_colours_of_their_own():
    assert types_in_order(["neutral", "negative", "positive"]) == ["positive", "negative", "neutral"]
    assert types_in_order(["neutral", "1", "0"]) == ["0", "1", "neutral"]
    assert len(set(colours(["0", "1", "2", "neutral"]).values())) == 4
    pairs = ["neutral-neutral", "negative-positive", "positive-positive"]
    assert pairs_in_order(pairs) == ["positive-positive", "negative-positive", "neutral-neutral"]
    assert len(set(pair_colours(pairs).values())) == 3
