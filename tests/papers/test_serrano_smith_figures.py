"""Serrano & Smith's figures: what they draw is what the tables say, and nothing is cut off or overlaps."""

import numpy as np
import pandas as pd
import pytest
from drawn import draw
from matplotlib.backends.backend_agg import FigureCanvasAgg

from heedful.papers.names import corpus_label, model_label

MODELS = ("han-rnn", "flan-rnn", "han-conv", "flan-conv", "han-noenc", "flan-noenc")
CORPORA = ("agnews", "imdb-ratings", "amazon-sample")
RANKINGS = ("random", "attention", "gradient", "product", "exact")


def each(models, corpora):
    return [{"model": model, "corpus": corpus, "seed": 0} for model in models for corpus in corpora]


def make_tables(models=MODELS, corpora=CORPORA):
    generator = np.random.default_rng(0)
    points, bins, flips, boxes, findings = [], [], [], [], []
    for about in each(models, corpora):
        gaps = generator.random(37)
        points.append(pd.DataFrame({"delta_weight": gaps, "delta_js": 0.4 * gaps**2 - 0.01}).assign(**about))
        for start in range(10):
            ends = {"from": start / 10, "to": (start + 1) / 10}
            counts = {"instances": 11, "negatives": 10 - start, "mean_delta_js": 0.03 * start}
            bins.append({**about, **ends, **counts})
        counts = {"tested": 200, "both": 2, "top_only": 17, "other_only": 3, "neither": 178}
        flips.append({**about, "ranking": "gradient", **counts})
        for place, ranking in enumerate(RANKINGS):
            box = dict(
                zip(("low", "lower_quartile", "median", "upper_quartile", "high"), range(5), strict=True)
            )
            box = {name: value / (5 + place) for name, value in box.items()}
            boxes.append({**about, "ranking": ranking, **box, "mean": 0.3})
            gap = {"value": 1.0 + place, "low": 0.9 + place, "high": 1.2 + place}
            findings.append({**about, "name": "optimality gap", "ranking": ranking, **gap})
    return {
        "points": pd.concat(points, ignore_index=True),
        **{
            name: pd.DataFrame(rows)
            for name, rows in (("bins", bins), ("flips", flips), ("boxes", boxes), ("findings", findings))
        },
    }


@pytest.mark.parametrize("name", ["fig7", "fig8", "fig10", "fig11", "fig12", "exact"])
@pytest.mark.parametrize("corpora", [CORPORA, CORPORA[:1]], ids=len)
def test_nothing_is_cut_off(name, corpora):
    figure = draw(f"serrano-smith-{name}", make_tables(MODELS[:2], corpora))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    drawn, page = figure.get_tightbbox(canvas.get_renderer()), figure.get_size_inches()
    assert min(drawn.x0, drawn.y0) >= -0.01
    assert drawn.x1 <= page[0] + 0.01
    assert drawn.y1 <= page[1] + 0.01


def test_there_is_a_panel_for_each_model_and_corpus_with_its_name():
    for name in ("fig3", "fig4", "fig5", "fig9"):
        figure = draw(f"serrano-smith-{name}", make_tables(MODELS[-2:]))
        titles = [axis.get_title() for axis in figure.axes]
        assert len(titles) == 6
        assert titles[0] == "HANnoenc, AG News"
        assert titles[-1] == "FLANnoenc, Amazon (sample)"


def test_a_box_stands_where_the_table_says():
    figure = draw("serrano-smith-fig10", make_tables(MODELS[:1], CORPORA[:1]))
    (axis,) = figure.axes
    ends = [patch.get_path().get_extents() for patch in axis.patches]
    assert [(round(box.x0, 6), round(box.x1, 6)) for box in ends] == [
        (round(1 / parts, 6), round(3 / parts, 6)) for parts in (5, 6, 7, 8, 9)
    ]


def test_the_cells_of_a_contingency_table_are_percent_in_their_places():
    figure = draw("serrano-smith-fig12", make_tables(MODELS[:1], CORPORA[:1]))
    (axis,) = figure.axes
    shown = {text.get_position(): text.get_text() for text in axis.texts}
    assert shown == {(0.5, 0.5): "1.0", (1.5, 0.5): "8.5", (0.5, 1.5): "1.5", (1.5, 1.5): "89.0"}


def test_negative_counts_are_bars_beside_how_many_texts_there_are():
    figure = draw("serrano-smith-fig8", make_tables(MODELS[:1], CORPORA[:1]))
    (axis,) = figure.axes
    assert [bar.get_height() for bar in axis.patches] == list(range(10, 0, -1))
    assert [text.get_text() for text in axis.texts] == ["55 of 110 texts"]


def test_a_panel_without_instances_says_so_and_leaves_the_others_their_ticks():
    tables = make_tables(MODELS[:1], CORPORA[:2])
    tables["bins"].loc[tables["bins"]["corpus"] == CORPORA[1], ["instances", "negatives"]] = 0
    full, empty = draw("serrano-smith-fig8", tables).axes
    assert [text.get_text() for text in empty.texts] == ["no instances"]
    assert len(full.get_xticks()) > 1


def test_names_are_those_that_a_reader_knows():
    assert [model_label(name) for name in ("han-rnn", "flan-noenc", "dp")] == ["HANrnn", "FLANnoenc", "dp"]
    assert corpus_label("imdb-ratings") == "IMDB, ratings"
    assert corpus_label("my-file") == "my-file"
