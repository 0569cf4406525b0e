"""Gallery `hierarchical`: reviews are of medium length and in one split; the picture shows both levels."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from heedful.gallery.hierarchical import (
    ENTRY,
    LONGEST,
    SENTENCE,
    SHORTEST,
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


@pytest.mark.slow
def test_attention_at_both_levels_beats_equal_weights():
    outcome = ENTRY.train(0, "small")
    assert outcome.figure > outcome.baseline
    assert abs(outcome.parameters / outcome.baseline_parameters - 1) < 0.03
    shown = outcome.picture
    assert len(shown["words"]) == len(shown["sentences"])
    assert shown["sentences"].sum() == pytest.approx(1, abs=1e-5)
    for words in shown["words"]:
        assert sum(weight for _, weight in words) == pytest.approx(1, abs=1e-5)
    ENTRY.draw(outcome, Figure())
