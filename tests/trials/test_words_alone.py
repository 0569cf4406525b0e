"""Words read alone: against reading one-word texts, and what counts as a word that suffices."""

import numpy as np
import pytest
import torch

from heedful.data.vocabulary import Vocabulary
from heedful.models.building import build_model
from heedful.models.settings import ModelSettings
from heedful.models.trace import decisions
from heedful.trials.erasure import words_alone
from heedful.trials.erasure.rereading import Reader
from heedful.trials.erasure.words_alone import WordsAlone, read_alone

TEXTS = ["good film", "a bad dull film indeed", "good"]


def model(encoder="none"):
    words = Vocabulary.build(sorted({word for text in TEXTS for word in text.split()}))
    settings = ModelSettings(embedding=8, hidden=8, encoder=encoder, attention="dot", head="logits")
    return build_model(settings, words, ("no", "yes", "perhaps"), seed=3)


@pytest.mark.parametrize("encoder", ["none", "bilstm"])
def test_it_is_what_the_model_says_of_each_word(encoder):
    subject = model(encoder)
    found = read_alone(Reader(subject, subject.encode(TEXTS)))
    for row, text in enumerate(TEXTS):
        with torch.no_grad():
            decided = int(decisions(subject.logits(subject.encode([text])))[0])
            alone = subject.logits(subject.encode(text.split()))
            nothing = subject.logits(subject.encode(["neverheard"])).softmax(-1)[0, decided]
            whole = subject.logits(subject.encode([text])).softmax(-1)[0, decided]
        count = len(text.split())
        np.testing.assert_allclose(found.said[row, :count], alone.softmax(-1)[:, decided], atol=1e-6)
        np.testing.assert_allclose(found.said[row, count:], nothing, atol=1e-6)  # padding says nothing
        assert not found.effects[row, count:].any()
        assert found.nothing[row] == pytest.approx(float(nothing), abs=1e-6)
        assert found.whole[row] == pytest.approx(float(whole), abs=1e-6)
        assert found.kept[row] == pytest.approx((decisions(alone) == decided).double().mean().item())


def by_hand(said, nothing, whole):
    said, nothing, whole = (torch.tensor(part, dtype=torch.float64) for part in (said, nothing, whole))
    return WordsAlone(said, nothing, whole, torch.zeros(len(said)))


def test_a_word_suffices_that_says_half_of_what_all_do():
    found = by_hand([[0.75, 0.5], [0.7499, 0.5], [0.5, 0.5], [0.25, 0.5]], [0.5] * 4, [1.0, 1.0, 0.5, 1.0])
    assert found.suffice.tolist() == [True, False, False, False]
    # Where all words say next to nothing there is nothing to suffice for.
    assert by_hand([[0.5625]], [0.5], [0.5499]).suffice.tolist() == [False]
    assert by_hand([[0.5625]], [0.5], [0.5501]).suffice.tolist() == [True]


def test_live_words_say_a_quarter_of_the_strongest_for_or_against():
    found = by_hand([[1.0, 0.625, 0.375, 0.6249, 0.5]], [0.5], [1.0])
    assert found.live.tolist() == [[True, True, True, False, False]]
    assert not by_hand([[0.5, 0.5]], [0.5], [1.0]).live.any()


def test_some_of_the_texts():
    found = by_hand([[1.0, 0.5], [0.5, 1.0]], [0.5, 0.25], [1.0, 0.75]).take(np.array([1]))
    assert found.said.tolist() == [[0.5, 1.0]]
    assert (found.nothing.tolist(), found.whole.tolist()) == ([0.25], [0.75])


@pytest.mark.parametrize("encoder", ["none", "bilstm"])
def test_words_of_a_long_text_are_read_some_at_a_time_alike(monkeypatch, encoder):
    subject = model(encoder)
    reader = Reader(subject, subject.encode(TEXTS))
    whole = read_alone(reader)
    monkeypatch.setattr(words_alone, "MASKS", 10)
    asked = []
    variants = reader.variants
    monkeypatch.setattr(reader, "variants", lambda of, gone: asked.append(gone.shape) or variants(of, gone))
    parts = read_alone(reader)
    assert asked == [(1, 2, 5), (1, 2, 5), (1, 1, 5)] * 3
    for name in ("said", "nothing", "whole", "kept"):
        torch.testing.assert_close(getattr(parts, name), getattr(whole, name), atol=1e-7, rtol=0)
