"""Texts with planted words: what was planted is where it is said to be, and makes the class."""

import numpy as np
import pytest

from heedful.bench.truth.planting import DECIDER, FILLER, NOUNS, STRONG, TRUTHS, WEAK, Task, plant
from heedful.errors import UserError

CLASSES = {"pair": 9, "both": 2, "ordered": 2, "context": 2}


def task_of(truth, **changes):
    return Task(**{"truth": truth, "classes": CLASSES.get(truth, 5), "deciders": 3, "decoys": 2, **changes})


def class_of(task, lexicon, words):
    """The class that the words of a text make, read from the words alone."""
    first = [[word in group for word in words] for group in lexicon.first]
    second = [[word in group for word in words] for group in lexicon.second]
    counts, more = np.sum(first, axis=1), np.sum(second, axis=1) if second else np.zeros(0)
    if task.truth == "pair":
        return len(first) * int(counts.argmax()) + int(more.argmax())
    if task.truth == "both":
        return int(counts[0] > 0 and more[0] > 0)
    if task.truth == "ordered":
        return int(np.argmax(first[0]) > np.argmax(second[0]))
    if task.truth == "context":
        return int(counts.argmax()) ^ int(more[0] > 0)
    return int(counts.argmax())  # of none, the first: the class of texts without any


@pytest.mark.parametrize("truth", TRUTHS)
def test_the_planted_words_make_the_class(truth):
    planted = plant(task_of(truth), 60, seed=3)
    assert len(set(planted.classes)) > 1
    for words, label in zip(planted.words, planted.classes, strict=True):
        assert class_of(planted.task, planted.lexicon, words) == label


@pytest.mark.parametrize("truth", TRUTHS)
def test_every_word_has_its_role(truth):
    planted = plant(task_of(truth, strong=0.5), 60, seed=4)
    lexicon = planted.lexicon
    deciding = {word for group in (*lexicon.first, *lexicon.second) for word in group}
    for words, roles, label in zip(planted.words, planted.roles, planted.classes, strict=True):
        assert len(words) == len(roles)
        for word, role in zip(words, roles, strict=True):
            assert (word in lexicon.strong) == (role == STRONG)
            assert (word in lexicon.weak) == (role == WEAK)
            assert role != DECIDER or word in deciding
        assert np.isin(roles, (STRONG, WEAK)).sum() == 2
        if planted.task.default == label:
            assert DECIDER not in roles  # no word decides such a text
        else:
            assert (roles == DECIDER).any()


def test_decoys_are_of_one_kind_in_a_text():
    planted = plant(task_of("one", strong=0.3), 200, seed=5)
    strong, weak = (planted.grid(role, 30).any(1) for role in (STRONG, WEAK))
    assert (strong ^ weak).all()
    assert 0.2 < strong.mean() < 0.4


def test_texts_have_the_length_asked_for_and_are_written_word_by_word():
    planted = plant(task_of("mixed", length=(7, 11)), 50, seed=6)
    assert {len(words) for words in planted.words} == {7, 8, 9, 10, 11}
    assert [text.split() for text in planted.texts] == planted.words
    written = plant(task_of("mixed", length=(17, 17), sentences=True), 5, seed=6).texts
    assert all(text.count(".") == 3 for text in written)


def test_classes_and_labels_are_as_uneven_and_as_noisy_as_asked():
    planted = plant(Task(classes=3, ratio=8.0, noise=0.2), 2000, seed=7)
    assert np.allclose(np.bincount(planted.classes) / 2000, [0.8, 0.1, 0.1], atol=0.03)
    assert abs((planted.labels != planted.classes).mean() - 0.2) < 0.03


def test_one_seed_gives_one_set_of_texts_and_another_sample_others_with_the_same_words():
    one, again, other = (plant(Task(), 20, seed=8, sample=sample) for sample in (0, 0, 1))
    assert one.words == again.words
    assert one.words != other.words
    assert one.lexicon == other.lexicon
    assert one.lexicon != plant(Task(), 20, seed=9).lexicon


def test_some_lessons_have_no_decoys():
    bare = plant(Task(), 300, seed=10, bare=0.3).grid(STRONG, 30).any(1)
    assert 0.6 < bare.mean() < 0.8


def test_nouns_are_planted_where_a_pretrained_model_should_know_them():
    planted = plant(Task(nouns=True), 20, seed=11)
    assert set(planted.lexicon.words) <= set(NOUNS)
    assert not {
        word
        for words, roles in zip(planted.words, planted.roles, strict=True)
        for word, role in zip(words, roles, strict=True)
        if role == FILLER
    } & set(NOUNS)
    with pytest.raises(UserError, match="only 50 nouns"):
        plant(Task(nouns=True, classes=20), 2, seed=0)


def test_impossible_tasks_are_refused():
    with pytest.raises(UserError, match="square"):
        Task(truth="pair", classes=5)
    with pytest.raises(UserError, match="two classes"):
        Task(truth="ordered", classes=3)
    with pytest.raises(UserError, match="cannot hold"):
        Task(truth="redundant", deciders=12, length=(9, 20))


@pytest.mark.corpora
@pytest.mark.parametrize("corpus", ["sst", "agnews", "20news-1"])
def test_fillers_come_from_the_corpus(corpus):
    planted = plant(Task(corpus=corpus), 30, seed=12)
    fillers = {
        w
        for words, roles in zip(planted.words, planted.roles, strict=True)
        for w, role in zip(words, roles, strict=True)
        if role == FILLER
    }
    assert {"the", "of"} <= fillers
