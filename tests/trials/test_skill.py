"""Word skill: 0 for chance, 1 for leaving out, told by class, unbounded where nothing can be said."""

import numpy as np
import pytest
import torch
from word_subjects import VOCABULARY, batch_for, many_texts, model

from heedful.data.synthetic import Synthetic, make_synthetic
from heedful.errors import UserError
from heedful.records import ratio_of_means
from heedful.training.evaluation import encode_for
from heedful.training.from_corpus import train
from heedful.trials.erasure.skill import SKILL_SHARES, skill_estimate, word_skill
from heedful.trials.erasure.word_erasures import SHARES, WordErasures, word_erasures
from heedful.trials.rankings.word_rankings import random
from heedful.trials.stream import stream
from heedful.trials.streamed_trials import word_findings, word_trial


def made(without, *, words=None, decided=None):
    """Erasures with these falls (n, 5) of each ranking."""
    count = len(next(iter(without.values())))
    words = np.full(count, 7) if words is None else np.asarray(words)
    return WordErasures(
        instance=np.arange(count),
        words=words,
        decided=np.zeros(count, int) if decided is None else np.asarray(decided),
        probability=np.full(count, 0.9),
        shares=SHARES,
        without={name: np.where(words[:, None] > 1, table, np.nan) for name, table in without.items()},
        only={},
        flips={},
    )


def falls(level, count=31, seed=0):
    return level + 0.01 * np.random.default_rng(seed).standard_normal((count, 5))


def test_skill_is_the_ratio_of_what_is_gained_over_chance():
    tables = {
        "random": falls(0.1, seed=1),
        "leave-one-out": falls(0.5, seed=2),
        "attention": falls(0.3, seed=3),
    }
    first, *at = word_skill(made(tables))
    assert first.value == pytest.approx(0.5, abs=0.02)
    own, zero, one = (tables[name][:, 1:] for name in ("attention", "random", "leave-one-out"))
    expected = ratio_of_means(own - zero, one - zero)
    assert (first.value, first.interval) == (expected.value, expected.interval)
    assert [finding.coordinates["share"] for finding in at] == list(SKILL_SHARES)
    assert first.value == pytest.approx(np.mean([finding.value for finding in at]))


def test_random_has_none_and_leaving_out_all_by_definition():
    tables = {"random": falls(0.1, seed=1), "leave-one-out": falls(0.5, seed=2)}
    erasures = made(tables)
    assert skill_estimate(erasures, "random").value == 0
    assert skill_estimate(erasures, "leave-one-out").value == 1


def test_texts_of_one_word_are_left_out_and_counted():
    tables = {
        name: falls(level) for name, level in (("random", 0.1), ("leave-one-out", 0.5), ("attention", 0.2))
    }
    words = np.full(31, 7)
    words[:5] = 1
    finding = word_skill(made(tables, words=words))[0]
    assert finding.count == 26
    assert finding.coordinates["excluded_alone"] == 5


def test_skill_is_told_by_the_class_that_was_decided():
    decided = np.arange(31) % 2
    attention = np.where(decided[:, None] == 0, falls(0.5), falls(0.1))
    tables = {"random": falls(0.1, seed=1), "leave-one-out": falls(0.5, seed=2), "attention": attention}
    by_class = {
        finding.coordinates["predicted"]: finding
        for finding in word_skill(made(tables, decided=decided), classes=("bad", "good", "never"))
        if "predicted" in finding.coordinates
    }
    assert by_class.keys() == {"bad", "good"}
    assert by_class["bad"].value == pytest.approx(1, abs=0.05)
    assert by_class["good"].value == pytest.approx(0, abs=0.05)
    assert by_class["bad"].count == 16


def test_a_class_whose_words_change_nothing_is_left_out_and_takes_nothing_with_it():
    decided = np.append(np.zeros(30, int), 1)
    tables = {"random": falls(0.1, seed=1), "leave-one-out": falls(0.5, seed=2), "attention": falls(0.5)}
    for table in tables.values():
        table[30] = 0.3  # whichever words go
    erasures = made(tables, decided=decided)
    whole, *parts = word_skill(erasures, classes=("bad", "good"), by_share=False)
    assert whole.value == pytest.approx(1, abs=0.1)
    assert [part.coordinates["predicted"] for part in parts] == ["bad"]


def test_where_leaving_out_is_no_better_than_chance_nothing_can_be_said():
    tables = {"random": falls(0.1, seed=1), "leave-one-out": falls(0.1, seed=2), "attention": falls(0.3)}
    assert not word_skill(made(tables))[0].interval.bounded
    same = {name: falls(0.1) for name in tables}
    with pytest.raises(UserError, match="changes nothing"):
        word_skill(made(same))
    with pytest.raises(UserError, match="no ranking in these erasures 'leave-one-out'"):
        word_skill(made({"random": falls(0.1), "attention": falls(0.1)}))


def test_uniform_attention_has_no_skill():
    subject = model("uniform", seed=4)
    found = word_erasures(
        subject, batch_for(subject, many_texts(199, longest=13)), ["attention", "leave-one-out", "random"]
    )
    skill = word_skill(found)[0]
    assert skill.interval.low < 0 < skill.interval.high
    assert skill.interval.high - skill.interval.low < 0.5


@pytest.fixture(scope="module")
def trained():
    """A model without an encoder whose attention has learnt which words decide."""
    one = Synthetic(neutral=23, polar=5, polar_tokens=1, per_class=100, held_out=100)
    corpus = make_synthetic(one, name="small")
    changes = {"embedding": 13, "epochs": 30, "batch": 17, "rate": 0.1, "dropout_words": 0.0, "scale": 1}
    return train(corpus, model="dp", **changes), corpus


def test_of_two_words_that_say_the_same_leaving_out_sees_neither_and_skill_cannot_tell():
    """A known limit: with two interchangeable words no single one matters, so the yardstick has no length."""
    subject = model("uniform")
    with torch.no_grad():
        subject.head.bias.zero_()
        subject.embedding.weight.zero_()
        subject.embedding.weight[VOCABULARY.ids(["w1"])[0]] = 100 * subject.head.weight[0]
    batch = batch_for(subject, [f"w1 w{n} w{n + 1} w1 w{n + 2}" for n in range(2, 25)])
    found = word_erasures(subject, batch, ["attention", "leave-one-out", "random"], shares=SKILL_SHARES)
    assert np.abs(found.without["leave-one-out"][:, :2]).max() < 1e-6


def test_attention_that_has_learnt_what_decides_has_skill_and_chance_has_none(trained, tmp_path):
    run, corpus = trained
    model = run.model
    own = {"again": lambda reader, seed: random(reader, seed=77)}
    trial = word_trial(model, ["attention"], own=own)
    streamed = stream(trial, model, encode_for(model, corpus.split("test")), tmp_path / "rows", recipe={})
    found, notes = word_findings(streamed.rows(), classes=model.classes)
    assert notes == []
    skill = {
        finding.coordinates["ranking"]: finding
        for finding in found
        if finding.name == "word skill" and not {"share", "predicted"} & finding.coordinates.keys()
    }
    assert skill["attention"].interval.low > 0.5
    assert abs(skill["again"].value) < 0.15
    assert abs(skill["shuffled"].value) < 0.15
    assert skill["attention"].baselines["shuffled"].value == skill["shuffled"].value
