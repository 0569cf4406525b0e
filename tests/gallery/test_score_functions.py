"""Six score functions: only the scaled dot product keeps its softmax soft at every width."""

import pytest
import torch
from matplotlib.figure import Figure

from heedful.attention import SCORES
from heedful.gallery.learning import parameters_of
from heedful.gallery.score_functions import (
    BASELINE,
    ENTRY,
    FIGURE,
    ITEMS,
    KEYS,
    LINES,
    VALUES,
    Budget,
    Questions,
    Retriever,
    draw_questions,
    greatest_weight,
    right,
    train_cell,
)
from heedful.gallery.seeded import seeded

every = pytest.mark.parametrize("score", SCORES)


def questions(count=7, seed=0):
    with seeded(seed):
        return draw_questions(count)


def built(score, width=5):
    with seeded(1):
        return Retriever(score, width)


def test_the_answer_is_the_value_of_the_key_that_is_asked_for():
    drawn = questions(50)
    for row in range(50):
        keys = drawn.keys[row].tolist()
        assert len(set(keys)) == ITEMS
        assert drawn.values[row, keys.index(int(drawn.asked[row]))] == drawn.answers[row]
    assert int(drawn.keys.max()) < KEYS
    assert int(drawn.values.max()) < VALUES


def test_every_place_is_asked_for():
    drawn = questions(500)
    assert set((drawn.keys == drawn.asked[:, None]).int().argmax(-1).tolist()) == set(range(ITEMS))


@every
def test_every_score_answers_and_says_where_it_read(score):
    model, drawn = built(score), questions()
    assert model(drawn).shape == (7, VALUES)
    weights = model.attend(drawn).weights
    torch.testing.assert_close(weights.sum(-1), torch.ones(7))


@every
def test_every_score_but_location_follows_its_keys_wherever_they_stand(score):
    model, drawn = built(score), questions()
    turned = Questions(drawn.keys.flip(1), drawn.values.flip(1), drawn.asked, drawn.answers)
    moves = not torch.allclose(model(turned), model(drawn), atol=1e-5)
    assert moves == (score == "location")


def test_the_figure_and_its_baseline_learn_the_same_numbers():
    assert parameters_of(built(FIGURE)) == parameters_of(built(BASELINE))


def test_without_scaling_a_wider_model_begins_with_its_mind_made_up():
    drawn = questions(500)
    narrow, wide = (greatest_weight(built("dot", width), drawn) for width in (3, 257))
    assert narrow < 0.6 < 0.9 < wide
    assert greatest_weight(built("scaled-dot", 257), drawn) < 0.4


def test_a_model_that_knows_the_task_is_always_right():
    model, drawn = built("dot", KEYS), questions(300)
    with torch.no_grad():
        model.keys.weight.copy_(torch.eye(KEYS))
        model.queries.weight.copy_(100 * torch.eye(KEYS))
        model.values.weight.copy_(torch.eye(VALUES))
        model.decide.weight.copy_(torch.eye(VALUES))
        model.decide.bias.zero_()
    assert right(model, drawn) == 1
    assert greatest_weight(model, drawn) == pytest.approx(1)


def test_the_rate_that_does_best_on_dev_questions_is_kept():
    def cell(*rates):
        return train_cell("scaled-dot", 16, seed=0, budget=Budget(widths=(16,), rates=rates, steps=60))

    bad, good = cell(1e-6), cell(0.05)
    assert bad.accuracy < 0.2 < good.accuracy - 0.2
    assert cell(1e-6, 0.05) == cell(0.05, 1e-6) == good


def test_every_score_has_a_line():
    assert LINES.keys() == SCORES.keys()


@pytest.mark.slow
def test_scaling_lets_a_wide_model_learn():
    outcome = ENTRY.train(0, "small")
    assert outcome.figure > outcome.baseline + 0.1
    assert outcome.parameters == outcome.baseline_parameters
    assert len(outcome.table) == 2 * len(SCORES)
    figure = Figure()
    ENTRY.draw(outcome, figure)
    assert [axes.get_title() for axes in figure.axes] == ["after training", "before training"]
    assert len(figure.axes[0].lines) == len(SCORES)
