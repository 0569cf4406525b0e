"""A corpus keeps its rows together, knows its classes, and has a fingerprint of its content."""

from dataclasses import replace

import numpy as np
import pytest

from heedful.data.corpus import Corpus
from heedful.data.dealing import check_shares
from heedful.errors import UserError


def small() -> Corpus:
    return Corpus(
        "small",
        ["a", "b", "c", "d", "e"],
        np.array([0, 1, 1, 0, 1]),
        np.array(["train", "train", "dev", "test", "train"]),
        ("no", "yes"),
        ("a note",),
    )


def test_a_split_has_its_rows_in_their_order():
    train = small().split("train")
    assert list(train.texts) == ["a", "b", "e"]
    assert train.labels.tolist() == [0, 1, 1]
    assert train.notes == ("a note",)


def test_taken_rows_come_in_the_order_asked_for():
    taken = small().take(np.array([4, 0, 4]))
    assert list(taken.texts) == ["e", "a", "e"]
    assert taken.labels.tolist() == [1, 0, 1]
    assert taken.splits.tolist() == ["train", "train", "train"]


def test_class_sizes_count_each_split_with_zeros():
    assert small().class_sizes("train") == {"no": 1, "yes": 2}
    assert small().class_sizes("test") == {"no": 1, "yes": 0}


@pytest.mark.parametrize("ask", [Corpus.split, Corpus.class_sizes])
def test_an_unknown_split_is_refused_by_name(ask):
    with pytest.raises(UserError, match="no split 'tests'; the nearest is 'test'"):
        ask(small(), "tests")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"texts": ["a"]}, "of one length, but they are 1, 5 and 5"),
        ({"labels": np.array([0, 1, 2, 0, 1])}, "2 label names, but a row has the class number 2"),
        ({"labels": np.array([0, 1, -1, 0, 1])}, "the class number -1"),
        ({"labels": np.array([0.0, 1, 1, 0, 1])}, "must be class numbers"),
        ({"splits": np.array(["train", "train", "valid", "test", "train"])}, "no split 'valid'"),
    ],
)
def test_rows_that_do_not_fit_together_are_refused(change, sentence):
    with pytest.raises(UserError, match=sentence):
        replace(small(), **change)


def test_equal_content_is_equal_and_notes_do_not_matter():
    assert small() == replace(small(), notes=())
    assert len({small(), replace(small(), notes=())}) == 1
    assert small() != replace(small(), name="other")
    assert small() != "small"


@pytest.mark.parametrize(
    "change",
    [
        {"texts": ["a", "b", "c", "d", "E"]},
        {"texts": ["b", "a", "c", "d", "e"]},
        {"labels": np.array([0, 1, 1, 1, 1])},
        {"splits": np.array(["train", "train", "dev", "test", "test"])},
        {"label_names": ("no", "maybe")},
    ],
)
def test_the_fingerprint_changes_with_any_content(change):
    assert replace(small(), **change).fingerprint != small().fingerprint


def test_the_fingerprint_does_not_confuse_where_names_or_texts_end():
    joined = replace(small(), label_names=("no\x1fyes", ""))
    assert joined.fingerprint != small().fingerprint
    moved = replace(small(), texts=["ab", "", "c", "d", "e"])
    assert moved.fingerprint != small().fingerprint


def test_the_fingerprint_is_the_same_tomorrow():
    assert small().fingerprint == "7fed16504f90d0ba"


@pytest.mark.parametrize("shares", [(0.8, 0.1), (0.8, 0.1, 0.2), (1.1, -0.1, 0.0), (0.0, 0.5, 0.5)])
def test_shares_that_are_not_parts_of_a_whole_are_refused(shares):
    with pytest.raises(UserError, match="sum to 1"):
        check_shares(shares)


def test_a_corpus_prints_short_and_without_its_texts():
    names = tuple("abcdefghijklmnop")
    splits = np.array(["train"] * 1100 + ["test"] * 7)
    corpus = Corpus("letters", ["a text " * 99] * 1107, np.zeros(1107, int), splits, names)
    listed = "a, b, c, d, e, f, g, h, i, j, k, l and 4 more"
    assert repr(corpus) == f"Corpus('letters', texts: train 1,100, dev 0, test 7; labels: {listed})"
