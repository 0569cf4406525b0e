"""Texts whose attention takes more memory than it may: what is asked of it is unknown there, and said so."""

import sys
from pathlib import Path

import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
from tiny_transformers import classifier, make_corpus, stirred, wordpiece

import heedful
from heedful.errors import UserError
from heedful.models.subject import traceable
from heedful.models.transformers import TransformerSubject, memory
from heedful.models.transformers.memory import bytes_of, within
from heedful.models.word_attention import word_attention
from heedful.trials.erasure.rereading import Reader
from heedful.trials.heads import head_rows
from heedful.trials.rankings.named import layer_ranking, transformer_rankings
from heedful.trials.rankings.word_rankings import scores_with

pytestmark = pytest.mark.slow
TEXTS = ["The superb film.", "a plot of two clumsy scene with the cast and music in it", "dreadful music"]
LONG = 1  # the place of the one that is too long


@pytest.fixture(scope="module")
def subject():
    tokenizer = wordpiece()
    return TransformerSubject(stirred(classifier("bert", tokenizer, hidden_dropout_prob=0.0)), tokenizer)


@pytest.fixture
def little(subject, monkeypatch):
    """So much memory that attention of 9 pieces is looked at, and of all layers together that of 7."""
    monkeypatch.setattr(subject, "memory", bytes_of(subject, 7, layers=subject.entry.calls), raising=False)
    return subject


def every_ranking(subject):
    found = dict(transformer_rankings(subject, all_of_them=True))
    return {**found, "layer-1": layer_ranking(subject, "layer-1"), "attention": "attention"}


def scores(subject, batch, ranking):
    """As an audit takes them."""
    return scores_with(Reader(subject, batch), ranking, known=traceable(subject, batch, every=True))


@pytest.mark.parametrize("way", ["attention interface", "output_attentions"])
def test_what_is_asked_of_the_attention_of_too_long_a_text_is_unknown(subject, little, monkeypatch, way):
    if way != subject.way:  # only to look at
        monkeypatch.setattr(subject, "entry", None)
        monkeypatch.setattr(subject, "last", None)
        monkeypatch.setitem(subject.cannot, "trace", "it is only looked at")
    batch = subject.encode(TEXTS)
    weights, read = word_attention(subject, batch)
    assert weights[LONG, batch.mask[LONG]].isnan().all()
    assert (weights[~batch.mask] == 0).all()
    assert torch.equal(read, batch.mask)  # it is read all the same
    monkeypatch.setattr(subject, "memory", memory.MOST)
    torch.testing.assert_close(weights[[0, 2]], word_attention(subject, batch)[0][[0, 2]])


def test_every_ranking_by_attention_says_nothing_of_too_long_a_text(subject, little, monkeypatch):
    batch = subject.encode(TEXTS)
    found = {name: scores(subject, batch, one) for name, one in every_ranking(subject).items()}
    with pytest.raises(UserError, match="cut such texts"):
        scores_with(Reader(subject, batch), "attention")
    monkeypatch.setattr(subject, "memory", memory.MOST)
    for name, one in every_ranking(subject).items():
        assert found[name][LONG, batch.mask[LONG]].isnan().all(), name
        torch.testing.assert_close(found[name][[0, 2]], scores(subject, batch, one)[[0, 2]])


def test_gradients_through_all_layers_fit_shorter_texts_than_one_layer_does(little):
    batch = little.encode(["The superb film of it."])  # 8 pieces
    by_name = every_ranking(little)
    assert scores(little, batch, by_name["attention-gradient"])[batch.mask].isnan().all()
    assert scores(little, batch, by_name["value-norms"])[batch.mask].isfinite().all()


def test_several_texts_are_looked_at_a_few_at_a_time(subject, monkeypatch):
    batch = subject.encode(["The superb film."] * 7)
    (length,) = {len(cut) for cut in subject.cut(batch)}
    monkeypatch.setattr(memory, "AT_ONCE", 3 * bytes_of(subject, length))
    assert [len(group.cuts) for group in within(subject, batch)] == [3, 3, 1]


def test_a_trace_and_a_grid_of_heads_of_too_long_a_text_are_refused_in_a_sentence(little):
    batch = little.encode(TEXTS)
    for asked in (little.trace, lambda texts: little.trace(texts, "layer-1")):
        with pytest.raises(UserError, match=r"To look at the attention of a text of 1. pieces takes"):
            asked(batch)
    with pytest.raises(UserError, match="cut such texts, or set the memory"):
        head_rows(little, batch)


def test_an_audit_says_for_which_texts_attention_is_unknown_and_judges_by_others(
    tmp_path, subject, monkeypatch
):
    monkeypatch.setattr(subject, "memory", bytes_of(subject, 10, layers=subject.entry.calls), raising=False)
    corpus = make_corpus(120)
    found = heedful.audit(subject, corpus, out=tmp_path / "audit", limit=24, deletions=1, looks=False)
    attention, gradient = [note for note in found.content["data"]["notes"] if " is unknown for " in note]
    assert attention.startswith("Attention is unknown for ")
    assert gradient.startswith("The ranking attention-gradient is unknown for ")
    page = (tmp_path / "audit" / "index.html").read_text(encoding="utf-8")
    assert attention in page
    rows = found.to_frame()
    assert len(rows)
    kept = [one for one in found.content["instances"] if one["weights"] is None]
    assert kept
    assert all(one["rankings"]["leave-one-out"] for one in kept)
    assert any(one["weights"] for one in found.content["instances"])
