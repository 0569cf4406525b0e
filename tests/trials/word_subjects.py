"""Small subjects and texts for the trials on words; each axis has a prime of its own."""

from dataclasses import replace

import numpy as np
import torch

from heedful.data.batches import Batch, batch_of_texts
from heedful.data.vocabulary import Vocabulary
from heedful.models.building import build_model
from heedful.models.settings import ModelSettings

VOCABULARY = Vocabulary.build([f"w{number}" for number in range(29)])  # V = 31 with padding and unknown

SETTINGS = {
    "dp": ModelSettings(embedding=7, scale=2.0),
    "affine": ModelSettings(embedding=7, hidden=5, encoder="affine", head="logits", head_bias=True),
    "average": ModelSettings(embedding=7, hidden=5, encoder="average", attention="additive", head_bias=True),
    "uniform": ModelSettings(embedding=7, control="uniform", head_bias=True),
    "bigru": ModelSettings(embedding=7, hidden=6, encoder="bigru", attention="additive"),
    "conv": ModelSettings(embedding=7, hidden=6, encoder="conv", head="logits", head_bias=True),
    "sparse": ModelSettings(embedding=7, normaliser="sparsemax"),
    "location": ModelSettings(embedding=7, attention="location", max_length=17),
    "shuffled": ModelSettings(embedding=7, control="shuffled"),
    "han-noenc": ModelSettings(levels="hierarchical", embedding=7, head_bias=True),
    "han-gru": ModelSettings(levels="hierarchical", embedding=7, hidden=5, encoder="gru", head="logits"),
}
CLOSED = ("dp", "affine", "average", "uniform")
READ_AGAIN = tuple(name for name in SETTINGS if name not in CLOSED)

# Five texts, of 13, 7, 1, 3 and 2 words, in 3, 2, 1, 3 and 1 sentences.
TEXTS = (
    "w1 w4 w8 w1 w28. w6! W10 w2 unheard w16 w22 w18 w27",
    "w3 w3 w5. w7 w9 w11 w1",
    "w12",
    "w20. w21. w23",
    "w24 w25",
)


def model(name="dp", *, classes=3, seed=0, strong=3.0):
    """A model with random weights large enough that decisions are not all alike."""
    settings = SETTINGS[name]
    if settings.head != "logits":
        classes = 2
    built = build_model(settings, VOCABULARY, [f"class {k}" for k in range(classes)], seed=seed)
    with torch.no_grad():
        for parameter in built.parameters():
            parameter.mul_(strong)
        if built.embedding is not None:
            built.embedding.weight.mul_(strong)
    return built.double()


def batch_for(subject, texts=TEXTS, *, words=True) -> Batch:
    batch = subject.encode(list(texts))
    return batch if words else replace(batch, words=None)


def many_texts(count=23, longest=11, seed=0):
    """Texts of 1 to `longest` words, some of two sentences."""
    generator = np.random.default_rng(seed)
    texts = []
    for _ in range(count):
        words = [f"w{number}" for number in generator.integers(0, 29, generator.integers(1, longest + 1))]
        words[len(words) // 2] += "."
        texts.append(" ".join(words))
    return texts


def plain_batch(texts=TEXTS, *, sentences=True) -> Batch:
    return batch_of_texts(list(texts), VOCABULARY, sentences=sentences, labels=range(len(texts)))
