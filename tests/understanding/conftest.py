"""Small models in double precision, on texts with repeated words; each axis has a prime of its own."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from heedful.data.encoded import EncodedTexts
from heedful.data.vocabulary import Vocabulary
from heedful.models.building import build_model
from heedful.models.named import MODELS

WORDS = tuple(f"w{number:02}" for number in range(21))  # V = 23 with padding and unknown
# Seven texts; words repeat inside a text and across texts, and several words never occur.
TEXTS = ((1, 4, 4, 9), (4,), (11, 1, 1, 1, 22), (2, 9), (17, 4, 17), (5, 6, 7, 8, 9, 10), (22, 22))
FAMILIES = ("dp", "dp-a", "ad")


def encode(texts=TEXTS, *, classes=2):
    """Texts of word ids, labelled 0, 1, … in turn."""
    lengths = np.array([len(text) for text in texts])
    return EncodedTexts(
        ids=np.array([word for text in texts for word in text], np.int32),
        offsets=np.concatenate([[0], lengths.cumsum()]),
        labels=np.arange(len(texts)) % classes,
        unread=np.zeros(len(texts), np.int32),
    )


def make_model(name="dp", *, classes=2, seed=3, **changes):
    """A model with weights of ordinary size, so that no term is small, in double precision."""
    small = {
        "embedding": 5,
        "embedding_source": "uniform",
        "hidden": 7,
        "attention_width": 7 if name == "ad" else None,
        "scale": 1.7,
        "dropout_words": 0.0,
        "dropout_head": 0.0,
    }
    settings = replace(MODELS[name], **{**small, **changes})
    model = build_model(
        settings, Vocabulary.build(WORDS), tuple(f"class {k}" for k in range(classes)), seed=seed
    )
    draw = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.data = torch.randn(parameter.shape, generator=draw, dtype=torch.float64)
    return model.double()


@pytest.fixture
def texts():
    return encode


@pytest.fixture
def model():
    return make_model
