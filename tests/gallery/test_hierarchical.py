"""Gallery `hierarchical`: reviews are of medium length and in one split; the picture shows both levels."""

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from heedful.gallery.hierarchical import (
    ENTRY,
    LONGEST,
    SENTENCE,
    SHORTEST,
    LastStates,
    in_parts_of_the_largest,
    is_medium,
    read_reviews,
)


@pytest.fixture(scope="module")
def reviews():
    return read_reviews({"train": 41, "dev": 13, "test": 23})


def test_reviews_are_as_many_as_asked_for_and_none_is_in_two_splits(reviews):
    counted = {split: int((reviews.splits == split).sum()) for split in ("train", "dev", "test")}
    assert counted == {"train": 41, "dev": 13, "test": 23}
    assert len(set(reviews.texts)) == len(reviews)
    assert all(SHORTEST <= len(text.split()) <= LONGEST for text in reviews.texts)
    assert 0.3 < reviews.labels.mean() < 0.7


def test_every_reading_gives_the_same_reviews(reviews):
    again = read_reviews({"train": 41, "dev": 13, "test": 23})
    assert again.texts == reviews.texts
    assert np.array_equal(again.splits, reviews.splits)


def test_short_long_and_endless_reviews_are_left_out():
    sentence = " ".join(["word"] * (SENTENCE // 2)) + ". "
    assert is_medium(sentence.capitalize() * 8)
    assert not is_medium(sentence * 2)
    assert not is_medium(sentence * 40)
    assert not is_medium(" ".join(["word"] * SHORTEST))


def test_the_largest_weight_of_a_sentence_is_painted_full():
    assert in_parts_of_the_largest([("a", 0.1), ("b", 0.4)]) == [("a", 0.25), ("b", 1.0)]


def test_last_states_are_where_both_directions_end_and_nothing_for_an_empty_row():
    states = torch.arange(3 * 2 * 4.0).reshape(3, 2, 4)
    mask = torch.tensor([[True, True], [True, False], [False, False]])
    attended = LastStates()(states, mask)
    assert attended.context.tolist() == [[4, 5, 2, 3], [8, 9, 10, 11], [0, 0, 0, 0]]
    assert attended.weights.tolist() == [[0, 1], [1, 0], [0, 0]]


@pytest.mark.slow
def test_three_equal_models_learn_and_the_picture_shows_both_levels():
    # That attention wins is not tested: on these reviews it does not (docs/gallery/hierarchical.md).
    outcome = ENTRY.train(0, "small")
    assert set(outcome.table) == {"attention", "equal weights", "last states"}
    assert len(set(outcome.table.values())) > 1
    assert outcome.figure == outcome.table["attention"] > 0.5
    assert outcome.baseline == outcome.table["equal weights"]
    assert abs(outcome.parameters / outcome.baseline_parameters - 1) < 0.03
    shown = outcome.picture
    assert len(shown["words"]) == len(shown["sentences"])
    assert shown["sentences"].sum() == pytest.approx(1, abs=1e-5)
    for words in shown["words"]:
        assert sum(weight for _, weight in words) == pytest.approx(1, abs=1e-5)
    ENTRY.draw(outcome, Figure())
