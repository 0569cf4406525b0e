"""An adversary decides as its base and attends elsewhere; it sees train and dev, and the test split once."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from heedful.errors import UserError
from heedful.training import load_run, train
from heedful.training.adversarial import adversarial_loss, train_adversary
from heedful.training.attended import attention_over, padded
from heedful.training.evaluation import encode_for, evaluate, logits_of
from heedful.trials import js_divergence

SMALL = {"embedding": 13, "hidden": 7, "batch": 17, "epochs": 6, "rate": 0.02}


@pytest.fixture(scope="module")
def base(small_corpus):
    return train(small_corpus, model="jain-wallace-average-tanh", **SMALL)


def test_the_loss_of_a_text_can_be_checked_by_hand():
    shares, base_shares = torch.tensor([[0.9, 0.1]]), torch.tensor([[0.6, 0.4]])
    weights, base_weights = torch.tensor([[0.5, 0.5, 0.0]]), torch.tensor([[0.25, 0.75, 0.0]])
    divergence = 0.5 * math.log(2) + 0.5 * math.log(2 / 3)
    found = adversarial_loss(shares, weights, base_shares, base_weights, strength=10)
    assert found.item() == pytest.approx(0.3 - 10 * divergence, abs=1e-6)


def test_a_strong_adversary_attends_elsewhere_and_still_decides_alike(base, small_corpus):
    test = encode_for(base.model, small_corpus.split("test"))
    rows = np.arange(len(test))

    def beside_base(strength):
        run = train_adversary(base, small_corpus, strength=strength, epochs=10)
        own, other = (padded(attention_over(m, test), test, rows) for m in (base.model, run.model))
        agree = (logits_of(base.model, test) > 0) == (logits_of(run.model, test) > 0)
        return float(js_divergence(own, other).mean()), float(agree.double().mean()), run

    weak, _, copy = beside_base(0.0)
    strong, agree, run = beside_base(0.02)
    assert strong > weak + 0.1
    assert agree > 0.8
    assert copy.result["test_change"] < 0.15
    assert run.result["test_accuracy"] == evaluate(run.model, test).accuracy


def test_one_seed_gives_one_adversary_and_leaves_its_base_as_it_was(base, small_corpus):
    before = {name: value.clone() for name, value in base.model.state_dict().items()}
    first, second = (train_adversary(base, small_corpus, strength=0.01, epochs=2) for _ in range(2))
    for name, value in first.model.state_dict().items():
        assert torch.equal(value, second.model.state_dict()[name])
        assert torch.equal(before[name], base.model.state_dict()[name])
    assert not first.model.training


def test_the_test_split_has_no_say_in_which_epoch_is_kept(base, small_corpus):
    """An adversary needs no labels, so the test texts are exchanged too, for training texts."""
    held_out = small_corpus.splits == "test"
    others = iter(np.array(small_corpus.texts)[small_corpus.splits == "train"])
    texts = [next(others) if out else text for text, out in zip(small_corpus.texts, held_out, strict=True)]
    labels = np.where(held_out, 1 - small_corpus.labels, small_corpus.labels)
    changed = replace(small_corpus, texts=texts, labels=labels)
    first, second = (train_adversary(base, c, strength=0.01, epochs=3) for c in (small_corpus, changed))
    for name, value in first.model.state_dict().items():
        assert torch.equal(value, second.model.state_dict()[name])
    assert first.result["epoch"] == second.result["epoch"]
    assert first.history["dev"].tolist() == second.history["dev"].tolist()
    assert first.result["test_change"] != second.result["test_change"]  # it was read, once, at the end


def test_an_adversary_that_is_there_is_read_again_and_another_is_refused(base, small_corpus, tmp_path):
    made = train_adversary(base, small_corpus, strength=0.01, epochs=2, out=tmp_path / "adversary")
    again = train_adversary(base, small_corpus, strength=0.01, epochs=2, out=tmp_path / "adversary")
    assert again.result == made.result
    loaded = load_run(tmp_path / "adversary")
    assert loaded.recipe.corpus["strength"] == 0.01
    assert json.loads((tmp_path / "adversary" / "result.json").read_text())["test_change"] is not None
    with pytest.raises(UserError, match="another run"):
        train_adversary(base, small_corpus, strength=0.5, epochs=2, out=tmp_path / "adversary")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"control": "uniform"}, "uniform attention"),
        ({"normaliser": "sparsemax"}, "sparsemax"),
        ({"levels": "hierarchical"}, "two levels"),
    ],
)
def test_a_base_that_cannot_have_an_adversary_is_refused_in_a_sentence(small_corpus, changes, fault):
    run = train(small_corpus, model="jain-wallace-average-tanh", **{**SMALL, "epochs": 1}, **changes)
    with pytest.raises(UserError, match=fault):
        train_adversary(run, small_corpus)


def test_a_negative_strength_and_another_corpus_are_refused(base, small_corpus):
    with pytest.raises(UserError, match="negative"):
        train_adversary(base, small_corpus, strength=-1)
    with pytest.raises(UserError, match="other words"):
        train_adversary(base, small_corpus.take(np.arange(0, len(small_corpus), 7)))


def given_vectors(corpus, folder, seed=0):
    """A file with vectors of random numbers for the words of the corpus, and the settings that take it."""
    draw = np.random.default_rng(seed)
    words = sorted({word.lower() for text in corpus.texts for word in text.split()})
    path = folder / "vectors.txt"
    path.write_text("".join(f"{word} {' '.join(map(str, draw.normal(size=13)))}\n" for word in words))
    return {"embedding_source": "file", "vectors_file": str(path), "embedding_frozen": True}


def test_an_adversary_starts_from_the_vectors_its_base_started_from(small_corpus, tmp_path):
    settings = {**SMALL, **given_vectors(small_corpus, tmp_path)}
    base = train(small_corpus, model="jain-wallace-average-tanh", **{**settings, "epochs": 1})
    run = train_adversary(base, small_corpus, strength=0.01, epochs=1, out=tmp_path / "adversary")
    # Frozen vectors stay as they were given, so both still have them, and the rest has another seed.
    name = "embedding.weight"
    assert torch.equal(run.model.state_dict()[name][2:], base.model.state_dict()[name][2:])
    assert not torch.equal(run.model.head.weight, base.model.head.weight)

    moved = tmp_path / "moved"
    moved.mkdir()
    (tmp_path / "vectors.txt").rename(moved / "vectors.txt")
    with pytest.raises(UserError, match=r"vectors\.txt"):
        train_adversary(base, small_corpus, strength=0.02, epochs=1)
    model = replace(base.recipe.model, vectors_file=str(moved / "vectors.txt"))
    there = replace(base, recipe=replace(base.recipe, model=model))
    again = train_adversary(there, small_corpus, strength=0.01, epochs=1, out=tmp_path / "adversary")
    assert again.result == load_run(tmp_path / "adversary").result
