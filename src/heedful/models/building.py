"""A model from its settings."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from heedful.data.vocabulary import Vocabulary
from heedful.data.words import WordRules
from heedful.errors import UserError
from heedful.models.classifier import FlatClassifier
from heedful.models.embeddings import WordVectors, word_embedding
from heedful.models.hierarchical import HierarchicalClassifier
from heedful.models.level import Level, build_level, start_like_serrano_smith, start_like_sun_lu
from heedful.models.settings import ModelSettings, parameters_of

MOST_NUMBERS = 2**31  # eight gigabytes; training takes three times that
Classifier = FlatClassifier | HierarchicalClassifier


def build_model(
    settings: ModelSettings,
    vocabulary: Vocabulary,
    classes: Sequence[str],
    *,
    rules: WordRules | None = None,
    seed: int = 0,
    vectors: WordVectors | None = None,
) -> Classifier:
    """Build a model, in evaluation (call `train()` to train it). One seed gives one model.

    Example: `heedful.build_model(heedful.ModelSettings(encoder="gru"), vocabulary, ("bad", "good"))`
    """
    names = tuple(str(name) for name in classes)
    score = settings.head == "score" or (settings.head is None and len(names) == 2)
    if len(names) < 2 or (score and len(names) != 2):
        needed = "exactly two classes" if score else "at least two classes"
        raise UserError(
            f"This model decides between {needed}, but there are {len(names)}: {', '.join(names)}."
        )

    numbers = parameters_of(settings, len(vocabulary), len(names))
    if numbers > MOST_NUMBERS:
        raise UserError(
            f"This model would learn about {numbers:,} numbers, and {MOST_NUMBERS:,} is the most that is "
            "built here: make embedding, hidden, attention_width or max_length smaller."
        )

    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        embedding = None
        if settings.encoder != "pretrained":
            embedding = word_embedding(settings, vocabulary, vectors)
        words = build_level(settings, settings.embedding, dropout=settings.dropout_words)
        levels = [words]
        if settings.hierarchical:
            levels.append(build_level(settings, _width(words), dropout=settings.dropout_sentences))
        head = nn.Linear(_width(levels[-1]), 1 if score else len(names), bias=settings.head_bias)
        _start(settings, levels, head)

    about: dict[str, Any] = {"vocabulary": vocabulary, "rules": rules or WordRules(), "classes": names}
    if settings.hierarchical:
        assert embedding is not None  # the settings refuse a pretrained encoder here
        model: Classifier = HierarchicalClassifier(
            settings, embedding=embedding, words=words, sentences=levels[-1], head=head, **about
        )
    else:
        model = FlatClassifier(settings, embedding=embedding, words=words, head=head, **about)
    return model.eval()


def _width(level: Level) -> int:
    return int(level.encoder.width)  # type: ignore[arg-type]  # a module's attributes have no types


def _start(settings: ModelSettings, levels: Sequence[Level], head: nn.Linear) -> None:
    # A pretrained encoder has started already.
    fresh = [level.encoder for level in levels if settings.encoder != "pretrained"]
    if settings.initialisation == "serrano-smith":
        start_like_serrano_smith([*fresh, head])
    elif settings.initialisation == "sun-lu":
        start_like_sun_lu(fresh)
    if settings.head_range is not None:
        nn.init.uniform_(head.weight, -settings.head_range, settings.head_range)
