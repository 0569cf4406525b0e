"""Ours beside other libraries: the same questions give the same numbers, and everybody is counted alike."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("transformers", reason="the extra hf is not installed")

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
from tiny_transformers import classifier, make_corpus, stirred, wordpiece

from heedful.bench.peers import LEAVE, Peers, evaluations_of, plain_loop
from heedful.models.transformers import TransformerSubject

pytestmark = pytest.mark.slow
TEXTS = 2


@pytest.fixture(scope="module")
def subject():
    tokenizer = wordpiece()
    tokenizer.mask_token = "[UNK]"
    return TransformerSubject(stirred(classifier("bert", tokenizer)).requires_grad_(False), tokenizer)


@pytest.fixture(scope="module")
def measured(subject):
    run = Peers(subject, make_corpus().texts[:TEXTS], samples=80)
    ended = []
    rows = run.measure(done=lambda: ended.append(1))
    assert len(ended) == len(run) == len(rows)
    return {(row.question, row.who): row for row in rows}


def test_the_same_question_has_the_same_numbers(measured):
    for who in ("heedful, text by text", "a plain loop"):
        assert measured[LEAVE, who].furthest < 1e-5
        assert measured[LEAVE, who].rank_correlation > 0.99  # the same word twice ties
    assert measured["integrated gradients", "Captum, at our words"].furthest < 1e-4


def test_captum_hides_as_ours_does_where_a_word_is_one_piece(measured):
    assert measured[LEAVE, "Captum, FeatureAblation"].rank_correlation > 0.6  # some words have two pieces


def test_everybodys_evaluations_are_counted_alike(subject, measured):
    texts = make_corpus().texts[:TEXTS]
    words = np.mean([int(subject.encode([text]).mask.sum()) for text in texts])
    assert measured[LEAVE, "heedful"].evaluations == words + 1
    assert measured[LEAVE, "a plain loop"].evaluations == words + 2  # it asks for the decision too
    assert measured["Shapley values", "Captum, KernelShap"].evaluations >= 80
    with evaluations_of(subject.network) as count:
        plain_loop(subject, texts[:1])
    assert count() == int(subject.encode(texts[:1]).mask.sum()) + 2
    assert not subject.network._forward_pre_hooks


def test_everybody_finds_something_of_the_same(measured):
    """Each of the installed ones, on words that a random network weighs."""
    assert {who.split(",")[0] for _, who in measured} >= {"heedful", "Captum", "SHAP", "LIME"}
    for row in measured.values():
        assert row.seconds > 0
        assert row.rank_correlation is None or -1 <= row.rank_correlation <= 1
