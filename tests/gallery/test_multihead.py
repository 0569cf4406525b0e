"""Several heads: a task that one head, if it looks at places, provably cannot do."""

from itertools import permutations

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.optimize import linprog

from heedful.gallery.learning import parameters_of
from heedful.gallery.multihead import (
    ENTRY,
    FAR,
    FIGURE,
    HEADS,
    NEAR,
    PLACES,
    SYMBOLS,
    Copier,
    draw_sequences,
    learn_to_copy,
)
from heedful.gallery.seeded import seeded


def test_each_place_asks_for_the_two_symbols_before_it():
    with seeded(0):
        symbols, answers = draw_sequences(7)
    assert symbols.shape == (7, PLACES)
    assert answers.shape == (7, PLACES, 2)
    for place in range(PLACES):
        assert answers[3, place].tolist() == [symbols[3, place - NEAR], symbols[3, place - FAR]]


def test_models_have_the_same_parameters_whatever_their_heads():
    assert len({parameters_of(Copier(heads)) for heads in HEADS}) == 1


def test_a_model_decides_both_answers_at_every_place():
    with seeded(0):
        symbols, _ = draw_sequences(7)
        model = Copier(FIGURE)
    assert model(symbols).shape == (7, PLACES, 2, SYMBOLS)
    assert model.attend(symbols).weights.shape == (7, FIGURE, PLACES, PLACES)


@pytest.mark.parametrize(("weight", "can"), [(0.3, False), (0.45, False), (0.55, True), (0.7, True)])
def test_a_linear_decision_names_a_symbol_of_a_blend_only_if_it_has_more_weight(weight, can):
    """The proof in the module's docstring as a linear programme: is there any M(k, a), 3 symbols?

    With a margin of 1, which is no limit, because M may be as large as it likes.
    """
    margins = []  # rows r with r · M ≥ 1: the named symbol against each of the others, in every pair
    for other, named in permutations(range(3), 2):
        for rival in set(range(3)) - {named}:
            row = np.zeros((3, 3))  # (k, a)
            row[named, [other, named]] += [1 - weight, weight]
            row[rival, [other, named]] -= [1 - weight, weight]
            margins.append(row.ravel())
    found = linprog(np.zeros(9), A_ub=-np.array(margins), b_ub=-np.ones(len(margins)), bounds=(None, None))
    assert found.status == (0 if can else 2)  # solved, or infeasible; never a limit or a numerical failure


def test_training_is_decided_by_the_seed():
    one, two, other = (learn_to_copy(2, seed=seed, steps=3).decide.weight for seed in (1, 1, 2))
    assert one.equal(two)
    assert not one.equal(other)


@pytest.mark.slow
def test_several_heads_copy_what_one_cannot():
    outcome = ENTRY.train(0, "small")
    assert outcome.figure > outcome.baseline + 0.5
    assert outcome.baseline < 0.3
    figure = Figure()
    ENTRY.draw(outcome, figure)
    assert [axes.get_title() for axes in figure.axes[:3]] == ["head 1 of 2", "head 2 of 2", "the only head"]
