"""The workbench: it trains and measures each cell once, shares runs, and goes on after a stop."""

import pandas as pd
import pytest

from heedful.data.synthetic import data_one
from heedful.errors import UserError
from heedful.papers import find_experiments
from heedful.records import Claim, Finding
from heedful.study import Study
from heedful.study.experiment import Experiment, Reproduction, reproduce
from heedful.study.workbench import Bench, Measure, result, watch_rows
from heedful.training.texts_of_run import corpus_of
from heedful.understanding.watch import WatchSettings

RESULT, WATCHED = Measure(result), Measure(watch_rows)


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path / "bench", workers=1)


@pytest.fixture
def study(bench):
    corpus = bench.keep_corpus("tiny", data_one(neutral=13, polar=3, per_class=40, held_out=11))
    return Study(
        "tiny", (corpus,), seeds=(0, 1), settings={"epochs": 2}, grid={"scale": [1, 10]}, base=bench.folder
    )


@pytest.mark.slow
def test_each_cell_is_trained_and_measured_once_and_has_its_coordinates(bench, study):
    found = bench.measured(study, RESULT)
    assert list(found.columns[:6]) == ["cell", "corpus", "model", "seed", "scale", "measure"]
    assert set(found["corpus"]) == {"tiny"}
    assert found[["scale", "seed"]].to_numpy().tolist() == [[1, 0], [1, 1], [10, 0], [10, 1]]
    trained = sorted((bench.folder / "runs").glob("*/weights.safetensors"))
    before = [path.stat().st_mtime_ns for path in trained]
    pd.testing.assert_frame_equal(bench.measured(study, RESULT), found)
    assert [path.stat().st_mtime_ns for path in trained] == before
    runs = bench.runs(study)
    assert [cell.key for cell, _ in runs] == list(found["cell"])
    assert [run.result["test_accuracy"] for _, run in runs] == list(found["test_accuracy"])


@pytest.mark.slow
def test_a_watch_leaves_its_rows_and_does_not_change_the_training(bench, study):
    rows = bench.measured(study, RESULT, WATCHED, watch=WatchSettings(records=3))
    assert {"polarity", "attention", "alignment"} <= set(rows["quantity"].dropna())
    plain = bench.measured(study, RESULT)
    watched = rows[rows["measure"] == "result"]
    assert list(watched["test_accuracy"]) == list(plain["test_accuracy"])


@pytest.mark.slow
def test_a_cell_that_fails_is_named_in_one_sentence(bench, study):
    with pytest.raises(UserError, match=r"cells failed; .*tiny"):
        bench.measured(study, Measure(result, {"option": "that it does not have"}))


def test_what_the_user_asks_for_narrows_an_experiment_and_never_widens_it(tmp_path):
    bench = Bench(tmp_path, corpora=("sst",), seeds=(0, 1))
    assert bench.chosen("corpora", ("sst", "imdb")) == ("sst",)
    assert bench.chosen("models", ("dp", "ad")) == ("dp", "ad")
    assert bench.chosen("seeds", range(5)) == (0, 1)
    with pytest.raises(UserError, match="corpora imdb, not sst"):
        bench.chosen("corpora", ("imdb",))


def test_what_came_of_an_experiment_is_read_again_as_it_was_written(tmp_path):
    table = pd.DataFrame({"scale": [1, 10], "accuracy": [0.7, 0.8]})

    def claims(tables):
        gain = float(tables["summary"]["accuracy"].diff().iloc[-1])
        effect = Finding("gain", gain, count=2, measured="The difference.", kind="exact")
        yield Claim.decided("More is more", "nowhere", effect=effect, comparison=">", threshold=0)

    experiment = Experiment("x-fig1", "A figure", "nowhere", lambda bench: {"summary": table}, claims)
    done = reproduce(experiment, Bench(tmp_path, corpora=("sst",), models=("dp", "ad"), seeds=(0, 1)))
    assert [claim.outcome for claim in done.claims] == ["holds"]
    again = Reproduction.load(tmp_path / "x-fig1")
    pd.testing.assert_frame_equal(again.tables["summary"], table)
    assert (again.name, again.claims, again.quick) == ("x-fig1", done.claims, False)
    assert again.asked == "--corpus sst --model dp --model ad --seeds 2"
    with pytest.raises(UserError, match="holds no experiment"):
        Reproduction.load(tmp_path)


def test_an_unknown_experiment_is_refused_by_name():
    with pytest.raises(UserError, match="sun-luu"):
        find_experiments("sun-luu")


@pytest.mark.slow
def test_a_workbench_that_is_moved_trains_and_measures_nothing_again(tmp_path, monkeypatch):
    corpus = data_one(neutral=13, polar=3, per_class=40, held_out=11)

    def found(bench):
        name = bench.keep_corpus("tiny", corpus)
        study = Study("tiny", (name,), seeds=(0,), settings={"epochs": 2}, base=bench.folder)
        return bench.measured(study, RESULT), bench.runs(study)

    before, _ = found(Bench(tmp_path / "here", workers=1))
    (tmp_path / "here").rename(tmp_path / "there")
    monkeypatch.setattr("heedful.study.engines.in_processes", None)  # nothing is left to do
    after, ((_, run),) = found(Bench(tmp_path / "there"))
    pd.testing.assert_frame_equal(before, after)
    assert corpus_of(run).fingerprint == corpus.fingerprint


@pytest.mark.slow
def test_runs_with_other_watches_are_not_taken_for_each_other(bench, study):
    for texts in (11, 13, 11):
        found = bench.measured(study, WATCHED, watch=WatchSettings(texts=texts))
        assert found["texts"].unique().tolist() == [texts]
