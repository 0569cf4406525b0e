"""A corpus as a model by name would see it in training: its settings, vocabulary and encoded splits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heedful.data.corpus import Corpus
from heedful.data.encoded import EncodedTexts
from heedful.data.vocabulary import Vocabulary
from heedful.data.words import WordRules
from heedful.models.settings import ModelSettings
from heedful.training.from_corpus import encode_splits
from heedful.training.presets import prepare
from heedful.training.run import Recipe
from heedful.training.settings import TrainingSettings


@dataclass(frozen=True)
class Prepared:
    """What stands between a corpus and a training."""

    model: ModelSettings
    training: TrainingSettings
    rules: WordRules
    vocabulary: Vocabulary
    splits: dict[str, EncodedTexts]


def prepared(corpus: Corpus, name: str, changes: Mapping[str, Any] | None = None) -> Prepared:
    """Encode the corpus for a model or preset by name, with these changes of settings."""
    model, training = prepare(name, changes)
    recipe = Recipe(model=model, training=training, words=WordRules(), corpus={}, classes=corpus.label_names)
    vocabulary, splits = encode_splits(corpus, recipe)
    return Prepared(model, training, recipe.words, vocabulary, splits)
