"""Rankings: closed forms against autograd, ties by chance, padding and batches change nothing."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import torch
from erasure_traces import linear, random_trace, stacked, through_the_head
from torch import nn

from heedful.errors import UserError
from heedful.models.trace import Trace
from heedful.trials import RANKINGS, order_of, rankings_for, scores_of, shuffle_weights
from heedful.trials.rankings.chance import chance
from heedful.trials.rankings.layer_rankings import (
    attention,
    contribution,
    gradient,
    magnitude,
    product,
    random,
    shuffled,
    signed,
)


@pytest.mark.parametrize("classes", [1, 2, 5])
@pytest.mark.parametrize("items", ["slots", "words", "kept"])
def test_the_gradient_in_closed_form_is_that_of_autograd(classes, items):
    trace = random_trace(classes=classes, items=items)
    for ranking in (gradient, product, signed):
        by_autograd = ranking(through_the_head(trace))
        assert torch.allclose(
            ranking(trace).where(trace.present, 0), by_autograd.where(trace.present, 0), atol=1e-12
        )


def test_the_gradient_is_the_slope_of_the_largest_probability():
    trace = random_trace(instances=7, classes=3)
    step = 1e-6
    for row, item in ((0, 0), (3, 0), (5, 0)):
        nudged = trace.weights.clone()
        nudged[row, item] += step
        rise = trace.logits(nudged).softmax(-1).max(-1).values - trace.logits().softmax(-1).max(-1).values
        assert gradient(trace)[row, item].item() == pytest.approx(rise[row].item() / step, abs=1e-5)


def test_the_product_of_an_item_of_several_slots_is_its_attention_times_its_gradient():
    trace = random_trace(items="words")
    assert torch.allclose(product(trace), attention(trace) * gradient(trace))
    assert torch.equal(signed(trace), attention(trace) * gradient(trace).sign())


def test_a_contribution_is_the_shapley_value_of_the_margin():
    trace = random_trace(instances=5, longest=4, classes=3)
    logits = trace.logits()
    first, second = logits.argsort(1, descending=True)[:, :2].T
    for row in range(len(trace)):
        n = int(trace.item_counts[row])
        each = trace.weights[row, :n, None] * (trace.values[row, :n] @ trace.head.weight.T + trace.head.bias)
        margin = (each[:, first[row]] - each[:, second[row]]).tolist()
        value = [0.0] * n
        for order in permutations(range(n)):  # by the definition: the mean marginal gain over all orders
            for place, item in enumerate(order):
                value[item] += sum(margin[i] for i in order[: place + 1]) - sum(
                    margin[i] for i in order[:place]
                )
        shapley = torch.tensor(value) / max(1, len(list(permutations(range(n)))))
        assert torch.allclose(contribution(trace)[row, :n], shapley.double(), atol=1e-6)
        assert torch.equal(magnitude(trace)[row], contribution(trace)[row].abs())


def test_contributions_are_refused_for_a_head_that_is_not_linear():
    trace = stacked(random_trace())
    assert "contribution" not in rankings_for(trace)
    assert set(rankings_for(random_trace())) == set(RANKINGS)
    with pytest.raises(UserError, match="linear head"):
        contribution(trace)


@pytest.mark.parametrize("name", RANKINGS)
def test_every_ranking_names_each_item_once_and_padding_last(name):
    trace = random_trace(items="words")
    order = order_of(name, trace)
    for row, count in enumerate(trace.item_counts.tolist()):
        assert sorted(order[row, :count].tolist()) == trace.present[row].nonzero()[:, 0].tolist()


@pytest.mark.parametrize("name", RANKINGS)
def test_neither_padding_nor_the_batch_changes_a_ranking(name):
    trace = random_trace(classes=2)
    pad = nn.functional.pad
    wide = Trace(
        pad(trace.weights, (0, 3)), pad(trace.values, (0, 0, 0, 3)), pad(trace.mask, (0, 3)), trace.head
    )
    order = order_of(name, trace, seed=5)
    padded = order_of(name, wide, seed=5)
    for row, count in enumerate(trace.item_counts.tolist()):
        alone = order_of(name, trace.take(torch.tensor([row])).numbered(row), seed=5)
        assert alone[0, :count].tolist() == order[row, :count].tolist() == padded[row, :count].tolist()


def test_a_seed_gives_one_random_order_and_another_seed_or_sample_another():
    trace = random_trace()
    assert torch.equal(order_of("random", trace, seed=3), order_of("random", trace, seed=3))
    assert not torch.equal(order_of("random", trace, seed=3), order_of("random", trace, seed=4))
    assert not torch.equal(random(trace, sample=0), random(trace, sample=1))


def test_ties_are_broken_by_chance_and_not_by_place():
    weights = torch.full((2003, 3), 1 / 3, dtype=torch.float64)
    trace = Trace(weights, torch.ones(2003, 3, 2).double(), weights > 0, linear(torch.ones(2, 2).double()))
    first = order_of("attention", trace, seed=1)[:, 0]
    shares = torch.bincount(first, minlength=3) / len(first)
    assert shares.tolist() == pytest.approx([1 / 3] * 3, abs=0.04)
    assert not torch.equal(first, order_of("attention", trace, seed=2)[:, 0])


def test_only_ties_are_left_to_chance():
    trace = random_trace(instances=2, longest=5)
    scores = torch.tensor([[3.0, 1.0, 3.0, -torch.inf, 2.0]]).expand(2, 5)
    order = order_of(
        scores,
        Trace(torch.full((2, 5), 0.2), torch.ones(2, 5, 5), torch.ones(2, 5).bool(), trace.head.float()),
    )
    assert {frozenset(row[:2]) for row in order.tolist()} == {frozenset({0, 2})}
    assert order[:, 2:].tolist() == [[4, 1, 3]] * 2


def test_a_score_of_minus_infinity_still_comes_before_what_is_not_there():
    trace = random_trace(longest=7)
    scores = torch.full(trace.present.shape, -torch.inf)
    order = order_of(scores, trace)
    for row, count in enumerate(trace.item_counts.tolist()):
        assert sorted(order[row, :count].tolist()) == list(range(count))


def test_ones_own_ranking_is_an_array_of_slots_or_of_items_or_a_function():
    trace = random_trace(items="words", instances=7)
    slots = np.random.default_rng(0).random(trace.weights.shape)
    items = scores_of(slots, trace)
    for row in range(7):
        for item in trace.present[row].nonzero()[:, 0].tolist():
            total = slots[row][trace.items[row].numpy() == item].sum()
            assert items[row, item].item() == pytest.approx(total)
    assert torch.equal(order_of(items, trace), order_of(slots, trace))
    assert torch.equal(scores_of(lambda trace, seed: items, trace), items)
    assert scores_of(slots.astype(int), trace).is_floating_point()


def test_a_wrong_ranking_is_refused():
    trace = random_trace()
    with pytest.raises(UserError, match="nearest is 'gradient'"):
        order_of("gradiant", trace)
    with pytest.raises(UserError, match="one score for each slot"):
        order_of(torch.zeros(3, 2), trace)
    bad = torch.zeros(trace.weights.shape)
    bad[4, 0] = torch.nan
    with pytest.raises(UserError, match="Row 4 of the ranking"):
        order_of(bad, trace)
    nothing = replace(trace, items=torch.full_like(trace.items, -1))
    with pytest.raises(UserError, match="no item"):
        order_of("attention", nothing)


@pytest.mark.parametrize(
    "make",
    [random_trace, lambda **kw: random_trace(items="kept", **kw), lambda **kw: stacked(random_trace(**kw))],
)
def test_shuffling_keeps_the_weights_of_each_row_and_what_is_never_erased(make):
    trace = make(instances=31)
    moved = shuffle_weights(trace, seed=2)
    assert torch.equal(moved.weights.sort(-1).values, trace.weights.sort(-1).values)
    stay = trace.items < 0
    assert torch.equal(moved.weights[stay], trace.weights[stay])
    assert not torch.equal(moved.weights, trace.weights)
    assert torch.equal(shuffled(trace, seed=2), attention(moved))


def test_every_place_is_as_likely_for_a_shuffled_weight():
    weights = torch.tensor([[0.5, 0.25, 0.125, 0.125]]).expand(4001, 4)
    trace = Trace(weights, torch.ones(4001, 4, 1), weights > 0, linear(torch.ones(1, 1)))
    place = shuffle_weights(trace).weights.argmax(1)
    assert (torch.bincount(place) / 4001).tolist() == pytest.approx([0.25] * 4, abs=0.03)


def test_attention_over_several_rows_is_a_share_of_all_rows():
    trace = stacked(random_trace(), rows=3)
    assert torch.allclose(attention(trace).sum(1), torch.ones(len(trace)).double())


def test_chance_is_uniform_and_unrelated_between_neighbours():
    drawn = chance(7, (503, 211))
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert np.histogram(drawn, 10, (0, 1))[0] / drawn.size == pytest.approx(0.1, abs=0.005)
    for other in (chance(8, (503, 211)), chance(7, (503, 211), sample=1), chance(7, (503, 211), first=1)):
        assert abs(np.corrcoef(drawn.ravel(), other.ravel())[0, 1]) < 0.015
    assert abs(np.corrcoef(drawn[:, 1:].ravel(), drawn[:, :-1].ravel())[0, 1]) < 0.015
    assert np.array_equal(chance(7, (503, 211), first=1)[:-1], drawn[1:])
    assert np.array_equal(chance(7, (503, 223))[:, :211], drawn)
