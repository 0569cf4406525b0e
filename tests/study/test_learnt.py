"""A model that has learnt nothing decides no claim."""

import pandas as pd
import pytest

from heedful.records import Claim, Finding, Interval
from heedful.study.learnt import judged, models_lines, models_table


def run(accuracy, *, model="dp", setting="", seed=0, texts=1000, majority=0.52):
    about = {"corpus": "sst", "model": model, "setting": setting, "seed": seed}
    return {**about, "accuracy": accuracy, "majority": majority, "texts": texts}


def claim(**coordinates):
    effect = Finding(
        "lead",
        0.4,
        interval=Interval(0.3, 0.5, 0.95, "made"),
        count=1000,
        measured="made",
        coordinates=coordinates,
    )
    return Claim.decided("It holds", "nowhere", effect=effect, comparison=">", threshold=0)


@pytest.mark.parametrize(
    ("accuracy", "learnt"),
    [(0.499, False), (0.52, False), (0.545, False), (0.56, True), (0.9, True)],
)
def test_learnt_is_above_the_largest_class_with_the_whole_interval(accuracy, learnt):
    table = models_table([run(accuracy - 0.01, seed=0), run(accuracy + 0.01, seed=1)])
    (row,) = table.to_dict("records")
    assert row["accuracy"] == pytest.approx(accuracy)
    assert row["seeds"] == 2
    assert row["learnt"] == learnt


def test_a_claim_about_a_model_that_has_learnt_nothing_is_undecided_and_says_why():
    models = models_table([run(0.499), run(0.8, model="dp-a")])
    bad, good, other = judged(
        [claim(corpus="sst", model="dp"), claim(corpus="sst", model="dp-a"), claim()], models
    )
    assert bad.outcome == "undecided"
    assert bad.criterion == "> 0; the model has learnt nothing: accuracy 49.9 %, largest class 52.0 %"
    assert good.outcome == other.outcome == "holds"
    assert [one.outcome for one in judged([claim()], models_table([run(0.499)]))] == ["undecided"]
    assert [one.outcome for one in judged([claim(corpus="sst", model="dp")], None)] == ["holds"]


def test_a_setting_that_is_meant_to_fail_does_not_silence_the_model():
    models = models_table([run(0.8), run(0.5, setting="scale 0.001")])
    assert [one.outcome for one in judged([claim(corpus="sst", model="dp")], models)] == ["holds"]
    assert [line[3] for line in models_lines(models)] == ["80.0 %", "50.0 %, has learnt nothing"]


def test_corpora_of_one_name_are_not_one_row():
    plain, marks = run(0.8), {**run(0.6, setting="scale 1"), "corpus": "corpora/marks/sst.csv"}
    rows = models_table([plain, {**plain, "setting": "scale 1"}, marks])
    assert rows["corpus"].tolist() == ["sst"] * 3
    assert rows["setting"].tolist() == ["", "scale 1", "marks, scale 1"]
    assert rows["accuracy"].tolist() == [0.8, 0.8, 0.6]
    (alone,) = models_table([marks]).to_dict("records")
    assert (alone["corpus"], alone["setting"]) == ("sst", "scale 1")


def test_a_run_that_two_measurements_asked_of_counts_once():
    assert models_table([run(0.8), run(0.8)])["seeds"].tolist() == [1]
    assert isinstance(models_table([run(0.8)]), pd.DataFrame)
