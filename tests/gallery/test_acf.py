"""The catalogue is as it says, and attention finds the clicks that were meant."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from heedful.gallery.acf import BAIT, ENTRY, FILLER, fit, gain, hit_rate, make_catalogue
from heedful.gallery.comparing import compare_entry


def test_a_seed_gives_one_catalogue():
    first, again, other = (make_catalogue(seed, users=23, items=48) for seed in (3, 3, 5))
    assert torch.equal(first.frames, again.frames)
    assert torch.equal(first.history, again.history)
    assert not torch.equal(first.history, other.history)


def test_meant_clicks_and_held_out_items_share_one_taste_and_the_rest_is_bait():
    catalogue = make_catalogue(0, users=29, items=80)
    tastes = catalogue.kinds.max(1)
    history, held_out = catalogue.history.numpy(), catalogue.held_out.numpy()
    for user, meant in enumerate(catalogue.meant):
        wanted = np.concatenate([history[user][meant], held_out[user]])
        assert len(set(tastes[wanted])) == 1
        assert not catalogue.bait[wanted].any()
        assert catalogue.bait[history[user][~meant]].all()
        assert len(set(history[user]) | set(held_out[user])) == history.shape[1] + 2  # no item twice


def test_half_of_the_items_have_one_frame_of_bait_and_all_have_one_of_taste():
    catalogue = make_catalogue(0, users=5, items=80)
    assert catalogue.bait.sum() == 40
    assert ((catalogue.kinds == BAIT).sum(1) <= 1).all()
    assert ((catalogue.kinds >= 0).sum(1) == 1).all()
    assert (catalogue.kinds == FILLER).any(1).all()


def test_hit_rate_and_ndcg_are_what_a_person_computes():
    ranks = torch.tensor([0, 2, 9, 10])
    assert hit_rate(ranks) == 0.75
    assert gain(ranks) == pytest.approx((1 + 1 / 2 + 1 / np.log2(11)) / 4)


def test_training_follows_from_the_seed_and_leaves_torchs_own_generator_alone():
    catalogue, before = make_catalogue(0, users=31, items=80), torch.get_rng_state()
    first, again, other = (fit(catalogue, "attention", seed=seed, epochs=2) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first.items, again.items)
    assert not torch.equal(first.items, other.items)


@pytest.mark.slow
def test_attention_beats_equal_matrix_factorisation_and_looks_at_meant_clicks():
    made_up = replace(ENTRY, real=None)  # also where the real data are at hand
    comparison = compare_entry(made_up, seeds=(0, 1, 2), size="small")
    assert comparison.passes
    outcome = comparison.outcomes[0]
    assert abs(outcome.parameters / outcome.baseline_parameters - 1) < 0.02
    table = outcome.table
    assert table["NDCG@10"] > table["NDCG@10 of matrix factorisation"]
    assert outcome.figure > table["hit rate@10 of the plain average of the history"]
    assert table["weight on clicks that were meant"] > 0.9 > table["share of clicks that were meant"]
    ENTRY.draw(outcome, Figure())
