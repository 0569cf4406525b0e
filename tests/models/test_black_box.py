"""A black box as a subject: it answers texts, says what it cannot give, and lies about nothing."""

import numpy as np
import pytest
import torch

from heedful.errors import UserError
from heedful.models.black_box import BlackBox
from heedful.models.subject import Subject, gives, why_not
from heedful.models.trace import decisions, probabilities
from heedful.models.word_attention import word_attention, words_read
from heedful.trials.erasure.rereading import Reader

CLASSES = ("bad", "good", "mixed")


def count_words(texts):
    """Probabilities by how often "good" and "bad" are said."""
    votes = np.array([[text.count("bad"), text.count("good"), 0.5] for text in texts])
    shares = np.exp(votes)
    return shares / shares.sum(1, keepdims=True)


def test_it_answers_what_the_function_answers():
    subject = BlackBox(count_words, classes=CLASSES)
    assert isinstance(subject, Subject)
    texts = ["good, good film", "a bad one", "so"]
    logits = subject.logits(subject.encode(texts))
    np.testing.assert_allclose(probabilities(logits).numpy(), count_words(texts), rtol=1e-12)
    assert decisions(logits).tolist() == [1, 0, 2]


def test_words_are_deleted_from_the_text_that_the_function_reads():
    asked = []

    def predict(texts):
        asked.extend(texts)
        return count_words(texts)

    subject = BlackBox(predict, classes=CLASSES)
    reader = Reader(subject, subject.encode(["good, bad  film"]))
    alone = reader.each_out()
    assert set(asked) == {"good, bad  film", ", bad  film", "good bad  film", "good, film", "good, bad"}
    assert decisions(alone)[0].tolist() == [0, 0, 1, 0]


def test_equal_texts_are_asked_once():
    sizes = []

    def predict(texts):
        sizes.append(len(texts))
        return count_words(texts)

    subject = BlackBox(predict, classes=CLASSES)
    assert len(subject.logits(subject.encode(["good", "bad", "good"]))) == 3
    assert sizes == [2]


def test_one_number_a_text_is_the_second_classs_probability():
    subject = BlackBox(lambda texts: [0.25 for _ in texts], classes=("no", "yes"))
    shares = probabilities(subject.logits(subject.encode(["a", "b c"])))
    torch.testing.assert_close(shares, torch.tensor([[0.75, 0.25]] * 2, dtype=torch.float64))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([[0.5, 0.5]], "gave \\(1, 2\\)"),
        ([[0.5, 0.5, 0.5]], "add up to 1"),
        ([[1.5, -0.5, 0.0]], "add up to 1"),
        ([[np.nan, 0.5, 0.5]], "add up to 1"),
    ],
)
def test_answers_that_are_no_probabilities_are_refused(given, said):
    subject = BlackBox(lambda texts: given, classes=CLASSES)
    with pytest.raises(UserError, match=said):
        subject.logits(subject.encode(["film"]))


def test_what_it_cannot_give_is_said_and_refused():
    subject = BlackBox(count_words, classes=CLASSES)
    batch = subject.encode(["a film", "good"])
    for what in ("embed", "trace", "attention"):
        assert not gives(subject, what)
        assert "black box" in why_not(subject, what)
    for ask in (subject.embed, subject.trace, lambda batch: word_attention(subject, batch)):
        with pytest.raises(UserError, match="black box"):
            ask(batch)
    assert torch.equal(words_read(subject, batch), batch.mask)


def test_what_is_no_table_of_numbers_gets_one_sentence():
    box = BlackBox(lambda texts: [["good"] for _ in texts], classes=("bad", "good"))
    with pytest.raises(UserError, match="no table of numbers"):
        box.logits(box.encode(["a film"]))
