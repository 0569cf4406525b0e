"""Small models of our own classes, trained on planted texts with their attention led where it is told."""

from dataclasses import replace
from typing import Any

import torch
from torch import nn

from heedful.bench.truth.built import Rows
from heedful.bench.truth.learning import Lesson, attending_of, learn, oppose
from heedful.bench.truth.planting import Planted, known_words, plant
from heedful.data.batches import Batch
from heedful.data.vocabulary import UNKNOWN_ID, Vocabulary
from heedful.models.adapters import ModuleSubject
from heedful.models.building import build_model
from heedful.models.settings import ModelSettings
from heedful.models.subject import Subject

ARCHITECTURES = ("dot", "additive", "conv", "lstm", "bilstm", "hierarchical", "mlp", "multihead")
TEXTS = 1000  # to learn from in an epoch
BARE = 0.3  # of them without decoys
WIDTH, HEADS = 32, 3


def train(architecture: str, planted: Planted, lesson: Lesson, *, seed: int) -> Subject:
    """A model of this architecture that learns the task of `planted` from other texts, new ones each epoch.

    It cannot learn a text by heart, so its labels' noise does not reach its words.
    """
    vocabulary = known_words(planted.task, seed=seed)
    classes = tuple(f"class {k}" for k in range(planted.task.classes))
    model = _untrained(architecture, vocabulary, classes, seed=seed)

    def lessons(epoch: int) -> tuple[Batch, Planted]:
        texts = plant(planted.task, TEXTS, seed=seed, sample=1 + epoch, bare=BARE)
        return model.encode(texts.texts), texts

    if lesson.aim == "opposed":
        base = _untrained(architecture, vocabulary, classes, seed=seed + 1)
        learn(base, attending_of(base), lessons, replace(lesson, aim="free"), seed=seed)
        oppose(model, attending_of(model), attending_of(base), lessons, lesson, seed=seed)
    else:
        learn(model, attending_of(model), lessons, lesson, seed=seed)
    trained: Subject = model
    return trained


def _untrained(architecture: str, vocabulary: Vocabulary, classes: tuple[str, ...], *, seed: int) -> Any:
    if architecture in ("mlp", "multihead"):
        return _module(architecture, vocabulary, classes, seed=seed)
    settings = ModelSettings(
        levels="hierarchical" if architecture == "hierarchical" else "flat",
        embedding=WIDTH,
        hidden=WIDTH,
        encoder=architecture if architecture in ("conv", "lstm", "bilstm") else "none",
        attention="additive" if architecture != "dot" else "dot",
        head="logits",
        head_bias=True,
        initialisation="serrano-smith",
    )
    return build_model(settings, vocabulary, classes, seed=seed)


def _module(architecture: str, vocabulary: Vocabulary, classes: tuple[str, ...], *, seed: int) -> nn.Module:
    heads = HEADS if architecture == "multihead" else 1
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        embedding = nn.Embedding(len(vocabulary), WIDTH, padding_idx=0)
        nn.init.uniform_(embedding.weight, -0.1, 0.1)
        contexts = torch.randn(heads, WIDTH)
        if architecture == "mlp":
            head = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, len(classes)))
        else:
            head = nn.Sequential(nn.Flatten(), nn.Linear(heads * WIDTH, len(classes)))
    return ModuleSubject(
        classes=classes,
        words={word: number for number, word in enumerate(vocabulary.words) if number > UNKNOWN_ID},
        embed=embedding,
        attend=Rows(contexts),
        head=head,
        unknown=UNKNOWN_ID,
        mixes_tokens=False,
    )
