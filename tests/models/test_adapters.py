"""Anybody's attention model as a subject: the decision, the trace and the words are its own."""

import pytest
import torch
from torch import nn

from heedful.data.batches import Batch
from heedful.errors import UserError
from heedful.models.adapters import ModuleSubject
from heedful.models.subject import Subject

WORDS = {f"w{number}": 100 - number for number in range(29)}


class Theirs(nn.Module):
    """A model that is not ours: a GRU, attention in several heads, and a small network as its head."""

    def __init__(self, heads=3):
        super().__init__()
        self.table = nn.Embedding(101, 7)
        self.encoder = nn.GRU(7, 5, batch_first=True)
        self.score = nn.Linear(5, heads)
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(5 * heads, 11), nn.Tanh(), nn.Linear(11, 2))

    def attend(self, vectors, mask):
        states = self.encoder(vectors)[0]
        scores = self.score(states).transpose(1, 2).masked_fill(~mask[:, None], -torch.inf)
        return scores.softmax(-1), states[:, None].expand(-1, scores.shape[1], -1, -1)

    def forward(self, ids, mask):
        weights, values = self.attend(self.table(ids), mask)
        return self.classifier((weights[..., None] * values).sum(2))


@pytest.fixture
def theirs():
    torch.manual_seed(0)
    return Theirs()


def subject_of(theirs, **changes):
    parts = {"embed": theirs.table, "attend": theirs.attend, "head": theirs.classifier, "unknown": 0}
    return ModuleSubject(classes=("no", "yes"), words=WORDS, **{**parts, **changes})


def test_it_decides_as_the_model_itself(theirs):
    subject = subject_of(theirs)
    assert isinstance(subject, Subject)
    batch = subject.encode(["w1 w4 w28 unheard", "w3"])
    assert isinstance(batch, Batch)
    expected = theirs(torch.tensor([[99, 96, 72, 0], [97, 0, 0, 0]]), batch.mask)
    torch.testing.assert_close(subject.logits(batch), expected)
    torch.testing.assert_close(subject.trace(batch).logits(), expected.detach())


def test_one_row_of_weights_and_a_linear_head_keep_their_closed_forms(theirs):
    def attend(vectors, mask):
        scores = vectors.sum(-1).masked_fill(~mask, -torch.inf)
        return scores.softmax(-1), vectors

    subject = subject_of(theirs, attend=attend, head=nn.Linear(7, 2), mixes_tokens=False)
    trace = subject.trace(subject.encode(["w1 w2 w5", "w3 w3"]))
    assert trace.linear is not None
    assert trace.items.tolist() == [[0, 1, 2], [0, 1, -1]]


def test_an_unknown_word_is_refused_where_the_model_has_none(theirs):
    with pytest.raises(UserError, match="'unheard'"):
        subject_of(theirs, unknown=None).encode(["w1 unheard"])
