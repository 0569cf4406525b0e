"""Multi-item tests: exclusions, fractions, who beats whom, and what the exact minimum adds."""

import numpy as np
import pytest
import torch
from erasure_traces import random_trace, some_order, stacked, through_the_head

from heedful.errors import UserError
from heedful.records import append_rows, read_rows
from heedful.trials import (
    Erasures,
    beam_flips,
    beats,
    compare,
    decided,
    erase,
    flip_sizes,
    fraction_removed,
    mass_removed,
    no_short_set,
    optimal_share,
    optimality_gap,
    order_of,
    shuffle_weights,
    smallest_flips,
    tail_share,
)


def made(items, sizes, *, masses=None, smallest=None, **more):
    """Erasures with these numbers."""
    table = {
        name: np.atleast_2d(np.array(column, dtype=float)).reshape(len(items), -1)
        for name, column in sizes.items()
    }
    table = {name: column.astype(int) for name, column in table.items()}
    masses = masses or {name: np.where(column < 0, np.nan, 0.5) for name, column in table.items()}
    number = np.arange(len(items))
    least = None if smallest is None else np.array(smallest)
    return Erasures(number, np.array(items), number * 0, table, masses, least, least, **more)


def test_every_ranking_has_its_flip_sizes_and_the_attention_it_removed():
    trace = random_trace(instances=41, classes=3)
    found = erase(trace, samples=3, seed=2)
    assert found.sizes["random"].shape == (41, 3)
    order = order_of("gradient", trace, seed=2)
    sizes = flip_sizes(trace, order)
    assert found.sizes["gradient"][:, 0].tolist() == sizes.tolist()
    for row, size in enumerate(sizes.tolist()):
        removed = found.masses["gradient"][row, 0]
        if size < 0:
            assert np.isnan(removed)
        else:
            assert removed == pytest.approx(trace.weights[row, order[row, :size]].sum().item())
    assert found.smallest.tolist() == smallest_flips(trace).sizes.tolist()
    moved = shuffle_weights(trace, seed=2)
    own = flip_sizes(moved, order_of("attention", moved, seed=2))
    assert found.sizes["shuffled"][:, 0].tolist() == own.tolist()
    assert found.smallest_shuffled.tolist() == smallest_flips(moved).sizes.tolist()


def test_a_head_that_is_not_linear_gives_the_same_sizes():
    trace = random_trace(instances=23, classes=3)
    names = ["attention", "gradient", "product", "random"]
    closed, general = erase(trace, names), erase(through_the_head(trace), names)
    assert general.smallest is None
    assert {n: s.tolist() for n, s in closed.sizes.items()} == {
        n: s.tolist() for n, s in general.sizes.items()
    }
    with pytest.raises(UserError, match="linear head"):
        erase(through_the_head(trace), ["contribution"])
    with pytest.raises(UserError, match="smallest sets"):
        optimality_gap(general)


def test_ones_own_ranking_takes_part_under_its_name():
    trace = random_trace(instances=23)
    scores = torch.rand(trace.weights.shape, generator=torch.Generator().manual_seed(0))
    found = erase(trace, ["attention"], own={"captum": scores.numpy()})
    assert found.sizes["captum"][:, 0].tolist() == flip_sizes(trace, order_of(scores, trace)).tolist()
    for name in ("attention", "lime_2", "a b", ""):
        with pytest.raises(UserError, match="name"):
            erase(trace, ["attention"], own={name: scores})


def test_scores_from_captum_take_part_and_its_input_times_gradient_is_our_product():
    captum = pytest.importorskip("captum.attr")
    trace = random_trace(instances=31, classes=3)
    weights = trace.weights.clone().requires_grad_()
    method = captum.InputXGradient(lambda given: trace.logits(given).softmax(-1))
    scores = method.attribute(weights, target=decided(trace)).detach().numpy()
    found = erase(trace, ["product", "attention"], own={"captum": scores})
    assert found.sizes["captum"].tolist() == found.sizes["product"].tolist()
    assert found.sizes["captum"].tolist() != found.sizes["attention"].tolist()


def test_the_exclusions_of_the_paper_are_counted():
    found = made([1, 4, 4, 4], {"attention": [1, -1, -1, 2], "gradient": [1, -1, 3, 1]})
    comparison = compare(found)
    assert comparison.kept.tolist() == [False, False, True, True]
    assert (comparison.alone, comparison.never) == (1, 1)
    assert comparison.partly == {"attention": 1, "gradient": 0}
    attention, gradient = fraction_removed(found)
    assert attention.value == pytest.approx((1 + 2 / 4) / 2)  # never flipped by attention: fully removed
    assert gradient.value == pytest.approx((3 / 4 + 1 / 4) / 2)
    assert attention.count == 2
    assert attention.coordinates["fully_removed"] == 1
    assert (attention.coordinates["excluded_alone"], attention.coordinates["excluded_never"]) == (1, 1)
    # In a comparison of attention with itself, the third instance is never flipped.
    assert compare(found, ["attention"]).never == 2


def test_mass_and_tails_and_samples_are_averaged_by_instance():
    sizes = {"attention": [1, 3], "random": [[2, -1], [4, 4]]}
    masses = {"attention": np.array([[0.5], [0.9]]), "random": np.array([[0.25, np.nan], [1.0, 1.0]])}
    found = made([4, 4], sizes, masses=masses)
    mass = {finding.coordinates["ranking"]: finding for finding in mass_removed(found)}
    assert mass["attention"].value == pytest.approx(0.7)
    assert mass["random"].value == pytest.approx(((0.25 + 1) / 2 + 1) / 2)
    assert mass["attention"].baselines["random"].value == mass["random"].value
    tail = {finding.coordinates["ranking"]: finding.value for finding in tail_share(found, above=0.5)}
    assert tail == {"attention": 0.5, "random": 0.75}


def test_who_needs_fewer_items_is_counted_both_ways():
    found = made([9] * 6, {"attention": [5, 5, 5, 2, 3, -1], "gradient": [1, 2, 4, 3, 3, 7]})
    share, ratio = beats(found)
    assert share.value == pytest.approx(4 / 6)
    assert (share.coordinates["fewer"], share.coordinates["more"]) == (4, 1)
    assert ratio.value == pytest.approx(4)
    assert (
        len(beats(found.__class__.from_frame(found.to_frame().iloc[:3]))) == 1
    )  # attention never needs fewer


def test_the_gap_is_the_number_needed_over_the_least_number():
    found = made([9, 9, 9, 1], {"attention": [4, 2, 3, 1], "product": [2, 2, -1, 1]}, smallest=[2, 2, -1, 1])
    attention, product = optimality_gap(found)
    assert (attention.value, product.value) == (1.5, 1.0)
    assert attention.count == 2
    shares = optimal_share(found)
    assert [finding.value for finding in shares] == [0.5, 1.0]
    assert shares[0].better == "higher"
    bound = optimality_gap(made([9], {"attention": [4]}, smallest=[2], kind="upper bound"))
    assert bound[0].kind == "lower bound"


def test_no_short_set_counts_long_minima_and_what_nothing_flips():
    found = made([10, 10, 10, 10, 1], {"attention": [1] * 5}, smallest=[1, 2, 3, -1, 1])
    finding = no_short_set(found, share=0.2)
    assert finding.value == 0.5
    assert (finding.count, finding.coordinates["never_flipped"], finding.coordinates["excluded_alone"]) == (
        4,
        1,
        1,
    )
    with pytest.raises(UserError, match="exact"):
        no_short_set(made([10], {"attention": [1]}, smallest=[1], kind="upper bound"))


def test_a_random_ranking_does_no_better_than_chance_and_the_best_ranking_better_than_attention():
    trace = random_trace(instances=307, classes=4)
    fractions = {f.coordinates["ranking"]: f for f in fraction_removed(erase(trace))}
    assert fractions["attention"].value < fractions["random"].value
    assert fractions["product"].value < fractions["gradient"].value < fractions["attention"].value
    # These weights mean nothing, so shuffling them loses nothing: the null is as good.
    null = fractions["attention"].baselines["shuffled"]
    assert null.value == pytest.approx(fractions["attention"].value, abs=0.06)


def test_results_do_not_depend_on_how_a_corpus_is_cut_and_survive_storage(tmp_path):
    trace = random_trace(instances=31)
    whole = erase(trace, samples=2, seed=1)
    cut = [trace.take(torch.arange(start, min(start + 11, 31))) for start in range(0, 31, 11)]
    parts = [erase(part.numbered(11 * n), samples=2, seed=1) for n, part in enumerate(cut)]
    for part in parts:
        append_rows(tmp_path, part.to_frame())
    stored = Erasures.from_frame(read_rows(tmp_path))
    for again in (Erasures.joined(parts), stored):
        for name, sizes in whole.sizes.items():
            assert np.array_equal(again.sizes[name], sizes)
            assert np.allclose(again.masses[name], whole.masses[name], rtol=1e-12, equal_nan=True)
        assert np.array_equal(again.smallest, whole.smallest)
        assert np.array_equal(again.smallest_shuffled, whole.smallest_shuffled)
    assert fraction_removed(stored) == fraction_removed(whole)


def test_upper_bounds_go_through_as_bounds():
    trace = stacked(random_trace(instances=7, longest=5))
    found = erase(trace, ["attention", "random", "shuffled"], smallest=beam_flips(trace))
    assert found.kind == "upper bound"
    assert Erasures.from_frame(found.to_frame()).kind == "upper bound"
    for finding in (*optimality_gap(found), *optimal_share(found)):
        assert finding.kind in ("lower bound", "upper bound")
        assert "shuffled" not in finding.baselines  # its smallest sets are not known


def test_nothing_to_compare_is_said():
    with pytest.raises(UserError, match="1 have one item only, and 1 are never flipped"):
        fraction_removed(made([1, 3], {"attention": [1, -1]}))
    with pytest.raises(UserError, match="never flipped"):
        beats(made([3], {"attention": [-1], "gradient": [-1]}))
    with pytest.raises(UserError, match="nearest is 'attention'"):
        compare(made([3], {"attention": [1]}), ["atention"])


def test_the_order_of_the_instances_does_not_matter():
    trace = random_trace(instances=23)
    order = some_order(trace)
    back = torch.arange(22, -1, -1)
    assert flip_sizes(trace, order)[back].tolist() == flip_sizes(trace.take(back), order[back]).tolist()
