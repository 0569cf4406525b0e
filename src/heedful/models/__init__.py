"""How a text is decided: classifiers in four plain stages, `Trace`, and what can be audited, `Subject`.

Axes, the same in every file: B texts, T words (or slots), S sentences, E embedding width, H state width, K
classes. A model with one score gives (B,1): above 0 is the second class, and a tie at 0 the first.
"""

from typing import TYPE_CHECKING

from heedful.lazy import lazily

if TYPE_CHECKING:
    from heedful.models.building import Classifier as Classifier
    from heedful.models.building import build_model as build_model
    from heedful.models.classifier import FlatClassifier as FlatClassifier
    from heedful.models.embeddings import WordVectors as WordVectors
    from heedful.models.embeddings import read_vectors as read_vectors
    from heedful.models.embeddings import train_word2vec as train_word2vec
    from heedful.models.embeddings import vectors_for as vectors_for
    from heedful.models.hierarchical import HierarchicalClassifier as HierarchicalClassifier
    from heedful.models.named import MODELS as MODELS
    from heedful.models.settings import ModelSettings as ModelSettings
    from heedful.models.subject import Subject as Subject
    from heedful.models.trace import Trace as Trace
    from heedful.models.trace import decisions as decisions
    from heedful.models.trace import probabilities as probabilities

_HOMES = {
    "MODELS": "heedful.models.named",
    "Classifier": "heedful.models.building",
    "FlatClassifier": "heedful.models.classifier",
    "HierarchicalClassifier": "heedful.models.hierarchical",
    "ModelSettings": "heedful.models.settings",
    "Subject": "heedful.models.subject",
    "Trace": "heedful.models.trace",
    "WordVectors": "heedful.models.embeddings",
    "build_model": "heedful.models.building",
    "decisions": "heedful.models.trace",
    "probabilities": "heedful.models.trace",
    "read_vectors": "heedful.models.embeddings",
    "train_word2vec": "heedful.models.embeddings",
    "vectors_for": "heedful.models.embeddings",
}
__all__ = list(_HOMES)
__getattr__ = lazily(__name__, _HOMES)
