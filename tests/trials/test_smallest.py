"""Smallest sets: equal to the enumeration of all subsets, in whole numbers where ties matter."""

from itertools import combinations

import pytest
import torch
from erasure_traces import (
    exact_trace,
    exact_winner,
    linear,
    random_trace,
    some_order,
    stacked,
    through_the_head,
)

from heedful.errors import UserError
from heedful.models.trace import Trace, decisions
from heedful.trials import (
    beam_flips,
    compiled,
    decided,
    flip_sizes,
    logits_without,
    order_of,
    smallest_flips,
    smallest_overtakes,
)


@pytest.fixture(params=["compiled", "arrays"])
def either_way(request, monkeypatch):
    if request.param == "compiled":
        pytest.importorskip("numba")
    monkeypatch.setattr(compiled, "LEAST", 0 if request.param == "compiled" else float("inf"))


def enumerated(items, winner):
    """The least size at which some set of items changes the winner, and all such sets with their winners."""
    before = winner(set())
    for size in range(1, len(items) + 1):
        found = {s: winner(set(s)) for s in combinations(items, size)}
        flips = {s: after for s, after in found.items() if after != before}
        if flips:
            return size, flips
    return -1, {}


def float_winner(trace, row):
    one = trace.take(torch.tensor([row]))

    def winner(gone):
        erased = torch.zeros(1, one.present.shape[1], dtype=torch.bool)
        erased[0, list(gone)] = True
        return int(decisions(one.logits(one.erase(erased))))

    return winner


def check(trace, winner_of):
    """Compare every row with enumeration; return the sizes."""
    found = smallest_flips(trace)
    for row, present in enumerate(trace.present):
        size, flips = enumerated(present.nonzero()[:, 0].tolist(), winner_of(row))
        assert int(found.sizes[row]) == size, (row, size)
        taken = tuple(found.items[row].tolist())
        assert flips.get(taken, -1) == int(found.to_class[row]), (row, taken)
        assert len(taken) == max(size, 0)
    return found.sizes.tolist()


@pytest.mark.parametrize("classes", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("items", ["slots", "words", "kept"])
def test_smallest_flips_equal_enumeration_where_ties_and_weights_of_0_abound(classes, items, either_way):
    sizes = []
    for seed in range(4):
        trace = exact_trace(instances=41, classes=classes, items=items, seed=seed)
        sizes += check(trace, lambda row, trace=trace: lambda gone: exact_winner(trace, row, gone))
    assert -1 in sizes
    assert max(sizes) > 1


@pytest.mark.parametrize("classes", [1, 2, 4, 6])
@pytest.mark.parametrize("items", ["slots", "words"])
def test_smallest_flips_equal_enumeration_through_the_head(classes, items, either_way):
    trace = random_trace(instances=31, longest=7, classes=classes, items=items, seed=classes)
    check(trace, lambda row: float_winner(trace, row))


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3, 4, 5, 6])
def test_smallest_flips_equal_enumeration_up_to_ten_tokens(classes, either_way):
    for seed in range(3):
        trace = exact_trace(instances=47, longest=10, classes=classes, seed=100 + seed)
        check(trace, lambda row, trace=trace: lambda gone: exact_winner(trace, row, gone))


def by_hand(weights, token_logits, bias):
    weights = torch.tensor(weights).double()
    mask = torch.ones_like(weights, dtype=torch.bool)
    head = linear(torch.eye(len(bias)).double(), torch.tensor(bias).double())
    return Trace(weights, torch.tensor(token_logits).double(), mask, head)


def test_a_small_set_for_a_far_rival_beats_a_large_one_for_the_second(either_way):
    # Class 1 comes second and needs two erasures; class 2 is far behind, but one token alone holds it down.
    trace = by_hand([[0.25, 0.25, 0.25, 0.25]], [[[4, 4, -90], [4, 5, 5], [6, 3, 7], [6, 3, 7]]], [0, 0, 0])
    found = smallest_flips(trace)
    assert found.kind == "exact"
    assert (found.sizes.tolist(), found.items[0].tolist(), found.to_class.tolist()) == ([1], [0], [2])
    assert smallest_overtakes(trace, 1).items[0].tolist() == [2, 3]


def test_a_bias_that_already_favours_another_class_is_reached_by_erasing_all_that_has_weight(either_way):
    trace = by_hand([[0.5, 0.0, 0.5]], [[[3, 0], [9, 9], [3, 0]]], [0, 1])
    found = smallest_flips(trace)
    assert found.sizes.tolist() == [2]
    assert found.items[0].tolist() == [0, 2]  # the token without weight need not go
    assert found.to_class.tolist() == [1]


def test_a_single_token_can_only_be_flipped_by_the_zero_vector(either_way):
    assert smallest_flips(by_hand([[1.0]], [[[3, 0]]], [0, 1])).sizes.tolist() == [1]
    never = smallest_flips(by_hand([[1.0]], [[[3, 0]]], [1, 0]))
    assert never.sizes.tolist() == [-1]
    assert never.to_class.tolist() == [-1]
    assert never.items[0].tolist() == []


def test_no_ranking_flips_with_fewer_items_than_the_smallest_set(either_way):
    trace = random_trace(instances=211, longest=19, classes=5, dtype=torch.float32)
    least = smallest_flips(trace).sizes
    for order in (some_order(trace), order_of("attention", trace), order_of("product", trace)):
        sizes = flip_sizes(trace, order)
        assert bool(((sizes < 0) | (sizes >= least)).all())
        assert bool(((sizes < 0) | (least > 0)).all())


def test_the_set_flips_to_the_class_it_says_and_no_item_of_it_could_stay(either_way):
    trace = random_trace(instances=101, longest=17, classes=5)
    found = smallest_flips(trace)
    taken = torch.zeros_like(trace.present)
    for row, items in enumerate(found.items):
        taken[row, items] = True
    after = decisions(logits_without(trace, taken[None])[0])
    flipped = found.sizes > 0
    assert after[flipped].tolist() == found.to_class[flipped].tolist()
    assert bool((after[flipped] != decided(trace)[flipped]).all())
    for row in flipped.nonzero()[:7, 0].tolist():
        for item in found.items[row].tolist():
            fewer = taken.clone()
            fewer[row, item] = False
            assert decisions(logits_without(trace, fewer[None])[0])[row] == decided(trace)[row]


def test_where_rounding_decides_a_tie_the_set_still_leads_to_another_class(either_way):
    # Weights of thirds, fifths, sevenths and whole-number values: many sums are 0 but for rounding.
    for seed in range(40):
        trace = exact_trace(instances=41, classes=2 + seed % 4, seed=seed, all_weight_in=21)
        found = smallest_flips(trace)
        assert not bool(((found.sizes > 0) & (found.to_class == decided(trace))).any())


def test_with_two_classes_and_no_bias_the_product_ranking_is_optimal(either_way):
    trace = random_trace(instances=101, classes=2, bias=0.0)
    assert flip_sizes(trace, order_of("product", trace)).tolist() == smallest_flips(trace).sizes.tolist()


def test_both_ways_take_the_same_items(monkeypatch):
    pytest.importorskip("numba")
    for seed in range(20):
        trace = exact_trace(instances=37, longest=11, classes=1 + seed % 6, seed=seed)
        found = []
        for least in (0, float("inf")):
            monkeypatch.setattr(compiled, "LEAST", least)
            found.append(smallest_flips(trace))
        assert found[0].sizes.tolist() == found[1].sizes.tolist()
        assert found[0].to_class.tolist() == found[1].to_class.tolist()
        assert [a.tolist() for a in found[0].items] == [b.tolist() for b in found[1].items]


@pytest.mark.parametrize("items", ["slots", "kept"])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_overtakes_equal_enumeration(classes, items):
    for seed in range(3):
        trace = exact_trace(instances=31, longest=6, classes=classes, items=items, seed=seed)
        rivals = torch.randint(classes, (len(trace),), generator=torch.Generator().manual_seed(seed))
        found = smallest_overtakes(trace, rivals)
        for row, rival in enumerate(rivals.tolist()):
            # The two classes alone, in their order: who of them decides?
            first = decided(trace)[row].item()
            pair = sorted({first, rival})
            duel = Trace(
                trace.weights,
                trace.values,
                trace.mask,
                linear(trace.head.weight[pair], trace.head.bias[pair]),
                trace.items,
            )
            items_ = trace.present[row].nonzero()[:, 0].tolist()
            if first == rival:
                assert found.sizes[row] == 0
                continue
            size, sets = enumerated(items_, lambda gone, duel=duel, row=row: exact_winner(duel, row, gone))
            assert int(found.sizes[row]) == size
            taken = found.items[row].tolist()
            if size > 0:
                assert tuple(taken) in sets
                assert exact_winner(trace, row, set(taken)) == int(found.to_class[row])
                assert bool(found.leads[row]) == (exact_winner(trace, row, set(taken)) == rival)
            else:
                assert not found.leads[row]


def test_a_rival_may_overtake_without_leading():
    # Erasing the first token lifts class 1 over class 0, but class 2 over both.
    trace = by_hand([[0.5, 0.5]], [[[9, 0, 0], [0, 1, 2]]], [0, 0, 0])
    found = smallest_overtakes(trace, 1)
    assert (found.sizes.tolist(), found.to_class.tolist(), found.leads.tolist()) == ([1], [2], [False])


def test_a_rival_that_is_no_class_is_refused_naming_the_row():
    trace = random_trace(instances=3, classes=5)
    for rival, sentence in (
        (-1, r"Row 0 has the rival -1, but the classes of this head are 0 to 4"),
        (5, "Row 0 has the rival 5"),
        (torch.tensor([4, 0, 7]), "Row 2 has the rival 7"),
        (torch.tensor([1, 2]), r"one for each of the 3 instances, but torch.int64 \(2,\) came"),
        (1.5, "is a class number"),
    ):
        with pytest.raises(UserError, match=sentence):
            smallest_overtakes(trace, rival)


def test_a_head_that_is_not_linear_gets_the_search_and_it_is_never_called_exact():
    trace = random_trace(instances=5, longest=7)
    exact = smallest_flips(trace)
    assert exact.exact
    assert exact.kind == "exact"
    for other in (through_the_head(trace), stacked(trace)):
        found, searched = smallest_flips(other), beam_flips(other)
        assert not found.exact
        assert found.kind == "upper bound"
        assert found.sizes.tolist() == searched.sizes.tolist()
        assert [items.tolist() for items in found.items] == [items.tolist() for items in searched.items]
    again = smallest_flips(through_the_head(trace)).sizes
    assert ((again < 0) | (again >= exact.sizes)).all()


def test_a_chosen_rival_is_refused_for_a_head_that_is_not_linear():
    trace = random_trace()
    for other in (through_the_head(trace), stacked(trace)):
        with pytest.raises(UserError, match="smallest_flips gives an upper bound"):
            smallest_overtakes(other, 0)
