"""A model without an encoder whose words decide by hand-set worth, and texts of its words."""

import numpy as np
import torch

from heedful.data.vocabulary import Vocabulary
from heedful.models.building import build_model
from heedful.models.settings import ModelSettings

WORTH = {"gorgeous": 4.0, "witty": 3.0, "dull": -4.0, "tedious": -3.0}
OTHER = ("film", "story", "scene", "plot", "actors", "music", "camera", "evening", "street", "letter")
CLASSES = ("bad", "good")


def small_model(worth=None, *, bias=0.0, others=0.1):
    """One score: the mean worth of the words, equally attended, and a bias.

    The others are worth a little, for either class in turn, so that neither is decided when nothing speaks.
    """
    worth = WORTH if worth is None else worth
    vocabulary = Vocabulary.build([*worth, *OTHER])
    model = build_model(ModelSettings(embedding=2, head_bias=True), vocabulary, CLASSES).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        table = model.embedding.weight
        for word, value in worth.items():
            table[vocabulary.words.index(word), 0] = value
        for place, word in enumerate(OTHER):
            table[vocabulary.words.index(word), 0] = others * (1 + 0.13 * place) * (-1) ** place  # no ties
        model.head.weight[0, 0] = 6.0
        if model.head.bias is not None:
            model.head.bias[0] = bias
    return model


def texts_of(rows=60, *, seed=0):
    """Nine words, one or two of which decide."""
    draw = np.random.default_rng(seed)
    texts = []
    for row in range(rows):
        words = list(draw.choice(OTHER, 8))
        own = ("gorgeous", "witty") if row % 2 else ("dull", "tedious")
        words.insert(int(draw.integers(0, 8)), own[row // 2 % 2])
        texts.append(" ".join(words))
    return texts
