"""Several heads: a task that one head, if it looks at places, provably cannot do."""

import pytest
import torch
from matplotlib.figure import Figure

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


def test_no_blend_of_two_values_tells_both_whatever_the_linear_decision():
    """The proof in the module's docstring, tried on random decisions: one of three orders always fails."""
    draw = torch.Generator().manual_seed(0)
    for weight in (0.3, 0.45):  # of the symbol to be named
        speaks = torch.randn(1000, 3, 3, generator=draw, dtype=torch.float64)  # M(k, a)
        works = torch.ones(1000, dtype=torch.bool)
        for other in range(3):
            for named in set(range(3)) - {other}:
                blend = (1 - weight) * speaks[:, :, other] + weight * speaks[:, :, named]
                works &= blend.argmax(-1) == named
        assert not works.any()


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
