"""What is done for speed changes no result: cheap noise, sentences in blocks."""

import pytest
import torch
from torch import nn

from heedful.data.vocabulary import Vocabulary
from heedful.models import MODELS, build_model
from heedful.models.dropout import Dropout
from heedful.models.grouping import gather_blocks, group_sentences


@pytest.mark.parametrize("rate", [0.2, 0.5, 0.7])
def test_dropout_drops_its_share_and_keeps_the_mean(rate):
    torch.manual_seed(3)
    kept = Dropout(rate).train()(torch.ones(401, 503))
    assert float((kept == 0).float().mean()) == pytest.approx(rate, abs=0.01)
    assert float(kept.mean()) == pytest.approx(1, abs=0.02)
    assert len(kept.unique()) == 2


def test_dropout_follows_the_seed_and_sleeps_in_evaluation():
    layer, ones = Dropout(0.5).train(), torch.ones(7, 11)
    draws = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        draws.append(layer(ones))
    assert draws[0].equal(draws[1])
    assert not draws[0].equal(draws[2])
    assert layer.eval()(ones).equal(ones)
    assert isinstance(layer, nn.Dropout)


def test_blocks_of_like_lengths_hold_every_sentence_once_and_little_padding():
    draw = torch.Generator().manual_seed(5)
    sentences = torch.stack(
        [
            torch.repeat_interleave(torch.arange(400), torch.randint(1, 60, (400,), generator=draw))[:997]
            for _ in range(13)
        ]
    )
    whole = group_sentences(sentences, torch.ones_like(sentences, dtype=torch.bool))
    numbers, blocks = zip(*whole.of_like_lengths(), strict=True)
    assert torch.cat(numbers).sort().values.equal(torch.arange(len(whole.mask)))
    places = sum(block.mask.numel() for block in blocks)
    assert sum(int(block.mask.sum()) for block in blocks) == int(whole.mask.sum()) == 13 * 997
    assert places < 1.2 * 13 * 997 < whole.mask.numel()
    vectors = torch.randn(13, 997, 3, generator=draw)
    for some, block, given in zip(numbers, blocks, gather_blocks(vectors, blocks), strict=True):
        assert given.equal(whole.gather(vectors)[some, : given.shape[1]])
        assert block.text.equal(whole.text[some])


@pytest.mark.parametrize("name", ["han-rnn", "han-conv", "han-noenc"])
def test_a_hierarchical_model_decides_in_blocks_as_in_one(name):
    words = ["a", "dull", "film", "with", "one", "very", "good", "scene", "and", "an", "end"]
    model = build_model(MODELS[name], Vocabulary.build(words), ("bad", "fair", "good"), seed=7)
    texts = [" ".join(words[: 1 + n % 7]) + ". " + " ".join(words * (1 + n % 5)) + "." for n in range(37)]
    batch = model.encode(texts)
    states, sentences = model.states(model.embed(batch), batch)
    vectors = sentences.spread(model.attend(states, sentences).context)
    in_one = model.from_sentences(vectors, sentences.present)
    assert len(list(sentences.of_like_lengths())) > 1
    torch.testing.assert_close(model.logits(batch), in_one)
