"""Which models are Sun & Lu's `dp`: softmax over eᵀV/λ, V learned, with nothing between words and attention.

Closed-form gradients at the words hold for these alone.
"""

from torch import nn

from heedful.attention import Attention, DotScore, masked_softmax
from heedful.models.classifier import FlatClassifier
from heedful.models.encoders import NoEncoder


def softmax_score(model: FlatClassifier) -> nn.Module | None:
    """What scores words, where softmax makes weights of it; None for other normalisers and controls."""
    attention = model.words.attention
    if not (isinstance(attention, Attention) and attention.normalise is masked_softmax):
        return None
    return attention.score


def dot_score(model: object) -> DotScore | None:
    """The score of a `dp` model, which has a `context`; None for anything else."""
    if not (isinstance(model, FlatClassifier) and isinstance(model.words.encoder, NoEncoder)):
        return None
    score = softmax_score(model)
    return score if isinstance(score, DotScore) and score.context is not None else None
