"""`bahdanau`, `luong` and `multihead` on pairs of sentences: what their outcome holds, and their pictures."""

import json

import pytest
import torch
from made_data import write_translations
from matplotlib.figure import Figure

from heedful.attention import MultiHead
from heedful.gallery import entry
from heedful.gallery.translating import Source
from heedful.gallery.translating_luong import FEEDING, OTHER, SAME
from heedful.gallery.translating_multihead import GRU, Layer, placed


@pytest.mark.parametrize("name", ["bahdanau", "luong", "multihead"])
def test_a_real_translation_has_equal_models_a_yardstick_and_a_picture(name, tmp_path):
    write_translations(tmp_path)
    real = entry(name).real
    outcome = real.train(0, "small", tmp_path, "cpu")
    assert abs(outcome.parameters / outcome.baseline_parameters - 1) < 0.01
    assert outcome.yardstick == outcome.table["lexicon: BLEU, all"]
    assert 0 < outcome.yardstick < 60  # the verb stands elsewhere
    model = {"bahdanau": "attention", "luong": "dot", "multihead": "4 heads"}[name]
    assert outcome.figure == outcome.table[f"{model}: BLEU, all"]
    assert outcome.figure > outcome.yardstick
    assert outcome.table[f"{model}: perplexity, all"] > 1
    if name == "luong":
        assert {f"{FEEDING}: BLEU over dot, {group}" for group in ("all", OTHER)} <= set(outcome.table)
        assert f"dot: BLEU, {SAME}" not in outcome.table  # no sentence has the same order here
    if name == "multihead":
        assert abs(outcome.table[f"{GRU}: parameters"] / outcome.parameters - 1) < 0.02
    assert json.loads(json.dumps(outcome.picture)) == outcome.picture
    figure = Figure()
    real.draw([outcome, outcome], figure)
    figure.savefig(tmp_path / "a.png")


@pytest.mark.parametrize("heads", [1, 2, 4, 8])
def test_a_layers_attention_agrees_with_torchs_own_given_the_same_weights(heads):
    torch.manual_seed(0)
    layer = Layer(16, heads, drop=0.0, reads=True)
    words, states = torch.randn(3, 5, 16), torch.randn(3, 7, 16)
    there = torch.arange(7) < torch.tensor([[7], [4], [1]])
    earlier = torch.ones(5, 5, dtype=torch.bool).tril()
    for ours, keys, mask, theirs_mask in (
        (layer.each_other, words, earlier.expand(3, -1, -1), {"attn_mask": ~earlier}),
        (layer.source, states, there, {"key_padding_mask": ~there}),
    ):
        theirs = torch.nn.MultiheadAttention(16, heads, batch_first=True)
        copied = MultiHead.from_torch(theirs)
        ours.load_state_dict(copied.state_dict())
        attended = ours(keys, mask, query=words)
        context, weights = theirs(words, keys, keys, average_attn_weights=False, **theirs_mask)
        torch.testing.assert_close(attended.context, context)
        torch.testing.assert_close(attended.weights, weights)


def test_a_word_is_not_told_what_follows_it():
    torch.manual_seed(0)
    layer = Layer(16, 4, drop=0.0, reads=True)
    source = Source(torch.randn(1, 3, 16), torch.randn(1, 16), torch.ones(1, 3, dtype=torch.bool))
    words = torch.randn(1, 5, 16)
    other = words.clone()
    other[:, 3:] = torch.randn(1, 2, 16)
    mask = torch.ones(5, 5, dtype=torch.bool).tril().unsqueeze(0)
    first, second = (layer(some, mask, source)[0] for some in (words, other))
    torch.testing.assert_close(first[:, :3], second[:, :3])
    assert not torch.allclose(first[:, 3:], second[:, 3:])


def test_places_tell_equal_words_apart():
    words = torch.zeros(1, 9, 16)
    seen = placed(words)[0]
    distances = torch.cdist(seen, seen) + torch.eye(9)
    assert distances.min() > 0.1
