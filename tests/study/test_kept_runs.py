"""A training that is done once: read again where it is the same, refused where it is another."""

from dataclasses import replace

import pytest

from heedful.data.synthetic import Synthetic, make_synthetic
from heedful.data.words import WordRules
from heedful.errors import UserError
from heedful.study import kept_runs
from heedful.study.kept_runs import train_again, trained_once
from heedful.training.presets import prepare

CORPUS = make_synthetic(Synthetic(neutral=13, polar=5, per_class=31, held_out=11), name="made")
OTHER = make_synthetic(Synthetic(neutral=13, polar=5, per_class=31, held_out=11, seed=7), name="made")


def ask(out, corpus=CORPUS, *, rules=None, model=None, **changes):
    settings, training = prepare("dp", {"epochs": 1, "embedding": 7, **changes})
    return trained_once(
        corpus, model=replace(settings, **(model or {})), training=training, rules=rules, out=out
    )


def test_the_same_is_read_again_and_not_trained(tmp_path, monkeypatch):
    first = ask(tmp_path / "run", scale=10)
    monkeypatch.setattr(kept_runs, "train_run", None)  # training would fail
    assert ask(tmp_path / "run", scale=10.0).result == first.result


@pytest.mark.parametrize(
    "other",
    [
        {"corpus": OTHER},
        {"seed": 5},
        {"scale": 3},
        {"rules": WordRules(lower=False)},
        {"model": {"control": "uniform"}},
        {"model": {"vectors_file": "b.txt"}},
    ],
    ids=["texts", "seed", "scale", "words", "control", "vectors"],
)
def test_a_run_of_anything_else_is_refused_and_stays(tmp_path, other):
    first = ask(tmp_path / "run")
    with pytest.raises(UserError, match="holds a run of other texts or settings"):
        ask(tmp_path / "run", **other)
    assert ask(tmp_path / "run").result == first.result


def test_a_file_of_vectors_may_have_moved_with_its_folder(tmp_path):
    first = ask(tmp_path / "run", model={"vectors_file": "here/vectors.txt"})
    again = ask(tmp_path / "run", model={"vectors_file": "there/vectors.txt"})
    assert again.result == first.result
    assert again.recipe.model.vectors_file == "there/vectors.txt"  # who reads it again finds it


def test_without_a_place_it_is_trained_each_time():
    assert ask(None).folder is None


def test_a_model_trained_again_is_not_taken_for_one_of_another_seed(tmp_path):
    run = ask(None)
    again = train_again(run, CORPUS, seed=5, out=tmp_path / "again")
    assert train_again(run, CORPUS, seed=5, out=tmp_path / "again").result == again.result
    with pytest.raises(UserError, match="holds a run of other texts or settings"):
        train_again(run, CORPUS, seed=6, out=tmp_path / "again")
