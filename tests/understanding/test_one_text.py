"""One text as a model reads it: words painted where they stand, weights that sum to 1, polarity by hand."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from heedful.data.batches import Batch
from heedful.data.vocabulary import Vocabulary
from heedful.data.words import Words
from heedful.errors import UserError
from heedful.models import MODELS, ModelSettings, Trace, build_model
from heedful.understanding import read_text as explain

WORDS = ("a", "good", "bad", "film", "istanbul", "i", "and", "very")
TEXT = "A GOOD film, “and” (very) bad?  İstanbul!\nZebra & <b>film</b>…"
SMALL = {"embedding": 6, "hidden": 6, "attention_width": 6, "embedding_source": "uniform"}


def make(settings: ModelSettings, classes=("no", "yes"), seed=3):
    return build_model(settings, Vocabulary.build(WORDS), classes, seed=seed)


def named(name: str) -> ModelSettings:
    return replace(MODELS[name], **SMALL)


@pytest.mark.parametrize("classes", [("no", "yes"), ("bad", "fair", "good")], ids=["two", "three"])
@pytest.mark.parametrize("name", MODELS)
def test_every_word_is_painted_where_it_stands_and_weights_sum_to_one(name, classes):
    reading = explain(make(named(name), classes), TEXT)
    assert [TEXT[word.start : word.end] for word in reading.words] == [
        *["A", "GOOD", "film", "and", "very", "bad", "İstanbul", "Zebra", "b", "film", "b"]
    ]
    assert [word.start for word in reading.words] == sorted(word.start for word in reading.words)
    assert sum(word.attention for word in reading.words) == pytest.approx(1, abs=1e-5)
    assert all(word.read for word in reading.words)
    assert reading.probability == max(reading.probabilities.values())
    assert reading.probabilities[reading.decision] == reading.probability
    assert sum(reading.probabilities.values()) == pytest.approx(1, abs=1e-6)
    assert (reading.unread, reading.read_to) == (0, len(TEXT))


def test_attention_and_polarity_of_dp_by_hand():
    """α is the softmax of eᵀV/λ, and the polarity of a word eᵀW, turned towards the decision (Eq. 1 to 7)."""
    model = make(named("dp"))
    reading = explain(model, "good film bad film")
    ids = model.vocabulary.ids(["good", "film", "bad", "film"]).tolist()
    vectors = model.embedding.weight.detach().double()[ids]
    scores = vectors @ model.context_vector.detach().double() / 10
    says = vectors @ model.head_vector.detach().double()
    towards = 1 if float((scores.softmax(0) * says).sum()) > 0 else -1
    assert [word.attention for word in reading.words] == pytest.approx(scores.softmax(0).tolist(), abs=1e-6)
    assert [word.polarity for word in reading.words] == pytest.approx((towards * says).tolist(), abs=1e-6)
    assert reading.decision == ("yes" if towards == 1 else "no")


def test_polarity_among_several_classes_is_the_margin_over_the_strongest_other():
    model = make(named("dp"), ("bad", "fair", "good"))
    reading = explain(model, "good film")
    vectors = model.embedding.weight.detach()[model.vocabulary.ids(["good", "film"]).tolist()]
    logits = vectors @ model.head.weight.detach().T  # (2, 3)
    decided = ("bad", "fair", "good").index(reading.decision)
    others = [column for column in range(3) if column != decided]
    expected = logits[:, decided] - logits[:, others].max(1).values
    assert [word.polarity for word in reading.words] == pytest.approx(expected.tolist(), abs=1e-6)


def test_in_a_hierarchy_attention_is_the_product_and_polarity_the_sentences():
    model = make(named("han-noenc"))
    text = "A good film. Very bad! And a film"
    reading = explain(model, text)
    batch = model.encode([text])
    over_sentences = model.trace(batch).weights[0]  # (3,)
    within = model.trace(batch, "words").weights[0]  # (3, 3)
    sentence = [0, 0, 0, 1, 1, 2, 2, 2]
    place = [0, 1, 2, 0, 1, 0, 1, 2]
    expected = [float(over_sentences[s] * within[s, p]) for s, p in zip(sentence, place, strict=True)]
    assert [word.attention for word in reading.words] == pytest.approx(expected, abs=1e-6)
    polarity = [word.polarity for word in reading.words]
    assert len(set(polarity[:3])) == len(set(polarity[3:5])) == len(set(polarity[5:])) == 1
    assert len({polarity[0], polarity[3], polarity[5]}) == 3


def test_unknown_words_are_said_to_be_unknown():
    reading = explain(make(named("dp")), TEXT)
    unknown = [word.word for word in reading.words if not word.known]
    assert unknown == ["i̇stanbul", "zebra", "b", "b"]


@pytest.mark.parametrize("name", ["dp", "flan-rnn", "han-conv"])
def test_words_beyond_the_limit_are_unread_and_counted(name):
    model = make(replace(named(name), max_length=3))
    reading = explain(model, "A good film. And bad, very bad.")
    assert [word.word for word in reading.words] == ["a", "good", "film"]
    assert reading.unread == 4
    assert "A good film. And bad, very bad."[: reading.read_to] == "A good film"
    assert sum(word.attention for word in reading.words) == pytest.approx(1, abs=1e-5)
    shown = reading._repr_html_()
    assert '<span style="opacity: 0.4" title="not read">. And bad, very bad.</span>' in shown


@pytest.mark.parametrize("text", ["", "  \n", "…?!"])
def test_a_text_without_a_word_is_refused(text):
    with pytest.raises(UserError, match="word"):
        explain(make(named("dp")), text)


def test_html_shows_the_text_and_never_runs_it():
    model = make(named("dp"), ("<i>no", "<i>yes"))
    text = "good <script>alert('film')</script> & bad"
    shown = explain(model, text)._repr_html_()
    assert "<script" not in shown
    assert "<i>" not in shown
    assert "&lt;" in shown
    assert "&amp;" in shown
    bare = [part.split(">", 1)[-1] for part in shown.split("<")]
    import html

    assert html.unescape("".join(bare)).endswith(text)


def test_html_marks_unknown_words():
    shown = explain(make(named("dp")), "good zebra")._repr_html_()
    assert shown.count("unknown word") == 1
    assert "underline" in shown


def test_a_reading_is_plain_data():
    reading = explain(make(named("dp")), TEXT)
    again = json.loads(json.dumps(reading.to_dict()))
    assert again["schema"] == 2
    assert again["words"][1]["word"] == "good"
    frame = reading.to_frame()
    assert list(frame["attention"]) == [word.attention for word in reading.words]


class Stranger:
    """A subject that is none of ours: two heads, a head that is not linear, sub-words and a [CLS]."""

    classes = ("no", "yes")
    mixes_tokens = True

    def encode(self, texts):
        forms = texts[0].split()
        ends = np.cumsum([len(form) + 1 for form in forms]) - 1
        words = Words(texts[0], forms, ends - [len(form) for form in forms], ends)
        ids = torch.arange(2, 2 + len(forms))[None]
        return Batch(ids, torch.ones_like(ids, dtype=torch.bool), None, np.arange(1), words=[words])

    def embed(self, batch):
        raise NotImplementedError

    def logits(self, batch, embedded=None):
        return torch.tensor([[0.3]])

    def trace(self, batch, level="final"):
        # [CLS], two pieces of the first word, the second word; the third is not read.
        items = torch.tensor([[-1, 0, 0, 1]])
        if self.heads == 1:
            return Trace(self.weights[:, 0], torch.ones(1, 4, 3), items > -2, torch.nn.Linear(3, 1), items)
        items = items[:, None].expand(1, 2, 4)
        head = torch.nn.Sequential(torch.nn.Flatten(1), torch.nn.Linear(6, 1))
        return Trace(self.weights, torch.ones(1, 2, 4, 3), items > -2, head, items)

    weights = torch.tensor([[[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.1, 0.3]]])
    heads = 2


def test_another_subject_with_heads_and_pieces_is_read_by_words():
    reading = explain(Stranger(), "unbelievable good film")
    assert [word.word for word in reading.words] == ["unbelievable", "good"]
    assert [word.attention for word in reading.words] == pytest.approx([0.35, 0.35])
    assert [word.polarity for word in reading.words] == [None, None]
    assert (reading.unread, reading.read_to) == (1, len("unbelievable good"))


def test_the_polarity_of_a_word_in_pieces_is_their_mean():
    stranger = Stranger()
    stranger.heads = 1
    first, second = explain(stranger, "unbelievable good film").words
    assert first.attention == pytest.approx(0.5)
    assert first.polarity == pytest.approx(second.polarity)  # all values are alike
