"""Given weights are used as they are, in training and in evaluation, and aligned text by text."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from heedful.attention import uniform_weights
from heedful.errors import UserError
from heedful.models.trace import decisions
from heedful.training import prepare, train
from heedful.training.attended import attention_over, padded
from heedful.training.evaluation import logits_of
from heedful.training.from_corpus import encode_splits
from heedful.training.guided import guided_decisions, train_guided

SMALL = {"embedding": 13, "hidden": 7, "batch": 17, "epochs": 6, "rate": 0.02}
NAME = "jain-wallace-average-tanh"


@pytest.fixture(scope="module")
def run(small_corpus):
    return train(small_corpus, model=NAME, **SMALL)


@pytest.fixture(scope="module")
def sets(small_corpus, run):
    return encode_splits(small_corpus, run.recipe)[1]


def guided(run, sets, guides, **changes):
    model, training = prepare(NAME, {**SMALL, **changes})
    recipe = replace(run.recipe, model=model, training=training)
    return train_guided(sets, guides, recipe=recipe, vocabulary=run.vocabulary)


def test_flat_weights_of_a_model_are_those_of_each_text_alone(run, sets, small_corpus):
    test = sets["test"]
    flat = attention_over(run.model, test)
    texts = small_corpus.split("test").texts
    for row in (0, 3, 11):
        alone = run.model.trace(run.model.encode([texts[row]])).weights[0]
        mine = flat[test.offsets[row] : test.offsets[row + 1]]
        np.testing.assert_allclose(mine, alone.numpy(), atol=1e-6)
    rows = np.array([11, 0])
    assert torch.allclose(padded(flat, test, rows).sum(1), torch.ones(2))


def test_attention_is_fetched_with_dropout_off(small_corpus):
    run = train(small_corpus, model="dp", embedding=13, epochs=1, dropout_words=0.5)
    encoded = encode_splits(small_corpus, run.recipe)[1]["test"]
    expected = attention_over(run.model, encoded)
    run.model.train()
    assert np.array_equal(attention_over(run.model, encoded), expected)
    assert run.model.training


def test_a_model_under_its_own_weights_decides_as_it_did(run, sets):
    decided = guided_decisions(run.model, sets["test"], attention_over(run.model, sets["test"]))
    assert torch.equal(decided, decisions(logits_of(run.model, sets["test"])))


def test_weights_on_the_words_that_decide_teach_more_than_weights_on_the_others(run, sets):
    own = {name: attention_over(run.model, encoded) for name, encoded in sets.items()}

    def turned(encoded, flat):
        """The least attended words instead of the most attended."""
        out = flat.copy()
        for row in range(len(encoded)):
            span = slice(encoded.offsets[row], encoded.offsets[row + 1])
            ranks = np.argsort(np.argsort(flat[span]))
            out[span] = np.sort(flat[span])[::-1][ranks]
        return out

    away = {name: turned(encoded, own[name]) for name, encoded in sets.items()}
    with_own, with_away = guided(run, sets, own, epochs=3), guided(run, sets, away, epochs=3)
    assert with_own.test_accuracy > with_away.test_accuracy
    assert with_own.test_macro_f1 == pytest.approx(with_own.test_accuracy, abs=0.1)


def test_uniform_guides_teach_what_the_uniform_control_learns(run, sets, small_corpus):
    even = {}
    for name, encoded in sets.items():
        lengths = np.asarray(encoded.lengths)
        even[name] = np.repeat(1 / lengths, lengths).astype(np.float32)
    rows = np.array([0, 1])
    mask = torch.ones(2, padded(even["test"], sets["test"], rows).shape[1], dtype=torch.bool)
    assert torch.allclose(padded(even["test"], sets["test"], rows), uniform_weights(mask))
    control = train(small_corpus, model=NAME, control="uniform", **SMALL)
    mine = guided(run, sets, even)
    apart = abs(mine.test_accuracy - control.result["test_accuracy"])
    assert apart < 0.1


def test_the_test_split_has_no_say_in_a_guided_training(run, sets):
    own = {name: attention_over(run.model, encoded) for name, encoded in sets.items()}
    changed, weights = {**sets, "test": sets["train"]}, {**own, "test": own["train"]}
    first, second = guided(run, sets, own, epochs=3), guided(run, changed, weights, epochs=3)
    for name, value in first.model.state_dict().items():
        assert torch.equal(value, second.model.state_dict()[name])
    assert first.dev_accuracy == second.dev_accuracy
    assert len(first.decided) != len(second.decided)


def test_weights_of_other_texts_are_refused(run, sets):
    guides = {name: attention_over(run.model, encoded) for name, encoded in sets.items()}
    with pytest.raises(UserError, match="words, but weights for"):
        guided(run, sets, {**guides, "train": guides["dev"]})
    with pytest.raises(UserError, match="the split test"):
        guided(run, sets, {name: guides[name] for name in ("train", "dev")})


def test_the_rate_is_halved_whenever_dev_does_not_rise_as_in_the_main_loop(run, sets):
    guides = {name: attention_over(run.model, encoded) for name, encoded in sets.items()}
    halved = guided(run, sets, guides, epochs=5, halve_on_plateau=True)
    rate, best = 0.02, -1.0
    for row in halved.history:
        assert row["rate"] == pytest.approx(rate)
        if row["dev"] > best:
            best = row["dev"]
        else:
            rate /= 2
    assert rate < 0.02  # it came to that
    same = guided(run, sets, guides, epochs=5)
    assert {row["rate"] for row in same.history} == {0.02}
    first = next(number for number, row in enumerate(halved.history) if row["rate"] < 0.02)
    for one, other in zip(halved.history[:first], same.history[:first], strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}
    assert halved.history[first]["train_loss"] != same.history[first]["train_loss"]
