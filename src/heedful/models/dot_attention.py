"""Which models are Sun & Lu's `dp`: softmax over eᵀV/λ, V learned, with nothing between words and attention.

Compiled training and closed-form gradients at the words hold for these alone.
"""

from heedful.attention import Attention, DotScore, masked_softmax
from heedful.models.classifier import FlatClassifier
from heedful.models.encoders import NoEncoder


def dot_score(model: object) -> DotScore | None:
    """The score of a `dp` model, which has a `context`; None for anything else."""
    if not (isinstance(model, FlatClassifier) and isinstance(model.words.encoder, NoEncoder)):
        return None
    attention = model.words.attention
    if not (isinstance(attention, Attention) and attention.normalise is masked_softmax):
        return None
    score = attention.score
    return score if isinstance(score, DotScore) and score.context is not None else None
