"""The figures of Wiegreffe & Pinter's experiments on made-up tables: two classes, and more."""

import numpy as np
import pandas as pd
import pytest
from drawn import draw

from heedful.records.crossed import crossed_interval

MODEL = "jain-wallace-bilstm-tanh"


def seeds_table(corpus, classes, kind):
    generator = np.random.default_rng(2)
    count = 53
    decided = np.arange(count) % len(classes)
    about = {"corpus": corpus, "model": MODEL, "runs": 3, "instance": np.arange(count), "decided": decided}
    return pd.DataFrame(
        {
            **about,
            "decided_class": np.array(classes)[decided],
            "largest": generator.random(count),
            "divergence": 0.2 * generator.random(count),
            "shuffled_divergence": 0.3,
            "adversary_divergence": np.where(np.arange(count) < 11, 0.5, np.nan),
            "adversary_kind": pd.Series([kind] * 11, dtype=object).reindex(range(count)),
        }
    )


def labels_of(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_each_corpus_has_its_classes_in_the_legend_and_a_climbed_adversary_its_sign():
    two = seeds_table("two", ("no", "yes"), "exact")
    four = seeds_table("four", ("world", "sport", "trade", "science"), "lower bound")
    figure = draw("wiegreffe-pinter-seeds", {"seeds": pd.concat([two, four])})
    assert labels_of(figure) == [
        *(f"decided: {name}" for name in ("no", "yes", "world", "sport", "trade", "science")),
        "shuffled weights, mean",
        "post-hoc adversary, mean",
    ]
    assert [[text.get_text() for text in axis.texts] for axis in figure.axes] == [[], ["≥ (lower bound)"]]


@pytest.mark.parametrize(("how", "signs"), [("exact", 0), ("lower bound", 1)])
def test_the_curve_marks_a_post_hoc_adversary_that_is_a_lower_bound(how, signs):
    places = [("adversary", 0.0, None), ("adversary", 0.02, None), ("seed", None, 1.0)]
    places += [("uniform", None, None), ("post-hoc adversary", None, None)]
    rows = [
        pd.DataFrame(
            {
                "corpus": "made",
                "model": MODEL,
                "kind": kind,
                "strength": strength,
                "other": other,
                "how": how if kind == "post-hoc adversary" else None,
                "instance": range(5),
                "change": 0.1,
                "divergence": 0.3,
            }
        ).astype({"strength": float, "other": float})
        for kind, strength, other in places
    ]
    figure = draw("wiegreffe-pinter-adversarial", {"curve": pd.concat(rows)})
    assert [text.get_text() for text in figure.axes[0].texts].count("≥") == signs


def scores(kinds, *, column):
    rows = [
        {"corpus": "made", "model": MODEL, "seed": seed, column: kind, "macro_f1": 0.97 + 0.01 * seed}
        for kind in kinds
        for seed in range(3)
    ]
    return pd.DataFrame(rows).assign(texts=103)


def test_a_ladder_without_an_exact_adversary_has_no_empty_rung():
    guides = ("uniform", "learnt", "trained model", "adversary, trained")
    figure = draw("wiegreffe-pinter-diagnostic", {"ladder": scores(guides, column="guide")})
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == list(guides)


@pytest.mark.parametrize("error", [None, 0.015])
def test_the_line_of_a_score_is_its_interval_and_stays_below_1(error):
    tables = {"runs": scores(("trained", "uniform"), column="kind")}
    if error is not None:
        about = {"corpus": "made", "model": MODEL, "kind": ["trained", "uniform"], "than": ""}
        tables["errors"] = pd.DataFrame({**about, "measure": "macro_f1", "error": error})
    axis = draw("wiegreffe-pinter-uniform", tables).axes[0]
    ends = crossed_interval([0.97, 0.98, 0.99], count=103, error=error, within=(0, 1))
    assert axis.lines[0].get_xdata().tolist() == pytest.approx([ends.low, ends.high])
    assert max(line.get_xdata().max() for line in axis.lines if len(line.get_xdata())) <= 1
