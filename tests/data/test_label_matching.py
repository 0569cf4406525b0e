"""Labels of a file against classes of a model: matched by name, by word or by decisions, or refused."""

import numpy as np
import pytest

from heedful.data.corpus import Corpus
from heedful.data.label_matching import match_labels, read_label_map
from heedful.errors import UserError

ROWS = 211


def corpus(names, seed=5, shares=None):
    labels = np.random.default_rng(seed).choice(len(names), ROWS, p=shares)
    return Corpus("mine", [f"{row}" for row in range(ROWS)], labels, np.full(ROWS, "test"), tuple(names))


def deciding(given, classes_of_labels, right, seed=7):
    """A model that decides as the labels say in `right` of the texts, and by chance in the others."""
    chance = np.random.default_rng(seed)

    def decide(texts):
        own = np.array([classes_of_labels[given.labels[int(text)]] for text in texts])
        wild = chance.integers(0, max(classes_of_labels) + 1, len(texts))
        return np.where(chance.random(len(texts)) < right, own, wild)

    return decide


def test_names_are_matched_whatever_their_case_and_order():
    given = corpus(["Very-Good", "bad"])
    found, notes = match_labels(given, ("BAD", "so so", "very good"))
    assert notes == ()
    assert found.label_names == ("BAD", "so so", "very good")
    assert found.labels.tolist() == np.array([2, 0])[given.labels].tolist()


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_numbers_are_matched_by_the_models_decisions_and_it_is_said(order):
    given = corpus(["0", "1"], shares=[0.87, 0.13])
    found, (note,) = match_labels(given, ("ham", "spam"), decide=deciding(given, order, 0.9))
    assert found.label_names == ("ham", "spam")
    assert found.labels.tolist() == np.array(order)[given.labels].tolist()
    pairs = ",".join(f"{label}={('ham', 'spam')[number]}" for label, number in enumerate(order))
    assert f"{pairs} (say otherwise with --label-map)" in note


def test_of_many_classes_each_finds_its_own():
    given, order = corpus("abcde"), [3, 6, 0, 1, 4]
    classes = [f"c{number}" for number in range(7)]
    found, (note,) = match_labels(given, classes, decide=deciding(given, order, 0.8))
    assert found.labels.tolist() == np.array(order)[given.labels].tolist()
    assert "a=c3,b=c6,c=c0,d=c1,e=c4" in note


def test_classes_without_names_take_those_of_the_file():
    given = corpus(["ham", "spam"])
    found, _ = match_labels(given, ("LABEL_0", "LABEL_1"), decide=deciding(given, [1, 0], 0.9))
    assert found.label_names == ("spam", "ham")
    assert found.labels.tolist() == (1 - given.labels).tolist()


@pytest.mark.parametrize("right", [0.0, 0.05])
def test_decisions_that_tell_nothing_are_not_believed(right):
    given = corpus(["0", "1"])
    with pytest.raises(
        UserError, match="decisions do not tell what belongs together: say it with --label-map"
    ):
        match_labels(given, ("ham", "spam"), decide=deciding(given, [0, 1], right))
    found, (note,) = match_labels(given, ("LABEL_1", "LABEL_0"), decide=deciding(given, [0, 1], right))
    assert found.labels.tolist() == (1 - given.labels).tolist()  # by its number, where nothing else tells
    assert "0=LABEL_0,1=LABEL_1" in note


def test_a_model_that_always_says_the_same_is_not_believed():
    given = corpus(["0", "1"], shares=[0.95, 0.05])
    with pytest.raises(UserError, match="do not tell"):
        match_labels(given, ("ham", "spam"), decide=lambda texts: np.zeros(len(texts), np.int64))


def test_what_is_said_is_taken():
    given = corpus(["0", "1"])
    said = read_label_map(" 0 = Spam, 1=ham ")
    found, notes = match_labels(given, ("ham", "spam"), label_map=said, decide=deciding(given, [0, 1], 1.0))
    assert notes == ()
    assert found.labels.tolist() == (1 - given.labels).tolist()


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("0=ham", "must name every label, but 1 is missing"),
        ("0=ham,2=spam", "has no label '2'"),
        ("0=ham,1=spma", "no class 'spma', which the label map names; the nearest is 'spam'"),
        ("0=ham,0=spam", "names each label once"),
        ("0:ham", "is written LABEL=CLASS"),
        ("", "is written LABEL=CLASS"),
    ],
)
def test_a_wrong_map_is_refused(said, sentence):
    with pytest.raises(UserError, match=sentence):
        match_labels(corpus(["0", "1"]), ("ham", "spam"), label_map=read_label_map(said))


def test_more_labels_than_classes_and_nobody_to_ask_are_refused():
    with pytest.raises(UserError, match="cannot be told: say it with --label-map, such as a=x,b=y"):
        match_labels(corpus("abc"), ("x", "y"), decide=lambda texts: [0] * len(texts))
    with pytest.raises(UserError, match="cannot be told"):
        match_labels(corpus("ab"), ("x", "y"))
