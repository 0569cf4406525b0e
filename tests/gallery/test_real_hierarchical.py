"""`hierarchical` on IMDB and Yelp: equal sizes, and an audit that tells honest attention at both levels."""

import random

import numpy as np
import pytest
import torch
from made_data import write_table
from matplotlib.figure import Figure

from heedful.data.vocabulary import Vocabulary
from heedful.gallery.both_levels import SentenceReader, audit_levels, foretold
from heedful.gallery.learning import parameters_of
from heedful.gallery.real_hierarchical import (
    BUDGETS,
    CORPORA,
    HAN,
    KINDS,
    REAL,
    changes,
    read_corpus,
    width_of,
)
from heedful.models import build_model
from heedful.training import prepare
from heedful.trials.erasure.rereading import Reader

WORDS = ["good", "bad", "film", "plot", "it", "was", "so", "long"]
TEXTS = [
    "It was good. The plot was so long. A film.",
    "So bad. It was it. The film was so so long.",
    "A plot. It was bad. It was so. Long film.",
]


def words_alone(attention="honest"):
    """A HAN without encoders that decides by good and bad, and attends to them, or to the word "so"."""
    settings, _ = prepare(
        "han-noenc", {"embedding": 2, "embedding_source": "uniform", "attention": "dot", "head": "score"}
    )
    model = build_model(settings, Vocabulary.build(WORDS), ("negative", "positive"))
    with torch.no_grad():
        model.embedding.weight.zero_()
        for word, says in (("good", 1.0), ("bad", -1.0)):
            model.embedding.weight[model.vocabulary.ids([word])[0], 0] = says
        marked = ("good", "bad") if attention == "honest" else ("so",)
        for word in marked:
            model.embedding.weight[model.vocabulary.ids([word])[0], 1] = 1.0
        for level in (model.words, model.sentences):
            for parameter in level.attention.parameters():
                parameter.copy_(torch.tensor([0.0, 3.0]).reshape(parameter.shape))
        model.head.weight.copy_(torch.tensor([[5.0, 0.0]]))
        if model.head.bias is not None:
            model.head.bias.zero_()
    return model


def test_honest_attention_has_skill_at_both_levels_and_misled_attention_has_not():
    turned = [". ".join(text.split(". ")[::-1]) for text in TEXTS]
    honest, misled = (
        audit_levels(words_alone(kind), [*TEXTS, *turned], most=80) for kind in ("honest", "misled")
    )
    for level in ("words", "sentences"):
        assert honest[f"heat-map skill of {level}"] > 0.7
        assert misled[f"heat-map skill of {level}"] < 0.3
        assert honest[f"heat-map skill of {level}"] > honest[f"heat-map skill of {level}, shuffled"]
        one = level.removesuffix("s")
        assert honest[f"the most attended {one} matters more than a random other"] == 1


def test_a_sentence_is_taken_out_with_all_its_words():
    model = words_alone()
    batch = model.encode(TEXTS[:2])
    reader = SentenceReader(model, batch)
    assert reader.batch.mask.sum(1).tolist() == [3, 3]
    gone = torch.zeros(2, 1, 3, dtype=torch.bool)
    gone[:, 0, 0] = True
    found = reader.variants(torch.arange(2), gone)
    wanted = model.logits(
        model.encode(["The plot was so long. A film.", "It was it. The film was so so long."])
    )
    torch.testing.assert_close(found[:, 0, 1].float(), wanted[:, 0], atol=1e-6, rtol=1e-5)


def test_a_map_of_equal_weights_has_no_skill_and_one_sentence_nothing_to_compare():
    model = words_alone()
    batch = model.encode([*TEXTS, "Good film"])
    reader = SentenceReader(model, batch)
    found = foretold(reader, reader.batch.mask.double(), first=0, most=80)
    assert len(found) == 3
    np.testing.assert_allclose(found[:, 0], found[:, 2])
    assert (found[:, 3] >= found[:, 2] - 1e-9).all()
    assert len(foretold(Reader(model, batch), batch.mask.double(), first=0, most=80)) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_all_models_have_as_many_parameters_besides_their_word_vectors(kind):
    classes = tuple("abcde")

    def size(kind):
        settings, _ = prepare(KINDS[kind]["model"], changes(kind, width=width_of(kind, classes)))
        model = build_model(settings, Vocabulary.build(["one"]), classes)
        return parameters_of(model) - parameters_of(model.embedding)

    assert abs(size(kind) / size(HAN) - 1) < 0.05


@pytest.fixture
def folder(tmp_path):
    """Reviews in which the word good, or bad, decides; the columns of the real files."""
    chance = random.Random(19)
    for name, file in CORPORA.items():
        labels = (
            ["negative", "positive"]
            if name == "imdb"
            else ["very negative", "negative", "neutral", "positive", "very positive"]
        )
        rows = []
        for number in range(400):
            label = chance.randrange(len(labels))
            filler = [" ".join(chance.choices(WORDS[2:], k=5)) for _ in range(3)]
            filler.insert(
                chance.randrange(4), f"it was {'good ' * label}{'bad ' * (len(labels) - 1 - label)}"
            )
            text = " ".join(f"{sentence.strip().capitalize()}." for sentence in filler)
            rows.append((text, labels[label], "train" if number % 4 else "test"))
        write_table(tmp_path / file, ("text", "label", "split"), rows)
    return tmp_path / "gallery"


def test_the_same_texts_are_taken_in_every_call_and_no_more_than_asked(folder):
    first, again = (read_corpus("imdb", folder, BUDGETS["small"]) for _ in range(2))
    assert first.texts == again.texts
    assert [int((first.splits == split).sum()) for split in ("train", "dev", "test")] <= [150, 50, 60]


@pytest.mark.slow
def test_the_small_size_trains_audits_and_is_drawn(folder):
    outcome = REAL.train(0, "small", folder, "cpu")
    assert abs(outcome.parameters / outcome.baseline_parameters - 1) < 0.05
    assert outcome.yardstick > 0.3
    for corpus in CORPORA:
        assert 0 <= outcome.table[f"{corpus}: decisions changed without the most attended sentence"] <= 1
    REAL.draw([outcome, outcome], Figure())
