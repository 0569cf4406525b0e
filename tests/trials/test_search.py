"""Searches find sets that do what they say, never smaller than the exact ones, and call them bounds."""

import pytest
import torch
from erasure_traces import linear, random_trace, stacked, through_the_head

from heedful.errors import UserError
from heedful.models.trace import Trace, decisions
from heedful.trials import (
    beam_flips,
    flip_sizes,
    js_divergence,
    order_of,
    small_shifts,
    smallest_flips,
    total_variation,
)


def taken(found, trace):
    erased = torch.zeros_like(trace.present)
    for row, items in enumerate(found.items):
        erased[row, items] = True
    return erased


@pytest.mark.parametrize("make", [through_the_head, stacked])
def test_a_beam_finds_sets_that_flip(make):
    trace = make(random_trace(instances=19, longest=9, items="words"))
    found = beam_flips(trace, width=4)
    assert found.kind == "upper bound"
    erased = taken(found, trace)
    after = decisions(trace.logits(trace.erase(erased)))
    flipped = found.sizes > 0
    assert erased.sum(1)[flipped].tolist() == found.sizes[flipped].tolist()
    assert after[flipped].tolist() == found.to_class[flipped].tolist()
    assert bool((after[flipped] != decisions(trace.logits())[flipped]).all())
    assert found.to_class[~flipped].tolist() == [-1] * int((~flipped).sum())
    for name in ("attention", "gradient"):
        sizes = flip_sizes(trace, order_of(name, trace))
        assert bool(((sizes < 0) | ((found.sizes > 0) & (found.sizes <= sizes))).all())


def test_a_beam_is_never_below_the_exact_minimum_and_a_wide_one_reaches_it():
    trace = random_trace(instances=23, longest=7, classes=4)
    exact = smallest_flips(trace).sizes
    narrow = beam_flips(through_the_head(trace), width=1, rankings=("attention",)).sizes
    wide = beam_flips(through_the_head(trace), width=64).sizes
    assert bool(((narrow < 0) | (narrow >= exact)).all())
    assert wide.tolist() == exact.tolist()


def test_the_beam_itself_finds_sets_without_any_ranking():
    trace = random_trace(instances=23, longest=7, classes=4)
    alone = beam_flips(through_the_head(trace), width=64, rankings=())
    assert alone.sizes.tolist() == smallest_flips(trace).sizes.tolist()
    assert bool((beam_flips(through_the_head(trace), width=2, depth=1, rankings=()).sizes <= 1).all())


def test_a_narrow_beam_keeps_the_promising_sets():
    trace = random_trace(instances=41, longest=17, classes=3)
    exact = smallest_flips(trace).sizes
    narrow = beam_flips(through_the_head(trace), width=2, depth=5, rankings=()).sizes
    within = (exact > 1) & (exact <= 5)
    assert int(within.sum()) > 9
    assert (narrow[within] == exact[within]).double().mean() > 0.8


@pytest.mark.parametrize(
    ("measure", "distance", "threshold"), [("js", js_divergence, 0.2), ("tvd", total_variation, 0.6)]
)
@pytest.mark.parametrize("make", [lambda trace: trace, through_the_head])
def test_a_shift_moves_the_output_as_far_as_asked(measure, distance, threshold, make):
    trace = make(random_trace(instances=19, longest=7))
    found = small_shifts(trace, threshold, measure=measure)
    assert found.kind == "upper bound"
    moved = distance(trace.logits().softmax(-1), trace.logits(trace.erase(taken(found, trace))).softmax(-1))
    reached = found.sizes > 0
    assert 0 < int(reached.sum()) < len(trace)
    assert torch.allclose(moved[reached], found.moved[reached])
    assert bool((found.moved[reached] >= threshold).all())
    assert bool((found.moved[~reached] < threshold).all())
    assert found.sizes[reached].tolist() == [len(items) for items in found.items if len(items)]


def test_a_shift_by_one_item_is_found_where_there_is_one():
    # The second token alone moves the output far; attention is on the first.
    values = torch.tensor([[[0.1, 0.0], [9.0, 0.0], [0.0, 0.1]]])
    weights = torch.tensor([[0.5, 0.3, 0.2]])
    trace = Trace(weights, values, weights > 0, linear(torch.eye(2)))
    found = small_shifts(trace, 0.3, measure="tvd")
    assert (found.sizes.tolist(), found.items[0].tolist()) == ([1], [1])


def test_wrong_settings_are_refused():
    trace = random_trace(instances=2)
    with pytest.raises(UserError, match="threshold above 0"):
        small_shifts(trace, 0.0)
    with pytest.raises(UserError, match="no measure 'kl'"):
        small_shifts(trace, 0.1, measure="kl")
    with pytest.raises(UserError, match="width"):
        beam_flips(trace, width=0)
