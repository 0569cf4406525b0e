"""Results as tables: one row an instance, with the numbers of the result."""

import torch
from erasure_traces import random_trace

from heedful import trials
from heedful.trials.agreement.correlations import agreement

TRACE = random_trace(instances=7, longest=5, classes=2)


def test_small_sets_list_their_items():
    found = trials.smallest_flips(TRACE)
    frame = found.to_frame()
    assert list(frame) == ["sizes", "items", "to_class", "kind"]
    assert frame["sizes"].tolist() == found.sizes.tolist()
    assert set(frame["kind"]) == {"exact"}
    assert all(len(items) == max(size, 0) for items, size in zip(frame["items"], frame["sizes"], strict=True))
    assert frame["items"].tolist() == [items.tolist() for items in found.items]
    assert trials.small_shifts(TRACE, 0.01).to_frame()["moved"].gt(0).all()  # what a kind of its own adds


def test_an_adversary_lists_its_weights():
    found = trials.exact_adversary(TRACE, 0.1)
    frame = found.to_frame()
    assert frame["weights"].tolist() == found.weights.tolist()
    assert set(frame["epsilon"]) == {0.1}
    assert frame["divergence"].tolist() == found.divergence.tolist()
    assert "tokens" in frame
    assert "tokens" not in trials.ascent_adversary(TRACE, 0.1, steps=2).to_frame()


def test_permutation_and_agreement_have_a_row_for_each_instance():
    permuted = trials.permute_weights(TRACE, permutations=3)
    assert permuted.to_frame()["largest"].tolist() == permuted.largest.tolist()
    found = agreement(TRACE.weights, torch.ones_like(TRACE.weights).cumsum(1), TRACE.mask, k=2)
    frame = found.to_frame()
    assert len(frame) == 7
    assert set(frame["names"]) == {"attention and gradient"}
    assert set(frame["k"]) == {2}
    assert frame["random_tau"].dropna().tolist() == found.random_tau[~found.random_tau.isnan()].tolist()


def test_a_notebook_shows_the_table():
    shown = trials.smallest_flips(TRACE)._repr_html_()
    assert "<table" in shown
    assert "to_class" in shown
