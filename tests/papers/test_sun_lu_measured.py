"""Sun & Lu's experiments on real trainings, small ones: measures on runs, and experiments from end to end."""

import numpy as np
import pandas as pd
import pytest
from drawn import drawn_to

import heedful
from heedful.data.synthetic import Synthetic, make_synthetic
from heedful.papers import experiment
from heedful.papers.sun_lu import trainings
from heedful.papers.sun_lu.measures import (
    inequalities,
    mirrored_inequalities_at_end,
    text_weights,
    word_scores,
    word_scores_both_ways,
    word_weights,
)
from heedful.study.experiment import reproduce
from heedful.study.workbench import Bench

SMALL = Synthetic(neutral=37, polar=7, per_class=150, held_out=23, symmetric=True)
SETTINGS = {"epochs": 20, "embedding": 11, "rate": 0.3, "batch": 50}


@pytest.fixture(scope="module")
def trained():
    corpus = make_synthetic(SMALL)
    return heedful.train(corpus, model="sun-lu-synthetic-dp", scale=4, **SETTINGS), corpus


def test_words_have_their_scores_type_and_the_polarity_for_their_own_class(trained):
    words = word_scores(*trained)
    assert words["type"].value_counts()[["positive", "negative"]].tolist() == [7, 7]
    assert (words.loc[words["type"] == "positive", "word"].str[:3] == "pos").all()
    polar = words[words["type"] != "neutral"]
    signs = np.where(polar["type"] == "positive", 1, -1)
    assert np.array_equal(polar["own"], signs * polar["polarity"])
    assert (polar["own"] > 0).mean() > 0.9
    assert words.loc[words["type"] == "neutral", "own"].isna().all()
    assert words["alignment"].nunique() == 1
    assert words["alignment"].iloc[0] == pytest.approx(float(trained[0].model.alignment()[0].detach()))


def test_words_of_three_classes_are_measured_by_what_tells_classes_apart():
    corpus = make_synthetic(Synthetic(neutral=37, polar=7, per_class=150, held_out=23, classes=3))
    run = heedful.train(corpus, model="sun-lu-synthetic-dp", scale=4, **SETTINGS)
    words = word_scores(run, corpus)
    row = words[words["type"] == "1"].iloc[0]
    logits = row[["polarity 0", "polarity 1", "polarity 2"]].to_numpy(float)
    assert row["own"] == logits[1]
    assert row["strength"] == pytest.approx(np.abs(logits - logits.mean()).max())


def test_without_an_encoder_local_and_global_attention_are_the_same(trained):
    both = word_scores_both_ways(*trained).pivot(index="word", columns="kind", values="attention").dropna()
    assert len(both) > 14
    assert np.allclose(both["local"], both["global"], atol=1e-5)


def test_average_weights_come_with_the_length_of_a_words_texts(trained):
    words = word_weights(*trained)
    assert (words["text length"] == 12).all()
    assert words["weight"].between(0, 1).all()


def test_inequalities_are_shares_of_pairs(trained):
    found = inequalities(*trained)
    assert found["share"].between(0, 1).all()
    assert {"48", "50", "53", "54", "55"} <= set(found["equation"])


def test_mirrored_inequalities_are_of_the_last_weights_and_of_mirrored_pairs(trained):
    run, corpus = trained
    found = mirrored_inequalities_at_end(run, corpus).set_index(["equation", "pair"])
    kept = inequalities(run, corpus).set_index(["equation", "pair"])
    # e_+ is any other of 7 words and e_- its mirror image, where SST has every e_- of 7.
    assert found.loc[("54", "positive against negative"), "count"] == 7 * 6
    assert kept.loc[("54", "positive against negative"), "count"] == 7 * 6 * 7
    assert run.result["epoch"] < run.result["epochs"]
    plain = ["48", "49", "50", "51", "52", "53"]  # counted alike in both
    assert (found.loc[plain, "count"] == kept.loc[plain, "count"]).all()
    assert (found.loc[plain, "share"] != kept.loc[plain, "share"]).any()  # so the weights are others


def test_the_weights_of_one_text_sum_to_one(trained):
    found = text_weights(*trained, text="pos1 n2 n3")
    assert list(found["word"].sort_values()) == ["n2", "n3", "pos1"]
    assert found["weight"].sum() == pytest.approx(1)
    assert np.allclose(found["weight"], np.exp(found["attention"]) / np.exp(found["attention"]).sum())


@pytest.mark.slow
def test_a_figure_over_training_goes_from_trainings_to_claims_and_pictures(tmp_path, monkeypatch):
    monkeypatch.setitem(trainings.SYNTHETIC, "data-1", lambda: make_synthetic(SMALL, name="data-1"))
    bench = Bench(tmp_path, quick=True, workers=1, seeds=(0, 1))
    done = reproduce(experiment("sun-lu-s-fig5"), bench)
    assert len(done.claims) == 2
    course = done.tables["moments"]
    assert list(dict.fromkeys(course["panel"])) == ["Data I, no penalty", "Data I, penalty on |VᵀW|"]
    assert set(course["seed"]) == {0, 1}
    png, _ = drawn_to("sun-lu-s-fig5", done.tables, tmp_path)
    assert png.exists()
    # The next figure needs trainings that are there already.
    trained = sorted((tmp_path / "runs").iterdir())
    again = reproduce(experiment("sun-lu-s-fig2"), bench)
    assert sorted((tmp_path / "runs").iterdir()) == trained
    assert {"positive-positive", "negative-positive"} <= set(again.tables["moments"]["group"])


@pytest.mark.slow
@pytest.mark.corpora
def test_words_of_sst_go_from_training_to_claims(tmp_path, data_dir, monkeypatch):
    monkeypatch.setitem(trainings.QUICK_EPOCHS, "sst", 3)
    bench = Bench(tmp_path, quick=True, seeds=(0,), workers=1, data_dir=str(data_dir))
    done = reproduce(experiment("sun-lu-fig5"), bench)
    assert len(done.claims) == 6
    sizes = done.tables["words"].groupby("type").size()
    assert sizes["positive"] < 412
    assert set(done.tables["text"]["word"]) == {"is", "this", "progress"}


@pytest.mark.corpora
def test_types_of_sst_are_counted_as_the_paper_prints_them(tmp_path, data_dir):
    done = reproduce(experiment("sun-lu-s-table1"), Bench(tmp_path, corpora=("sst",), data_dir=str(data_dir)))
    table = done.tables["summary"].set_index("type")
    assert pd.Series(table["count"]).equals(pd.Series(table["printed"], name="count"))
    assert [claim.outcome for claim in done.claims] == ["holds"]
