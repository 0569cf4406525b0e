"""Runs made to be in each regime are told so, with the numbers, and with what to try next."""

from dataclasses import replace

import pytest
import torch

from heedful.data.synthetic import Synthetic, make_synthetic
from heedful.errors import UserError
from heedful.models.building import build_model
from heedful.training.from_corpus import encode_splits, train
from heedful.training.loop import fit
from heedful.training.presets import prepare
from heedful.training.run import Recipe
from heedful.understanding.advice import AdviceSettings, _regimes, advise, advise_from, read_numbers
from heedful.understanding.token_types import synthetic_types
from heedful.understanding.watch import Watch, watched

# Without the preset's dropout: so few texts and epochs are learnt from at once.
SMALL = {
    "rate": 0.3,
    "epochs": 40,
    "batch": 50,
    "embedding": 16,
    "dropout_words": 0.0,
    "dropout_head": 0.0,
}


@pytest.fixture(scope="module")
def corpus():
    """Symmetric, so that nothing but λ, the penalty and the start decides the regime."""
    return make_synthetic(
        Synthetic(neutral=41, polar=11, per_class=300, held_out=50, symmetric=True), name="symmetric"
    )


def run_of(corpus, **changes):
    return train(corpus, model="sun-lu-synthetic-dp", callbacks=[Watch()], **{**SMALL, **changes})


def test_a_moderate_scale_is_sound_and_kept(corpus):
    advice = advise(run_of(corpus, scale=4))
    assert advice.found == ()
    assert (advice.next_scale, advice.next_penalty) == (None, None)
    assert "Keep λ = 4" in advice.summary()
    assert "Term A is negligible" in advice.summary()
    assert advice.numbers.lift > 0.5
    assert advice.numbers.polarity["positive"] > 1 > -1 > advice.numbers.polarity["negative"]


def test_a_tiny_scale_collapses_before_anything_is_learnt(corpus):
    run = run_of(corpus, scale=0.001)
    advice = advise(run)
    assert advice.found == ("collapsed",)
    assert advice.next_scale == 4  # √16
    assert advice.numbers.spread_first < 0.1
    assert "before anything was learnt" in advice.summary()
    assert f"{100 * advice.numbers.accuracy:.1f} %" in advice.summary()


def test_a_huge_scale_pools_and_takes_the_side_that_v_and_w_say(corpus):
    advice = advise(run_of(corpus, scale=1000))
    assert advice.found == ("mean pooling", "taking sides")
    assert advice.numbers.gap * advice.numbers.alignment > 0
    assert advice.next_scale == 4
    assert advice.next_penalty == 1e-3
    assert "sign of VᵀW" in advice.summary()
    assert "average polarity" in advice.summary()


def test_a_penalty_closes_the_gap_and_leaves_the_pooling(corpus):
    plain = advise(run_of(corpus, scale=60))
    advice = advise(run_of(corpus, scale=60, penalty=0.03))
    assert plain.found == ("mean pooling", "taking sides")
    assert advice.found == ("mean pooling",)
    assert abs(advice.numbers.alignment) < abs(plain.numbers.alignment)


def test_a_penalty_too_strong_to_learn_anything_is_said_first(corpus):
    advice = advise(run_of(corpus, scale=1000, penalty=1.0))
    assert advice.found[0] == "not learnt"
    assert advice.next_penalty == pytest.approx(0.1)
    assert advice.next_scale is None
    assert "Little has been learnt" in advice.summary()


def test_where_the_head_starts_along_v_at_a_small_scale_term_a_matters(corpus):
    model, training = prepare("sun-lu-synthetic-dp", {**SMALL, "scale": 0.7, "epochs": 12, "rate": 0.1})
    recipe = Recipe(model, training, words=None, corpus={}, classes=corpus.label_names)
    vocabulary, sets = encode_splits(corpus, recipe)
    made = build_model(model, vocabulary, corpus.label_names)
    with torch.no_grad():
        made.embedding.weight.mul_(5)
        made.head.weight.copy_(made.context_vector[None] / 2)
    history = fit(made, sets["train"], sets["dev"], settings=training, callbacks=[Watch()])
    advice = advise_from(history, scale=0.7, penalty=0.0, width=16)
    assert "term A matters" in advice.found
    assert advice.numbers.a_part > 0.1
    assert advice.next_scale == pytest.approx(2.1)
    assert "not negligible" in advice.summary()


def test_words_of_classes_that_get_unlike_attention_are_not_said_to_be_treated_alike(corpus):
    """The scores are those of a run whose attention predicts deletions of negative words alone."""
    numbers = advise(run_of(corpus, scale=4, epochs=1)).numbers
    uneven = replace(
        numbers,
        attention={"positive": 0.11, "negative": 0.81, "neutral": 0.0},
        gap=-0.7,
        lift=0.46,
        d_part=0.2,
    )
    even = replace(uneven, attention={"positive": 0.4, "negative": 0.52, "neutral": 0.0}, gap=-0.12)
    told = {
        name: next(one.words for one in _regimes(own, 10, AdviceSettings()) if one.name == "taking sides")
        for name, own in (("uneven", uneven), ("even", even))
    }
    assert told["uneven"].startswith("Attention favours negative words (+0.81) over positive ones (+0.11)")
    assert "alike" not in told["uneven"]
    assert told["even"].startswith("Attention treats the classes' words alike")


def test_thresholds_are_settings(corpus):
    run = run_of(corpus, scale=4, epochs=10)
    assert "mean pooling" in advise(run, settings=AdviceSettings(pooling=0.2)).found
    assert "term A matters" in advise(run, settings=AdviceSettings(negligible=0.0)).found
    stronger = advise(run_of(corpus, scale=4, penalty=0.01), settings=AdviceSettings(sides=0.0, gap=0.0))
    assert stronger.found == ("taking sides",)
    assert stronger.next_penalty == pytest.approx(0.1)


@pytest.mark.parametrize("model", ["dp-a", "ad"])
def test_other_families_are_read_too(corpus, model):
    run = train(
        corpus,
        model=f"sun-lu-synthetic-{model}",
        callbacks=[Watch()],
        hidden=16,
        scale=1000,
        **{**SMALL, "epochs": 6},
    )
    assert "mean pooling" in advise(run).found


def test_three_classes_are_read_by_the_same_rules():
    corpus = make_synthetic(
        Synthetic(neutral=41, polar=11, classes=3, per_class=200, held_out=30, symmetric=True), name="three"
    )
    watch = Watch(synthetic_types(Synthetic(neutral=41, polar=11, classes=3)))
    run = train(corpus, model="sun-lu-synthetic-dp", callbacks=[watch], scale=1000, **{**SMALL, "epochs": 30})
    advice = advise(run)
    assert "mean pooling" in advice.found
    assert "collapsed" not in advice.found
    assert set(advice.numbers.attention) == {"0", "1", "2", "neutral"}
    assert advice.numbers.gap >= 0


def test_numbers_are_those_of_the_records(corpus):
    run = run_of(corpus, scale=4, epochs=10)
    numbers = read_numbers(run.history)
    polar = ["positive", "negative"]
    sizes = {
        letter: watched(run.history, letter, statistic="size")[polar].to_numpy().sum() for letter in "ABC"
    }
    assert numbers.a_part == pytest.approx(sizes["A"] / sum(sizes.values()))
    last = watched(run.history, "attention").iloc[-1]
    assert numbers.gap == pytest.approx(last["positive"] - last["negative"])
    assert numbers.lift == pytest.approx(last[polar].mean() - last["neutral"])
    d = watched(run.history, "D")
    split = (d["positive"] - d["negative"]).abs().sum()
    both = sum(watched(run.history, letter)[polar] for letter in "EF")
    common = both.sum(axis=1).abs().sum()
    assert numbers.d_part == pytest.approx(split / (split + common))
    assert len(advise(run).to_frame()) == 5
    assert "<ul>" in advise(run)._repr_html_()


def test_runs_that_cannot_be_read_are_refused_with_the_reason(corpus):
    with pytest.raises(UserError, match="was not watched"):
        advise(train(corpus, model="dp", **{**SMALL, "epochs": 1}))
    with pytest.raises(UserError, match="for dp, dp-a and ad"):
        advise(train(corpus, model="dp-l", callbacks=[Watch()], **{**SMALL, "epochs": 1}))
