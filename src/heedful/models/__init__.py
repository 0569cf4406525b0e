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
    from heedful.models.settings import ENCODERS as ENCODERS
    from heedful.models.settings import ModelSettings as ModelSettings
    from heedful.models.subject import Subject as Subject
    from heedful.models.trace import Trace as Trace
    from heedful.models.trace import decisions as decisions
    from heedful.models.trace import probabilities as probabilities

__getattr__, __dir__, __all__ = lazily(__name__)
