"""The layer of self-attention and its trace: the same model, and erasure as a mask on what is read."""

import pytest
import torch

from heedful.data.vocabulary import Vocabulary
from heedful.errors import UserError
from heedful.models import ModelSettings, build_model

TEXTS = ["a good film with a dull end", "dull", "a good end", "the film is a film"]
SETTINGS = ModelSettings(
    embedding=5, encoder="self-attention", hidden=12, attention="additive", head="logits"
)


@pytest.fixture(scope="module")
def model():
    vocabulary = Vocabulary.build(sorted(set(" ".join(TEXTS).split())))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return build_model(SETTINGS, vocabulary, ("no", "so-so", "yes")).eval().double()


def test_the_trace_of_the_lower_layer_gives_the_models_logits(model):
    batch = model.encode(TEXTS)
    trace = model.trace(batch, "encoder")
    assert trace.weights.shape == (4, 4 * 7, 7)
    torch.testing.assert_close(trace.logits(), model.logits(batch))
    assert trace.item_counts.tolist() == [7, 1, 3, 5]


def test_erasing_a_word_hides_it_from_all_heads_and_readers_and_leaves_it_its_own_state(model):
    batch = model.encode(TEXTS)
    erased = torch.zeros(4, 7, dtype=torch.bool)
    erased[:, 1] = True
    found = model.trace(batch, "encoder").logits(model.trace(batch, "encoder").erase(erased))
    encoder = model.words.encoder
    for row, length in ((0, 7), (2, 3), (3, 5)):
        words = encoder.project(model.embed(batch))[row : row + 1, :length]
        seen = torch.ones(1, length, dtype=torch.bool)
        seen[:, 1] = False
        states = words + encoder.attention(words, seen).context
        whole = torch.ones(1, length, dtype=torch.bool)
        torch.testing.assert_close(found[row], model.decide(model.attend(states, whole).context)[0])
    # The text of one word had nothing in that place.
    torch.testing.assert_close(found[1], model.logits(batch)[1])


def test_only_this_encoder_has_a_layer_below(model):
    plain = build_model(ModelSettings(embedding=5), model.vocabulary, ("no", "yes")).eval()
    with pytest.raises(UserError, match="attention level of a flat model"):
        plain.trace(plain.encode(TEXTS), "encoder")
    with pytest.raises(UserError, match="4 heads"):
        ModelSettings(encoder="self-attention", hidden=10)
