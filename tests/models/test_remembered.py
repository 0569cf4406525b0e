"""A transformer that remembers reads equal texts once, and says what it would have said."""

import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")

from tiny_transformers import classifier, stirred, wordpiece

from heedful.models.dropout import dropping
from heedful.models.subject import remembering
from heedful.models.transformers import TransformerSubject, remembered

pytestmark = pytest.mark.slow  # importing transformers alone takes seconds
TEXTS = ["the wonderful film", "a dreadful plot of it", "the wonderful film", "A dreadful plot of it", "two"]


@pytest.fixture
def subject():
    tokenizer = wordpiece()
    return TransformerSubject(stirred(classifier("bert", tokenizer), seed=3), tokenizer, name="tiny")


@pytest.fixture
def read(subject, monkeypatch):
    """How many texts went through the network so far, one number a call."""
    counts = []
    run = subject.last.logits
    monkeypatch.setattr(
        subject.last,
        "logits",
        lambda texts: counts.append(sum(len(one["input_ids"]) for one in texts)) or run(texts),
    )
    return counts


@torch.no_grad()
def test_equal_texts_are_read_once_and_the_logits_are_the_same(subject, read):
    batch = subject.encode(TEXTS)
    plain = subject.logits(batch)
    assert sum(read) == len(TEXTS)
    with remembering(subject):
        torch.testing.assert_close(subject.logits(batch), plain)
        assert sum(read) == len(TEXTS) + 3  # the tokenizer makes capitals small
        torch.testing.assert_close(subject.logits(subject.encode(TEXTS[::-1])), plain.flip(0))
        assert sum(read) == len(TEXTS) + 3
        subject.logits(subject.encode(["a wonderful film"]))
        assert sum(read) == len(TEXTS) + 4


@torch.no_grad()
def test_nothing_is_remembered_afterwards_also_not_after_an_error(subject):
    batch = subject.encode(TEXTS)
    before = subject.logits(batch)

    def fail():
        with remembering(subject):
            subject.logits(batch)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    subject.network.classifier.bias += 1.0
    torch.testing.assert_close(subject.logits(batch), before + 1)
    with remembering(subject), remembering(subject):
        torch.testing.assert_close(subject.logits(batch), before + 1)
    assert subject.remembered is None


def test_what_changes_from_one_reading_to_the_next_is_read_again(subject, read):
    batch = subject.encode(TEXTS)
    with remembering(subject):
        with torch.no_grad():
            plain = subject.logits(batch)
            with dropping(subject, seed=1):
                assert not torch.equal(subject.logits(batch), plain)
            torch.testing.assert_close(subject.logits(batch), plain)
        assert subject.logits(batch).requires_grad  # a gradient needs its own way forth


@torch.no_grad()
def test_a_layer_is_looked_into_once_and_its_trace_is_the_same(subject, monkeypatch):
    batch, other = subject.encode(TEXTS), subject.encode(["two", "of a film", "the wonderful film"])
    plain, beside = subject.trace(batch), subject.trace(other)
    looks, see = [], subject.last.see
    monkeypatch.setattr(
        subject.last, "see", lambda inputs: looks.append(len(inputs["input_ids"])) or see(inputs)
    )
    with remembering(subject):
        for own, given in ((batch, plain), (other, beside), (batch, plain)):
            found = subject.trace(own)
            torch.testing.assert_close(found.weights, given.weights)
            torch.testing.assert_close(found.values, given.values)
            torch.testing.assert_close(found.logits(found.weights), given.logits(given.weights))
        assert sum(looks) == 3 + 1
        with dropping(subject, seed=1):
            subject.trace(batch)
        assert sum(looks) == 3 + 1 + len(TEXTS)


@torch.no_grad()
def test_memory_is_bounded(subject, monkeypatch):
    monkeypatch.setattr(remembered, "MOST", 2)
    with remembering(subject):
        for text in TEXTS:
            subject.logits(subject.encode([text]))
            assert len(subject.remembered.known) <= 3
        monkeypatch.setattr(remembered, "BYTES", 1)
        for text in TEXTS:
            subject.trace(subject.encode([text]))
            assert len(subject.remembered.layers) == 1


def test_other_subjects_are_left_alone():
    with remembering(object()):
        pass
