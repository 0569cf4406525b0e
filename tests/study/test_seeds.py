"""How attention varies over seeds: a row a text, beside the same weights shuffled."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from heedful.data.encoded import EncodedTexts
from heedful.data.synthetic import Synthetic, make_synthetic
from heedful.errors import UserError
from heedful.study.seeds import (
    compare_attention,
    compare_weights,
    seeds_findings,
    seeds_variance,
    shuffle_rows,
)
from heedful.training import train
from heedful.trials.agreement.ranks import top_overlap
from heedful.trials.stream import sample_rows


@pytest.fixture(scope="module")
def corpus():
    return make_synthetic(Synthetic(neutral=23, polar=5, per_class=60, held_out=17), name="small")


@pytest.fixture(scope="module")
def runs(corpus):
    same = {"scale": 1, "embedding": 13, "epochs": 25, "rate": 0.1, "dropout_words": 0.0, "dropout_head": 0.0}
    return [train(corpus, seed=seed, **same) for seed in range(6)]


def texts_of(lengths):
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return EncodedTexts(np.zeros(offsets[-1], np.int32), offsets, None, np.zeros(len(lengths), np.int32))


def test_divergences_and_overlaps_can_be_checked_by_hand():
    encoded = texts_of([2, 1, 3])
    first = np.array([1, 0, 1, 0.5, 0.3, 0.2], np.float32)
    second = np.array([0, 1, 1, 0.5, 0.3, 0.2], np.float32)
    table = compare_attention([first, second], encoded)
    assert table["divergence"].tolist() == pytest.approx([math.log(2), math.nan, 0], abs=1e-6, nan_ok=True)
    assert table["overlap"].tolist() == pytest.approx([0, math.nan, 1], nan_ok=True)
    assert table["random_overlap"].tolist() == pytest.approx([1 / 2, math.nan, 1 / 3], nan_ok=True)
    assert table["largest"].tolist() == pytest.approx([1, 1, 0.5])
    assert table["words"].tolist() == [2, 1, 3]


def test_uniform_weights_overlap_as_much_as_chance_and_no_more():
    lengths = np.full(7, 11)
    even = np.full(77, 1 / 11, np.float32)
    table = compare_attention([even, even], texts_of(lengths))
    assert np.allclose(table["overlap"], 1 / 11)
    assert np.allclose(table["shuffled_overlap"], 1 / 11)


def test_shuffled_weights_meet_as_often_as_chance():
    lengths = np.full(400, 5)
    weights = np.random.default_rng(0).dirichlet(np.ones(5), 400).astype(np.float32).ravel()
    table = compare_attention([weights, weights, weights], texts_of(lengths))
    assert (table["overlap"] == 1).all()
    assert np.allclose(table["shuffled_overlap"], 1 / 5)
    assert (table["divergence"] < 1e-6).all()
    assert table["shuffled_divergence"].mean() > 0.05


def test_seeds_that_learn_the_same_words_overlap_above_shuffled(runs, corpus):
    found = seeds_variance(runs, corpus)
    findings = {finding.name: finding for finding in found.findings(coordinates={"corpus": "small"})}
    lead = findings["overlap of the top between seeds, above shuffled"]
    assert lead.interval.low > 0
    assert lead.seeds == 6
    overlap = findings["overlap of the top between seeds"]
    assert set(overlap.baselines) == {"shuffled", "random"}
    assert overlap.value - overlap.baselines["shuffled"].value == pytest.approx(lead.value)
    assert set(found.table["label"]) == {0, 1}
    table = found.table.assign(decided_class=np.array(found.classes)[found.table["decided"]])
    again = seeds_findings(table, seeds=6, coordinates={"corpus": "small"})
    assert again == found.findings(coordinates={"corpus": "small"})


def test_a_limit_draws_texts_by_the_seed_and_one_run_is_too_few(runs, corpus):
    first, again, other = (
        seeds_variance(runs[:2], corpus, limit=7, seed=s).table["label"].tolist() for s in (0, 0, 1)
    )
    assert len(first) == 7
    assert first == again
    assert seeds_variance(runs[:2], corpus, limit=7, seed=1).table["label"].tolist() == other
    with pytest.raises(UserError, match="at least two runs"):
        seeds_variance(runs[:1], corpus)


def test_a_limit_changes_neither_the_numbers_of_the_texts_nor_their_rows(runs, corpus):
    whole = seeds_variance(runs, corpus).table.set_index("instance")
    some = seeds_variance(runs, corpus, limit=7).table.set_index("instance")
    assert some.index.tolist() == sample_rows(len(whole), 7).tolist()
    pd.testing.assert_frame_equal(some, whole.loc[some.index], rtol=1e-5)  # also what chance dealt out


def test_shuffling_on_average_is_what_the_overlap_of_shuffled_weights_is_said_to_be():
    draw = np.random.default_rng(5)
    weights = [torch.from_numpy(draw.dirichlet(np.ones(7), 3)) for _ in range(2)]
    weights[1][0] = 1 / 7  # ties share the top
    mask, rows = torch.ones(3, 7, dtype=torch.bool), np.arange(3)
    met = np.zeros(3)
    for sample in range(600):
        moved = [
            shuffle_rows(own, mask, seed=0, rows=rows, sample=2 * sample + s) for s, own in enumerate(weights)
        ]
        met += top_overlap(*moved, mask, k=2).numpy() / 600
    said = compare_weights(weights, mask, rows=rows, k=2)["shuffled_overlap"]
    assert np.allclose(met, said, atol=0.04)


def test_two_seeds_are_one_pair_and_do_not_tell_how_others_would_vary(runs, corpus):
    lead = seeds_variance(runs[:2], corpus).findings()[-1]
    assert lead.value > 0
    assert not lead.interval.bounded


def test_texts_of_one_word_give_no_finding():
    table = compare_attention([np.ones(5, np.float32)] * 3, texts_of([1] * 5))
    assert seeds_findings(table.assign(decided=0, decided_class="no"), seeds=3) == []


def test_runs_with_other_words_are_refused(runs, corpus):
    other = train(corpus, embedding=13, epochs=1, max_words=9)
    with pytest.raises(UserError, match="one vocabulary"):
        seeds_variance([runs[0], other], corpus)
