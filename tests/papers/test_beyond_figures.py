"""The figures beyond Sun & Lu are drawn from tables alone, with axes that say what they show."""

import beyond_tables as made
import numpy as np
import pandas as pd
import pytest
from drawn import draw, drawn_to

from heedful.papers.sun_lu import contextual as over_context
from heedful.papers.sun_lu import human as people_say
from heedful.papers.sun_lu import stability as over_seeds


def stability():
    words = over_seeds.word_table(made.words(luck=0.5))
    return {"words": words, "bands": over_seeds.by_band(words)}


def human():
    frames = [
        made.words(model=model, scale=scale, seeds=3)
        for model, scale in (("dp", 1.0), ("dp", 10.0), ("dp", 100.0), ("ad", 10.0))
    ]
    people = pd.Series(np.arange(made.WORDS) % 5 - 2.0, [f"w{n}" for n in range(made.WORDS)], name="human")
    return {"correlations": people_say.correlations(people_say.with_human(pd.concat(frames), people))}


def contextual():
    found = pd.concat([made.words(), made.words(model=over_context.MINILM)])
    return {"words": over_context.typed(found.assign(cell="", measure="", id=0))}


TABLES = {
    "sun-lu-stability": stability,
    "sun-lu-human": human,
    "sun-lu-vectors": made.lifts,
    "sun-lu-contextual": contextual,
}


@pytest.mark.parametrize("name", TABLES)
def test_a_figure_has_labelled_axes_with_something_in_each(name, tmp_path):
    tables = TABLES[name]()
    figure = draw(name, tables)
    for axes in figure.axes:
        assert axes.get_xlabel() or axes.get_ylabel()
        assert axes.lines or axes.collections
    png, svg = drawn_to(name, tables, tmp_path)
    assert png.stat().st_size > 10_000
    assert svg.stat().st_size < 2_000_000


def test_stable_words_stand_before_unsure_ones():
    tables = stability()
    figure = draw("sun-lu-stability", tables)
    shown = [label.get_text() for label in figure.axes[-1].get_yticklabels()]
    reading = tables["words"].set_index("word")["reading"][shown]
    assert list(reading) == sorted(reading, key=lambda kind: kind == "unsure")
    assert set(reading) == {"stable high", "unsure"}


def test_counting_is_drawn_beside_the_models():
    figure = draw("sun-lu-human", human())
    labels = figure.axes[-1].get_legend_handles_labels()[1]
    assert "counting, γ" in labels
    assert any(label.startswith("ad") for label in labels)
