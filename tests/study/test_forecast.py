"""A forecast is measured on the cells that were asked for, and tries each kind of them once."""

from dataclasses import replace
from math import inf, nan

import pytest
import torch

from heedful.data.synthetic import data_one
from heedful.study import Study
from heedful.study import forecast as module
from heedful.study.forecast import Probe, foretold, training_seconds
from heedful.study.workbench import Bench, Measure, result
from heedful.training.presets import prepare

CORPUS = data_one(neutral=13, polar=3, per_class=400, held_out=11)


@pytest.fixture
def epochs_of_two_seconds(monkeypatch):
    tried = []

    def pretend(model, train, dev, *, settings):
        tried.append((len(train), settings.epochs, settings.patience, torch.get_num_threads()))
        return [{"kind": "epoch", "seconds": 11.0}, {"kind": "epoch", "seconds": 2.0}]

    monkeypatch.setattr(module, "fit", pretend)
    return tried


def test_the_second_epoch_on_few_texts_is_scaled_to_all_words_and_epochs(epochs_of_two_seconds):
    model, training = prepare("dp", {"epochs": 7})
    probe = Probe(CORPUS, model, training)
    words, few = probe.words, len(probe.texts.ids)
    assert words == sum(len(text.split()) for text in CORPUS.split("train").texts)
    before = torch.get_num_threads()
    assert probe.seconds(model, training) == pytest.approx(2.0 * words / few * 7)
    assert epochs_of_two_seconds == [(256, 2, None, 1)]
    assert torch.get_num_threads() == before
    assert probe.seconds(model, replace(training, epochs=3)) == pytest.approx(2.0 * words / few * 3)


def test_cells_that_cost_the_same_are_tried_once(epochs_of_two_seconds):
    study = Study(
        "x",
        ("data-1",),
        ("dp", "ad"),
        seeds=(0, 1, 2),
        grid={"scale": [1.0, 10.0], "embedding": [5, 7]},
        settings={"epochs": 2},
    )
    found = training_seconds(study, study.cells, {"data-1": CORPUS})
    assert len(found) == 2 * 3 * 2 * 2
    assert len(epochs_of_two_seconds) == 2 * 2  # models and widths


def test_a_training_that_runs_away_does_not_stop_the_forecast():
    wrong = {"optimiser": "sgd", "embedding": 5, "epochs": 2}
    study = Study("x", ("data-1",), ("dp",), settings=wrong, grid={"rate": [1e38]})
    (seconds,) = training_seconds(study, study.cells, {"data-1": CORPUS})
    assert 0 < seconds < inf  # timed at a rate at which nothing runs away


@pytest.mark.parametrize(
    ("seconds", "workers", "sentence"),
    [
        ([30.0], 2, "One training to do: about 30 s, tried on a few texts."),
        ([30.0, 30.0, 30.0], 1, "3 trainings to do: about 2 min, tried on a few texts."),
        ([40.0] * 4, 2, "4 trainings to do: about 80 s with 2 at a time, tried on a few texts."),
        ([80.0, 1.0], 8, "2 trainings to do: about 80 s with 8 at a time, tried on a few texts."),
        ([nan, 80.0], 1, "2 trainings to do: about 80 s, tried on a few texts."),
        ([nan], 2, "One training to do."),
    ],
)
def test_trainings_share_workers_and_none_is_shorter_than_the_longest(seconds, workers, sentence):
    assert foretold(seconds, workers) == sentence


def test_a_workbench_says_how_long_only_of_what_is_not_trained(tmp_path, monkeypatch, epochs_of_two_seconds):
    from debated import work_here

    work_here(monkeypatch)
    said = []
    bench = Bench(tmp_path, say=said.append, foretell=True, workers=2)
    name = bench.keep_corpus("tiny", data_one(neutral=13, polar=3, per_class=40, held_out=11))
    few = Study("tiny", (name,), seeds=(0,), settings={"epochs": 1}, base=tmp_path)
    bench.measured(few, Measure(result))
    assert [sentence.partition(":")[0] for sentence in said] == ["tiny"]
    assert "One training" in said[0]
    bench.measured(few, Measure(result))
    assert len(said) == 1
    bench.measured(replace(few, seeds=(0, 1, 2)), Measure(result))
    assert "2 trainings" in said[1]
