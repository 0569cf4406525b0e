"""Flip sizes: the closed form, compiled and not, and the batched forwards agree with the plain loop."""

import sys
from dataclasses import replace

import pytest
import torch
from erasure_traces import (
    exact_trace,
    exact_winner,
    linear,
    random_trace,
    some_order,
    stacked,
    step_by_step,
    through_the_head,
)
from torch import nn

from heedful.errors import UserError
from heedful.models.trace import Trace
from heedful.trials import compiled, flip_sizes, near_ties, smallest_flips
from heedful.trials.erasure.flips import compiled_flips, stepwise_flips, suffix_flips
from heedful.trials.erasure.linear_votes import token_logits


@pytest.fixture
def always_compiled(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(compiled, "LEAST", 0)


def by_hand(weights, token_logits, bias, **more):
    """A trace whose values are its token logits."""
    values = torch.tensor(token_logits, dtype=torch.float64)
    weights = torch.tensor(weights, dtype=torch.float64)
    mask = weights > 0 if "mask" not in more else more.pop("mask")
    return Trace(
        weights, values, mask, linear(torch.eye(len(bias)).double(), torch.tensor(bias).double()), **more
    )


def test_the_number_of_erased_items_can_be_counted_by_hand():
    # Two tokens speak for class 0, one for class 1, most attention on the second.
    trace = by_hand([[0.25, 0.5, 0.25]], [[[2, 0], [2, 0], [0, 1]]], [0, 0])
    assert flip_sizes(trace, torch.tensor([[1, 0, 2]])).tolist() == [2]
    assert flip_sizes(trace, torch.tensor([[0, 2, 1]])).tolist() == [
        -1
    ]  # in the end the zero vector: a tie, class 0
    assert flip_sizes(trace, torch.tensor([[2, 1, 0]])).tolist() == [-1]


def test_erasing_everything_counts_by_the_zero_vector():
    trace = by_hand([[0.5, 0.5]], [[[3, 0], [3, 0]]], [0, 1])
    assert flip_sizes(trace, torch.tensor([[0, 1]])).tolist() == [2]


def test_what_is_left_without_any_weight_is_the_zero_vector_too():
    trace = by_hand([[1.0, 0.0]], [[[3, 0], [3, 0]]], [0, 1], mask=torch.tensor([[True, True]]))
    assert flip_sizes(trace, torch.tensor([[0, 1]])).tolist() == [1]
    assert flip_sizes(trace, torch.tensor([[1, 0]])).tolist() == [2]


def test_a_tie_goes_to_the_first_class():
    # Without the first token both classes are equal: a flip if the decided class is the second of them.
    second = by_hand([[0.5, 0.5]], [[[0, 2], [1, 1]]], [0, 0])
    first = by_hand([[0.5, 0.5]], [[[2, 0], [1, 1]]], [0, 0])
    assert flip_sizes(second, torch.tensor([[0, 1]])).tolist() == [1]
    assert flip_sizes(first, torch.tensor([[0, 1]])).tolist() == [-1]


def test_one_score_of_0_is_the_negative_class():
    def scored(*scores):
        values = torch.tensor(scores).double()[None, :, None]
        weights = torch.full((1, len(scores)), 1 / len(scores), dtype=torch.float64)
        return Trace(
            weights, values, torch.ones_like(weights, dtype=torch.bool), linear(torch.ones(1, 1).double())
        )

    assert flip_sizes(scored(2.0, 0.0), torch.tensor([[0, 1]])).tolist() == [1]  # 0 left: negative
    assert flip_sizes(scored(-2.0, 0.0), torch.tensor([[0, 1]])).tolist() == [-1]  # 0 left: still negative
    assert flip_sizes(scored(-2.0, 1.0), torch.tensor([[0, 1]])).tolist() == [1]


@pytest.mark.parametrize("items", ["slots", "words", "kept"])
@pytest.mark.parametrize("classes", [1, 2, 3, 7])
def test_every_way_gives_the_flip_sizes_of_the_plain_loop(items, classes, always_compiled):
    for seed in range(3):
        trace = random_trace(classes=classes, items=items, seed=seed)
        order = some_order(trace, seed)
        expected = step_by_step(trace, order)
        assert stepwise_flips(trace, order).tolist() == expected
        assert stepwise_flips(trace, order, budget=3000).tolist() == expected  # many chunks
        assert flip_sizes(through_the_head(trace), order).tolist() == expected
        assert suffix_flips(trace, order).tolist() == expected
        assert flip_sizes(trace, order).tolist() == expected
        if items == "slots":
            assert compiled_flips(trace, order).tolist() == expected


@pytest.mark.parametrize("items", ["slots", "words", "kept"])
@pytest.mark.parametrize("classes", [1, 2, 3, 7])
def test_ties_are_decided_as_in_whole_numbers(items, classes, always_compiled):
    ties = 0
    for seed in range(5):
        trace = exact_trace(classes=classes, items=items, seed=seed)
        order = some_order(trace, seed)
        expected = []
        for row, count in enumerate(trace.item_counts.tolist()):
            before = exact_winner(trace, row, set())
            gone = [set(order[row, :size].tolist()) for size in range(1, count + 1)]
            expected.append(next((len(g) for g in gone if exact_winner(trace, row, g) != before), -1))
        assert suffix_flips(trace, order).tolist() == expected
        assert flip_sizes(trace, order).tolist() == expected
        if items == "slots":
            assert compiled_flips(trace, order).tolist() == expected
        ties += int(near_ties(trace, order, relative=0.0).sum())
    assert ties > 0


def test_several_rows_and_a_head_that_is_not_linear_give_the_flip_sizes_of_the_plain_loop():
    trace = stacked(random_trace(items="words"))
    order = some_order(trace)
    sizes = step_by_step(trace, order)
    assert flip_sizes(trace, order).tolist() == sizes
    assert flip_sizes(trace, order, budget=1).tolist() == sizes
    assert len(set(sizes)) > 3


def test_a_head_with_state_is_given_it():
    trace = random_trace(classes=3)
    state = torch.randn(len(trace), 5, generator=torch.Generator().manual_seed(1)).double()
    residual = Trace(trace.weights, trace.values, trace.mask, lambda x, s: trace.head(x + s), state=state)
    order = some_order(trace)
    assert flip_sizes(residual, order).tolist() == step_by_step(residual, order)


def test_an_instance_alone_gives_what_it_gives_in_company_and_padding_changes_nothing(always_compiled):
    trace = random_trace(classes=5)
    order = some_order(trace)
    sizes = flip_sizes(trace, order)
    alone = [flip_sizes(trace.take(torch.tensor([b])), order[b : b + 1]).item() for b in range(len(trace))]
    assert alone == sizes.tolist()
    pad = nn.functional.pad
    wide = Trace(
        pad(trace.weights, (0, 4)),
        pad(trace.values, (0, 0, 0, 4), value=9.0),
        pad(trace.mask, (0, 4)),
        trace.head,
    )
    assert flip_sizes(wide, pad(order, (0, 4), value=-7)).tolist() == sizes.tolist()


def test_entries_behind_the_items_are_not_read(always_compiled):
    trace = random_trace()
    order = some_order(trace)
    behind = torch.arange(order.shape[1]) >= trace.item_counts[:, None]
    for junk in (-5, 0, 10**6):
        spoilt = order.masked_fill(behind, junk)
        for way in (flip_sizes, suffix_flips, stepwise_flips):
            assert way(trace, spoilt).tolist() == way(trace, order).tolist()


@pytest.mark.parametrize("way", [flip_sizes, suffix_flips, stepwise_flips])
def test_an_order_that_is_none_is_refused_naming_the_row(way, always_compiled):
    trace = random_trace(longest=7)
    order = some_order(trace)
    row = int((trace.item_counts > 2).nonzero()[1])
    for wrong in (99, -1, int(order[row, 0])):
        bad = order.clone()
        bad[row, 1] = wrong
        with pytest.raises(UserError, match=f"Row {row} of the order"):
            way(trace, bad)
    for shape in (order[:, :1], order[:-1], order.double(), order[0]):
        with pytest.raises(UserError, match=r"order"):
            way(trace, shape)


def test_a_trace_without_any_item_that_could_be_erased_never_flips(always_compiled):
    trace = random_trace(instances=5)
    fixed = replace(trace, items=torch.full_like(trace.items, -1))
    order = torch.zeros(5, 0, dtype=torch.long)
    for way in (flip_sizes, suffix_flips, stepwise_flips):
        assert way(fixed, order).tolist() == [-1] * 5
    assert smallest_flips(fixed).sizes.tolist() == [-1] * 5


def test_a_head_with_dropout_switched_on_is_refused():
    trace = random_trace(dtype=torch.float32)
    noisy = Trace(trace.weights, trace.values, trace.mask, nn.Sequential(nn.Dropout(0.5), trace.head))
    with pytest.raises(UserError, match=r"head\.eval"):
        flip_sizes(noisy, some_order(trace))
    noisy.head.eval()
    assert flip_sizes(noisy, some_order(trace)).tolist() == flip_sizes(trace, some_order(trace)).tolist()


def test_the_compiled_loops_and_the_arrays_agree_to_the_last_bit_in_single_precision(always_compiled):
    for classes in (1, 2, 10):
        trace = random_trace(instances=101, longest=61, classes=classes, dtype=torch.float32, seed=classes)
        order = some_order(trace)
        assert compiled_flips(trace, order).tolist() == suffix_flips(trace, order).tolist()


def test_without_numba_the_arrays_do_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "heedful.trials.erasure.kernel", raising=False)
    monkeypatch.setattr(compiled, "LEAST", 0)
    compiled.imported.cache_clear()
    try:
        trace = random_trace()
        assert compiled_flips(trace, some_order(trace)) is None
        assert flip_sizes(trace, some_order(trace)).tolist() == step_by_step(trace, some_order(trace))
    finally:
        compiled.imported.cache_clear()


def test_a_near_tie_is_named_and_a_clear_decision_is_not():
    close = by_hand([[0.5, 0.25, 0.25]], [[[8, 0], [1, 1 - 1e-12], [1, 0]]], [0, 0])
    clear = by_hand([[0.5, 0.25, 0.25]], [[[8, 0], [1, 0.5], [1, 0]]], [0, 0])
    order = torch.tensor([[0, 2, 1]])
    assert near_ties(close, order, relative=1e-9).tolist() == [True]
    assert near_ties(clear, order, relative=1e-9).tolist() == [False]
    # Before anything is gone, too: two classes of equal votes, one of which leads from then on.
    whole = by_hand([[0.5, 0.5]], [[[2, 3], [3, 2]]], [1, 0])
    tied = by_hand([[0.5, 0.5]], [[[2, 3], [3, 2]]], [0, 0])
    assert near_ties(tied, torch.tensor([[0, 1]]), relative=1e-9).tolist() == [True]
    assert near_ties(whole, torch.tensor([[0, 1]]), relative=1e-9).tolist() == [False]


@pytest.mark.slow
def test_single_precision_gives_the_flip_sizes_of_double_precision_on_long_texts_but_for_named_near_ties():
    differing, total = 0, 0
    for seed in range(4):
        double = random_trace(instances=300, longest=4000, width=11, classes=7, bias=0.05, seed=seed)
        single = Trace(
            double.weights.float(), double.values.float(), double.mask, linear(double.head.weight.float())
        )
        single.head.bias = nn.Parameter(double.head.bias.float())
        # Heads are rounded too: the double trace takes the rounded numbers, so only the arithmetic differs.
        same = Trace(
            single.weights.double(),
            single.values.double(),
            single.mask,
            linear(single.head.weight.double(), single.head.bias.double()),
        )
        order = same.weights.argsort(1, descending=True)
        apart = flip_sizes(single, order) != flip_sizes(same, order)
        assert bool((near_ties(single, order) | ~apart).all()), "a difference that is no near-tie"
        differing, total = differing + int(apart.sum()), total + len(apart)
    assert differing <= total / 1000


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("width", "classes"), [(1, 1), (5, 3), (101, 11)])
def test_the_compiled_product_of_values_and_head_is_torchs(dtype, width, classes, always_compiled):
    # It asks for memory beyond what it reads, also behind the last text: that must change nothing.
    trace = random_trace(instances=7, longest=13, width=width, classes=classes, dtype=dtype)
    expected = (trace.values @ trace.head.weight.T).detach() * trace.mask[..., None]
    found = token_logits(trace)
    assert torch.allclose(found[..., -classes:], expected, rtol=0, atol=100 * torch.finfo(dtype).eps)
    assert torch.equal(found[~trace.mask], torch.zeros_like(found[~trace.mask]))


def test_an_order_may_be_an_array_or_lists():
    trace = random_trace()
    order = some_order(trace)
    sizes, ties = flip_sizes(trace, order), near_ties(trace, order)
    for given in (order.numpy(), order.tolist()):
        assert flip_sizes(trace, given).tolist() == sizes.tolist()
        assert near_ties(trace, given).tolist() == ties.tolist()
    with pytest.raises(UserError, match=r"The order of items must be given as a tensor.*a str came"):
        flip_sizes(trace, "attention")


def test_near_ties_are_refused_for_a_head_that_is_not_linear():
    trace = random_trace()
    with pytest.raises(UserError, match="Near-ties need a linear head"):
        near_ties(through_the_head(trace), some_order(trace))
