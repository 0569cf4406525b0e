"""The traps of published experiments (test split, dropout, positions, padding, many tests): ours has none.

That a failure is named, and not swallowed, is in test_workbench.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch

from debated import CORPUS, MODEL, SMALL
from heedful.models.trace import probabilities
from heedful.papers.jain_wallace.agreement import agreement_rows
from heedful.study.seeds import seeds_variance
from heedful.study.trained_adversaries import beside
from heedful.training import train
from heedful.trials.erasure.rereading import Reader
from heedful.trials.rankings.word_rankings import left_out_change


@pytest.fixture(scope="module")
def uneven():
    """The small corpus with texts of 3 to 12 words, so that batches are padded."""
    texts = [" ".join(text.split()[-(3 + row % 10) :]) for row, text in enumerate(CORPUS.texts)]
    return replace(CORPUS, texts=texts, name="uneven")


@pytest.fixture(scope="module", params=[MODEL, "jain-wallace-bilstm-tanh", "jain-wallace-cnn-dot"])
def run(request, uneven):
    return train(uneven, model=request.param, **{**SMALL, "hidden": 8})


def test_turned_test_labels_change_neither_the_weights_nor_the_epoch_that_is_kept(uneven):
    labels = np.where(uneven.splits == "test", 1 - uneven.labels, uneven.labels)
    first, second = (train(c, model=MODEL, **SMALL) for c in (uneven, replace(uneven, labels=labels)))
    assert first.result["epoch"] == second.result["epoch"]
    for name, value in first.model.state_dict().items():
        assert torch.equal(value, second.model.state_dict()[name])


def test_comparisons_of_runs_switch_dropout_off_and_leave_the_models_as_they_were(uneven):
    first, second = (train(uneven, model="dp", embedding=11, epochs=1, seed=seed) for seed in (0, 1))
    expected = seeds_variance([first, second], uneven).table, beside(first, second, uneven)
    first.model.train()
    again = seeds_variance([first, second], uneven).table, beside(first, second, uneven)
    assert first.model.training
    for one, other in zip(expected, again, strict=True):
        assert one.equals(other)


def test_a_word_that_is_left_out_leaves_all_others_in_their_places(run):
    text = "n1, Pos1 -- unheard-of n1 n2! (n3 pos1)"  # punctuation, an unknown word, words said twice
    batch = run.model.encode([text])
    ids = batch.ids[0].tolist()
    with torch.no_grad():
        whole = probabilities(run.model.logits(batch)).double()
        for place, change in enumerate(left_out_change(Reader(run.model, batch))[0].tolist()):
            kept = torch.tensor([ids[:place] + ids[place + 1 :]])
            shorter = replace(batch, ids=kept, mask=torch.ones_like(kept, dtype=torch.bool), words=None)
            expected = (probabilities(run.model.logits(shorter)).double() - whole).abs().sum() / 2
            assert change == pytest.approx(float(expected), abs=1e-6)


def test_a_text_has_the_same_tau_alone_and_among_longer_ones(run, uneven):
    test = uneven.split("test")
    together = agreement_rows(run, uneven).set_index(["first", "second", "instance"])["tau"]
    for row in (0, 4):
        alone = agreement_rows(run, test.take(np.array([row]))).set_index(["first", "second"])["tau"]
        for pair, tau in alone.items():
            assert together[(*pair, row)] == pytest.approx(tau, abs=0.05)


def test_padding_gets_no_attention(run, uneven):
    batch = run.model.encode(list(uneven.split("test").texts[:11]))
    weights = run.model.trace(batch).weights
    assert (~batch.mask).any()
    assert (weights[~batch.mask] == 0).all()
    assert torch.allclose(weights.sum(1), torch.ones(11))


def test_a_random_ranking_is_hardly_ever_significant_once_many_tests_are_corrected_for(run, uneven):
    rows = agreement_rows(run, uneven)
    assert rows["random_significant"].dropna().mean() <= 0.05
    assert (rows["random_tau"].abs() > 0.5).any()  # single texts would have passed
