"""The recipes of the truth bench: always the same, and two parts that share no architecture on a corpus."""

from collections import Counter

import pytest

from heedful.bench.truth.catalogue import recipes
from heedful.bench.truth.labels import LABELS, PART
from heedful.errors import UserError


@pytest.fixture(scope="module")
def every():
    return recipes()


def test_recipes_are_the_same_each_time(every):
    again = recipes()
    assert every == again
    assert [one.digest for one in every] == [one.digest for one in again]
    assert len({one.key for one in every}) == len({one.seed for one in every}) == len(every)


def test_another_seed_draws_other_models_of_the_same_kinds(every):
    others = recipes(seed=15)
    assert {one.key for one in others} == {one.key for one in every}
    assert not {one.digest for one in others} & {one.digest for one in every}


def test_thresholds_are_fitted_on_other_architectures_or_corpora_than_they_are_published_on(every):
    seen = {
        part: {(one.architecture, one.task.corpus) for one in every if one.part == part}
        for part in ("fit", "held-out")
    }
    assert not seen["fit"] & seen["held-out"]
    assert {corpus for _, corpus in seen["held-out"]} == {"generated", "sst", "agnews", "20news-1"}


def test_enough_is_held_out(every):
    held = [one for one in every if one.part == "held-out"]
    wanted = Counter(one.want for one in held)
    assert wanted["wrong"] >= 330
    assert wanted["right"] >= 330
    assert wanted["part"] >= 220
    assert min(Counter(one.architecture for one in held).values()) >= 22
    assert sum(one.kind == "trained" for one in held) >= 150
    for architecture in {one.architecture for one in held}:
        own = Counter(one.want for one in held if one.architecture == architecture)
        assert all(own[label] >= (0.2 if label == PART else 0.3) * own.total() for label in LABELS)


def test_all_that_was_promised_is_in_it(every):
    held = [one for one in every if one.part == "held-out"]
    tasks = [one.task for one in held]
    assert {task.truth for task in tasks} == {
        "one",
        "redundant",
        "mixed",
        "pair",
        "both",
        "ordered",
        "context",
        "detection",
    }
    assert min(task.length[0] for task in tasks) <= 3
    assert max(task.length[1] for task in tasks) >= 290
    assert {2, 20} <= {task.classes for task in tasks}
    assert max(task.ratio for task in tasks) == 30
    assert max(task.deciding for task in tasks) == 12
    assert any(task.noise for task in tasks)
    ways = {one.way for one in held}
    assert {"right", "diluted", "decoy", "class", "half", "uniform", "first", "last"} <= ways
    assert {"penalised", "opposed", "free", "avoided", "random"} <= ways
    transformers = [one.task for one in held if one.architecture in ("bert", "decoder", "minilm")]
    assert max(task.length[1] for task in transformers) <= 60


def test_a_quick_run_needs_no_corpus(every):
    quick = recipes(quick=True)
    assert {one.task.corpus for one in quick} == {"generated"}
    assert not {one.architecture for one in quick} & {"bert", "decoder", "minilm"}


def test_parts_are_known_by_name(every):
    assert {one.part for one in recipes("fit")} == {"fit"}
    with pytest.raises(UserError, match="held-out"):
        recipes("held")
