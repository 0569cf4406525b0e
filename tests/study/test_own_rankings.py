"""Rankings that a user brings: arrays of scores and Captum's methods; faults are said in a sentence."""

import numpy as np
import pytest
import torch

from heedful.auditing.own_rankings import RowScores, captum_ranking, own_rankings
from heedful.data.vocabulary import Vocabulary
from heedful.errors import UserError
from heedful.models.building import build_model
from heedful.models.settings import ModelSettings
from heedful.trials.erasure.deletion import delete_words
from heedful.trials.erasure.rereading import Reader
from heedful.trials.rankings.word_gradients import gradient_times_input, integrated_gradients

TEXTS = ["w1 w4 w8 w1 w2", "w3 w5", "w7 w9 w11"]


@pytest.fixture(params=[{}, {"encoder": "bigru", "hidden": 6, "head": "logits"}], ids=["dp", "bigru"])
def subject(request):
    settings = ModelSettings(embedding=7, **request.param)
    return build_model(
        settings, Vocabulary.build([f"w{n}" for n in range(13)]), ["bad", "good"], seed=2
    ).double()


def test_each_text_takes_its_own_scores_by_its_row(subject):
    scores = [[0.1, 0.2, 0.3, 0.4, 0.5], [5.0, 6.0, 99.0], torch.ones(3, 4, requires_grad=True)]
    batch = subject.encode(TEXTS)
    found = RowScores("mine", scores)(Reader(subject, batch))
    assert found[0].tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert found[1].tolist() == [5.0, 6.0, 0.0, 0.0, 0.0]  # what stands behind its words is not read
    assert found[2].tolist() == [4.0, 4.0, 4.0, 0.0, 0.0]  # an attribution is summed over its width


def test_words_that_left_take_their_scores_with_them(subject):
    batch = subject.encode(TEXTS)
    gone = torch.zeros_like(batch.mask)
    gone[0, 1] = True
    found = RowScores("mine", [[1, 2, 3, 4, 5], [6, 7], [8, 9, 10]])(
        Reader(subject, delete_words(batch, gone))
    )
    assert found[0].tolist() == [1, 3, 4, 5]


def test_scores_are_known_by_what_they_say():
    first, same, other = (RowScores("mine", [[1.0, value], [3.0]]).digest for value in (2.0, 2.0, 2.5))
    assert first == same != other
    assert RowScores("mine", [[1.0], [2.0, 3.0]]).digest != first


def test_too_few_scores_are_refused_in_a_sentence(subject):
    with pytest.raises(UserError, match="for 2 texts, but the split has 3"):
        own_rankings({"mine": [[1], [2]]}, 3)
    with pytest.raises(UserError, match="2 scores for text 0, which has 5 words"):
        RowScores("mine", [[1, 2], [1, 2], [1, 2, 3]])(Reader(subject, subject.encode(TEXTS)))


def test_a_function_is_a_ranking_as_it_is():
    assert own_rankings({"mine": len}, 3) == {"mine": len}


def test_a_method_of_captum_ranks_as_captum_says(subject):
    attr = pytest.importorskip("captum.attr", reason="Captum is not installed")
    batch = subject.encode(TEXTS)
    theirs = captum_ranking(attr.InputXGradient)(Reader(subject, batch))
    torch.testing.assert_close(theirs, gradient_times_input(subject, batch), rtol=1e-9, atol=1e-12)
    along = captum_ranking(attr.IntegratedGradients, n_steps=16, method="gausslegendre")(
        Reader(subject, batch)
    )
    torch.testing.assert_close(along, integrated_gradients(subject, batch, steps=16).scores)
    assert (along[~batch.mask] == 0).all()
    assert np.isfinite(along.numpy()).all()
