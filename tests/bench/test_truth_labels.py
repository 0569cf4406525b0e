"""Whether attention is right, told from the planted words before anything is audited."""

import numpy as np
import pytest
import torch

from heedful.bench.truth.built import Build, build
from heedful.bench.truth.labels import PART, RIGHT, WRONG, Use, aim_of, label_of, use_of
from heedful.bench.truth.looks import Look, shares
from heedful.bench.truth.planting import DECIDER, FILLER, Planted, Task, plant


def every(planted, *, only=None):
    """The planted words of these texts, all taken for deciding."""
    words = planted.grid(DECIDER, max(map(len, planted.roles)))
    return words if only is None else words & np.asarray(only)[:, None]


def planted_like(roles, classes):
    words = [[f"w{i}" for i in range(len(row))] for row in roles]
    labels = np.array(classes)
    lexicon = plant(Task(), 1, seed=0).lexicon
    return Planted(Task(), lexicon, words, [np.array(row) for row in roles], labels, labels)


def test_paint_below_a_fifth_of_the_strongest_is_not_seen():
    planted = planted_like([[DECIDER, FILLER, FILLER], [FILLER, DECIDER, DECIDER, FILLER]], [0, 1])
    maps = np.array([[0.7, 0.1, 0.2, 0.0], [0.5, 0.25, 0.15, 0.1]])
    aim = aim_of(maps, planted, every(planted))
    # First text: 0.7 of 0.9 (0.1 is not painted, 0.2 is). Second: 0.4 of 0.9 (0.1 is a fifth: not above).
    assert aim.painted == pytest.approx((0.7 / 0.9 + 0.4 / 0.9) / 2)
    assert aim.first == 0.5
    assert aim.k == pytest.approx((1 + 1 / 2) / 2)
    assert aim.label == PART


def test_texts_that_no_word_decides_do_not_count():
    planted = planted_like([[DECIDER, FILLER], [FILLER, DECIDER]], [0, 1])
    maps = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert aim_of(maps, planted, every(planted)).label == PART
    assert aim_of(maps, planted, every(planted, only=[True, False])).label == RIGHT


def test_the_cuts_between_labels():
    assert label_of(0.8, 0.9) == RIGHT
    assert label_of(0.79, 1.0) == label_of(1.0, 0.89) == label_of(0.31, 0.3) == PART
    assert label_of(0.3, 1.0) == label_of(1.0, 0.29) == WRONG


def test_ties_for_the_strongest_word_are_broken_by_chance():
    planted = planted_like([[DECIDER, FILLER, FILLER]] * 600, [0] * 600)
    aim = aim_of(np.full((600, 3), 1 / 3), planted, every(planted))
    assert 0.27 < aim.first < 0.4


def test_padding_is_never_the_strongest_word():
    planted = planted_like([[DECIDER], [FILLER, DECIDER]], [0, 1])
    assert aim_of(np.zeros((2, 2)), planted, every(planted, only=[True, False])).first == 1


def test_a_model_with_a_class_attended_wrongly_is_never_right():
    roles = [[DECIDER, FILLER]] * 95 + [[FILLER, DECIDER]] * 11
    planted = planted_like(roles, [0] * 95 + [1] * 11)
    maps = np.tile([1.0, 0.0], (106, 1))
    assert aim_of(maps, planted, every(planted)).label == PART
    few = np.arange(106) < 104  # nine texts of a class say nothing about it
    assert aim_of(maps, planted, every(planted, only=few)).label == RIGHT


def test_a_use_is_confirmed_if_the_planted_words_decide_and_nothing_else():
    good = Use(accuracy=1.0, without=0.25, undecoyed=1.0, chance=0.25)
    assert good.confirmed
    assert not Use(accuracy=0.84, without=0.25, undecoyed=1.0, chance=0.25).confirmed
    assert not Use(accuracy=1.0, without=0.41, undecoyed=1.0, chance=0.25).confirmed
    assert not Use(accuracy=1.0, without=0.25, undecoyed=0.85, chance=0.25).confirmed


def test_a_class_that_is_taken_for_granted_has_no_deciding_words():
    """Planted for both classes, but the model knows the words of one alone and decides the other without."""
    planted = plant(Task(length=(8, 9)), 80, seed=3)
    model = build(Build("dot", looks=(shares(planted.task, deciders=0.9),)), planted, seed=3)
    use, deciding = use_of(model, planted)
    assert use.confirmed
    np.testing.assert_array_equal(deciding, planted.grid(DECIDER, deciding.shape[1]))
    with torch.no_grad():
        model.head.weight[0] = 0
        model.head.bias[0] = 3.0
        model.head.weight[1] *= 2
    use, deciding = use_of(model, planted)
    assert use.accuracy == 1.0
    np.testing.assert_array_equal(deciding.any(1), planted.classes == 1)


def test_a_model_that_goes_by_its_decoys_is_not_confirmed():
    planted = plant(Task(), 300, seed=4)
    model = build(Build("dot", looks=(Look(decider=2),)), planted, seed=4)
    assert use_of(model, planted)[0].confirmed
    with torch.no_grad():
        decoys = torch.from_numpy(model.vocabulary.ids(planted.lexicon.strong)).long()
        model.embedding.weight[decoys, 2] += 400
    assert not use_of(model, planted)[0].confirmed


def test_of_words_needed_together_those_decide_without_which_the_class_is_lost():
    """Planted as pairs; a model that knows the rows alone, and is sure of a column, needs one of the two."""
    planted = plant(Task(truth="pair", classes=4, length=(8, 9)), 120, seed=5)
    model = build(Build("dot", looks=(shares(planted.task, deciders=0.9),)), planted, seed=5)
    _, deciding = use_of(model, planted)
    assert (deciding.sum(1) == 2).all()
    with torch.no_grad():
        columns = torch.from_numpy(
            model.vocabulary.ids([w for g in planted.lexicon.second for w in g])
        ).long()
        model.embedding.weight[columns, 2:] = 0
        model.head.bias[torch.tensor([0, 2])] = 8.0  # always the first column
    _, deciding = use_of(model, planted)
    assert (deciding.sum(1) == 1).all()
    rows = {w for group in planted.lexicon.first for w in group}
    assert all(words[place.argmax()] in rows for words, place in zip(planted.words, deciding, strict=True))
