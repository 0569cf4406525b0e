"""Models of the truth bench: they look where they are told, and decide by the planted words."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from heedful.bench.truth.built import Build, build
from heedful.bench.truth.drawing import BUILT_SCOPES
from heedful.bench.truth.labels import attention_maps, use_of
from heedful.bench.truth.learning import Lesson
from heedful.bench.truth.looks import Look, shares
from heedful.bench.truth.planting import DECIDER, STRONG, Task, plant
from heedful.bench.truth.trained import train

TASK = Task(decoys=1, length=(9, 13))
LOOKS = {
    "right": shares(TASK, deciders=0.9, strong=0.02),
    "decoy": shares(TASK, deciders=0.05, strong=0.9),
    "jittered": Look(decider=2, jitter=1.0),
}


@pytest.mark.parametrize("architecture", ["dot", "additive", "mlp"])
@pytest.mark.parametrize("look", LOOKS)
def test_a_hand_built_models_attention_is_the_look(architecture, look):
    planted = plant(TASK, 40, seed=3)
    model = build(Build(architecture, looks=(LOOKS[look],)), planted, seed=5)
    maps = attention_maps(model, planted.texts)
    np.testing.assert_allclose(maps, LOOKS[look].targets(planted, maps.shape[1], seed=5), atol=2e-3)


def test_the_shares_of_a_look_are_those_asked_for():
    planted = plant(replace(TASK, length=(11, 11)), 20, seed=3)
    look = shares(planted.task, deciders=0.3, strong=0.6)
    weights = look.targets(planted, 11, seed=0)
    assert np.allclose((weights * planted.grid(DECIDER, 11)).sum(1), 0.3)
    assert np.allclose((weights * planted.grid(STRONG, 11)).sum(1), 0.6)


@pytest.mark.parametrize("architecture", BUILT_SCOPES)
def test_hand_built_models_decide_by_the_planted_words_wherever_they_look(architecture):
    for truth in set(BUILT_SCOPES[architecture].truths):
        classes = {"pair": 4, "both": 2, "context": 2}.get(truth, 3)
        task = replace(TASK, truth=truth, classes=classes, sentences=architecture == "hierarchical")
        task = replace(task, deciders=3 if truth in ("redundant", "mixed") else 1)
        planted = plant(task, 120, seed=4)
        for name in ("right", "decoy"):
            how = Build(architecture, looks=(LOOKS[name],))
            if architecture == "multihead":
                how = replace(how, looks=(LOOKS[name], Look(strong=5)), used=(1.0, 0.0))
            use, deciding = use_of(build(how, planted, seed=6), planted)
            assert use.confirmed, (truth, name, use)
            wanted = planted.grid(DECIDER, deciding.shape[1]).any(1)
            assert (deciding.any(1) == wanted).mean() > 0.95, (truth, name)


def test_heads_that_are_not_used_show_in_the_map_and_not_in_the_decision():
    planted = plant(TASK, 60, seed=5)
    looks = (LOOKS["right"], LOOKS["decoy"])
    model = build(Build("multihead", looks=looks, used=(1.0, 0.0)), planted, seed=6)
    maps = attention_maps(model, planted.texts)
    wanted = [look.targets(planted, maps.shape[1], seed=6) for look in looks]
    np.testing.assert_allclose(maps, np.mean(wanted, axis=0), atol=1e-4)
    batch = model.encode(planted.texts)
    weights = model.trace(batch).weights.clone()
    with torch.no_grad():
        attended = torch.einsum("brt,bte->bre", weights, model.embed(batch))
        changed = attended.clone()
        changed[:, 1] = 0
        torch.testing.assert_close(model.head(changed), model.head(attended))


def test_ordinary_words_chatter_as_loudly_as_they_are_told():
    planted = plant(replace(TASK, decoys=0), 300, seed=7)
    loud = build(Build("dot", looks=(Look(decider=3),), background=1.5), planted, seed=8)
    width = planted.grid(DECIDER, 13)
    batch = loud.encode(planted.texts)
    from heedful.trials.erasure.deletion import delete_words

    with torch.no_grad():
        left = loud.logits(delete_words(batch, torch.from_numpy(width)))
    assert 1.2 < float(left.std(0).mean()) < 1.8


LED = {"conv": LOOKS["decoy"], "bilstm": Look(place="last", peak=5.0), "hierarchical": LOOKS["right"]}


@pytest.mark.parametrize("architecture", LED)
def test_training_leads_attention_while_the_planted_words_decide(architecture):
    task = replace(TASK, length=(7, 11), sentences=architecture == "hierarchical")
    planted, look = plant(task, 100, seed=9), LED[architecture]
    model = train(architecture, planted, Lesson(look=look, epochs=25), seed=9)
    maps = attention_maps(model, planted.texts)
    assert np.abs(maps - look.targets(planted, maps.shape[1], seed=9)).sum(1).mean() < 0.25
    assert use_of(model, planted)[0].confirmed


def test_a_model_can_be_trained_to_hide_what_decides():
    planted = plant(replace(TASK, length=(7, 11)), 100, seed=10)
    hidden = {}
    for aim in ("free", "penalised"):
        model = train("conv", planted, Lesson(aim, epochs=25), seed=10)
        assert use_of(model, planted)[0].confirmed
        maps = attention_maps(model, planted.texts)
        hidden[aim] = (maps * planted.grid(DECIDER, maps.shape[1])).sum(1).mean()
    assert hidden["penalised"] < 0.05 < 0.2 < hidden["free"]


def test_a_default_class_is_decided_as_surely_among_many_classes_as_among_two():
    chances = []
    for classes in (2, 20):
        task = replace(TASK, truth="detection", classes=classes, ratio=classes - 1.0)
        planted = plant(task, 200, seed=11)
        model = build(Build("dot", looks=(LOOKS["right"],)), planted, seed=11)
        with torch.no_grad():
            shares_of = model.logits(model.encode(planted.texts)).softmax(-1)
        chances.append(float(shares_of[torch.from_numpy(planted.classes == 0), 0].mean()))
        assert use_of(model, planted)[0].confirmed
    assert min(chances) > 0.8
    assert abs(chances[0] - chances[1]) < 0.02
