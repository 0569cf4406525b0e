"""Scores of words: global, local, of every model that has them; and average attention weights."""

import numpy as np
import pytest
import torch

from heedful.data.batches import make_batch
from heedful.errors import UserError
from heedful.understanding.forms import paper_form
from heedful.understanding.token_types import find_types
from heedful.understanding.word_scoring import instance_scores, local_scores, token_scores

MIXING = ({"encoder": "lstm"}, {"encoder": "bigru", "hidden": 6}, {"encoder": "conv", "hidden": 6})
ALONE = (
    {},
    {"encoder": "affine"},
    {"encoder": "average"},
    {"attention": "cosine"},
    {"normaliser": "sparsemax"},
)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["dp", "dp-a", "ad"])
def test_scores_are_those_of_the_papers_letters(model, name, classes):
    made = model(name, classes=classes)
    found, form = token_scores(made), paper_form(made)
    assert found.polarity.shape == (23, 1 if classes == 2 else 3)
    np.testing.assert_allclose(found.polarity[1:], form.polarity[1:].numpy(), rtol=1e-12)
    np.testing.assert_allclose(found.attention[1:], form.attention[1:].numpy(), rtol=1e-12)
    assert np.isnan(found.attention[0])


@pytest.mark.parametrize("changes", ALONE)
def test_where_words_are_read_alone_local_and_global_scores_are_one(model, texts, changes):
    made, encoded = model("dp", **changes), texts()
    whole, local = token_scores(made), local_scores(made, encoded)
    seen = np.flatnonzero(local.counts)
    assert seen.tolist() == sorted(set(encoded.ids.tolist()))
    np.testing.assert_allclose(local.polarity[seen], whole.polarity[seen], rtol=1e-10)
    np.testing.assert_allclose(local.attention[seen], whole.attention[seen], rtol=1e-10)
    assert np.isnan(local.attention[local.counts == 0]).all()


@pytest.mark.parametrize("changes", MIXING)
def test_global_scores_are_of_a_word_fed_alone_and_local_ones_of_its_places(model, texts, changes):
    made, encoded = model("dp", **changes), texts()
    whole, local = token_scores(made), local_scores(made, encoded)
    word = 9
    with torch.no_grad():
        alone = texts([[word]])
        batch = make_batch(alone, [0])
        states, mask = made.states(made.embed(batch), batch)
        assert whole.attention[word] == pytest.approx(made.attend(states, mask).scores.item())
        assert whole.polarity[word, 0] == pytest.approx(made.decide(states[0, 0]).item())
        attention, polarity, weights = [], [], []
        for row in range(len(encoded)):
            batch = make_batch(encoded, [row])
            states, mask = made.states(made.embed(batch), batch)
            attended = made.attend(states, mask)
            for place in np.flatnonzero(encoded.row(row) == word):
                attention.append(attended.scores[0, place].item())
                weights.append(attended.weights[0, place].item())
                polarity.append(made.decide(states[0, place]).item())
    assert len(attention) == 3
    assert local.attention[word] == pytest.approx(np.mean(attention))
    assert local.polarity[word, 0] == pytest.approx(np.mean(polarity))
    assert local.weights[word] == pytest.approx(np.mean(weights))
    assert abs(local.attention[word] - whole.attention[word]) > 1e-6


def test_average_weights_of_a_split_add_up_to_one_a_text(model, texts):
    found = local_scores(model("ad"), texts())
    assert np.nansum(found.weights * found.counts) == pytest.approx(7)


def test_a_heads_bias_is_in_no_score(model, texts):
    made = model("dp", classes=3, head_bias=True)
    scores = token_scores(made)
    np.testing.assert_allclose(
        scores.polarity[1:], (made.embedding.weight @ made.head.weight.T).detach()[1:].numpy(), rtol=1e-12
    )
    instances = instance_scores(made, texts(classes=3))
    one = texts([[4]], classes=3)
    np.testing.assert_allclose(
        instances.polarity[1], scores.polarity[4], rtol=1e-10
    )  # text 1 is word 4 alone
    np.testing.assert_allclose(instance_scores(made, one).polarity[0], scores.polarity[4], rtol=1e-10)
    assert instances.to_frame().columns.tolist() == [
        "polarity class 0",
        "polarity class 1",
        "polarity class 2",
        "label",
        "words",
    ]


def test_uniform_attention_scores_every_word_alike_and_frozen_attention_none(model):
    assert not token_scores(model("dp", control="uniform")).attention[1:].any()
    with pytest.raises(UserError, match="given from outside"):
        token_scores(model("dp", control="frozen"))


def test_a_hierarchical_model_is_refused(model):
    with pytest.raises(UserError, match="flat models"):
        token_scores(model("han-noenc"))


def test_scoring_leaves_the_model_in_its_mode_and_without_dropout(model):
    made = model("dp")
    made.words.dropout.p = 0.9
    made.train()
    expected = token_scores(made).attention
    assert made.training
    np.testing.assert_array_equal(token_scores(made.eval()).attention, expected)


def test_some_words_may_be_asked_for_and_come_in_their_order(model):
    made = model("dp")
    some = token_scores(made, ids=[7, 0, 3])
    assert some.words == ("w05", "<pad>", "w01")
    whole = token_scores(made)
    np.testing.assert_array_equal(some.attention, whole.attention[[7, 0, 3]])


def test_frames_list_words_with_scores_and_highest_sorts_them(model, texts):
    made, encoded = model("dp"), texts()
    scores = token_scores(made)
    types = find_types(encoded, made.vocabulary, classes=made.classes)
    frame = scores.to_frame(types)
    assert len(frame) == 22
    assert {"word", "count", "polarity", "attention", "type"} <= set(frame.columns)
    top = scores.highest("attention", 3)
    assert top["attention"].is_monotonic_decreasing
    assert top["attention"][0] == np.nanmax(scores.attention)
    assert scores.highest("polarity", 1, least=True)["polarity"][0] == np.nanmin(scores.polarity)
    with pytest.raises(UserError, match="score"):
        scores.highest("atention")
    told = scores.by_type(types)
    assert set(told["type"]) == {"negative", "positive", "neutral"}


@pytest.mark.slow
def test_a_pretrained_encoder_has_local_and_global_scores(tmp_path):
    pytest.importorskip("transformers", reason="the extra hf is not installed")
    from heedful.data.encoded import encode_texts
    from heedful.data.vocabulary import Vocabulary
    from heedful.models import ModelSettings, build_model

    folder = tiny_encoder(tmp_path)
    vocabulary = Vocabulary.build(["good", "film", "bad", "\u200b"])
    made = build_model(
        ModelSettings(encoder="pretrained", pretrained=folder), vocabulary, ("no", "yes"), seed=3
    )
    whole = token_scores(made)
    assert np.isnan(whole.attention[[0, vocabulary.ids(["\u200b"])[0]]]).all()
    good, bad = vocabulary.ids(["good", "bad"])
    assert whole.attention[good] != whole.attention[bad]
    encoded = encode_texts(["good film", "bad film film"], [1, 0], vocabulary, keep_texts=True)
    local = local_scores(made, encoded)
    assert local.counts[vocabulary.ids(["film"])[0]] == 3
    assert not np.isclose(local.attention[good], whole.attention[good])


def tiny_encoder(folder):
    """A BERT of a few numbers, saved as Hugging Face does."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "film", "bad"]
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=12,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=13,
        initializer_range=0.5,
    )
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return str(folder)


@pytest.mark.slow
def test_sixty_thousand_words_are_scored_in_under_a_second():
    import time

    from heedful.data.vocabulary import Vocabulary
    from heedful.models import MODELS, build_model

    vocabulary = Vocabulary.build(f"w{number}" for number in range(63_000))
    made = build_model(MODELS["dp"], vocabulary, ("no", "yes"))
    token_scores(made)
    best = min(_seconds(lambda: token_scores(made), time.perf_counter) for _ in range(5))
    assert best < 1


def _seconds(run, clock):
    begun = clock()
    run()
    return clock() - begun
