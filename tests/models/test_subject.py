"""What a subject gives: asked before it is needed, with the reason where it does not."""

import pytest
import torch

from heedful.data.vocabulary import Vocabulary
from heedful.errors import UserError
from heedful.models import MODELS, build_model
from heedful.models.subject import gives, why_not
from heedful.models.word_attention import word_attention, words_read


@pytest.fixture
def model():
    return build_model(MODELS["dp"], Vocabulary.build(["a", "dull", "film"]), ("no", "yes"))


class Looked:
    """A subject with attention to look at, and no layer that could be run by itself."""

    def __init__(self, model):
        self.model, self.cannot = model, {"trace": "its last layer cannot be run alone"}

    def trace(self, batch, level="final"):
        raise AssertionError("this was not to be asked")

    def word_attention(self, batch):
        return batch.mask / batch.mask.sum(1, keepdim=True), torch.ones_like(batch.mask)


def test_our_models_give_everything(model):
    assert all(gives(model, what) for what in ("embed", "trace", "attention"))


def test_a_subject_with_its_own_attention_needs_no_trace(model):
    subject = Looked(model)
    batch = model.encode(["a dull film", "dull"])
    assert why_not(subject, "trace") == "its last layer cannot be run alone"
    assert not gives(subject, "embed")
    assert gives(subject, "attention")
    weights, read = word_attention(subject, batch)
    assert weights.tolist() == [[pytest.approx(1 / 3)] * 3, [1, 0, 0]]
    assert torch.equal(read, batch.mask)
    assert torch.equal(words_read(subject, batch), batch.mask)


def test_attention_without_trace_or_method_is_refused_with_the_reason(model):
    subject = type("Silent", (), {"cannot": {"trace": "it was never built"}})()
    assert not gives(subject, "attention")
    with pytest.raises(UserError, match="it was never built"):
        word_attention(subject, model.encode(["film"]))
