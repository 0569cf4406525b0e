"""Small vocabularies, batches and models for the tests of models; each axis has a prime of its own."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

from heedful.data.batches import Batch
from heedful.data.vocabulary import Vocabulary

WORDS = tuple(f"w{number}" for number in range(29))  # V = 31 with padding and unknown


@pytest.fixture
def vocabulary() -> Vocabulary:
    return Vocabulary.build(WORDS)


@pytest.fixture
def make_batch() -> Callable[..., Batch]:
    return build_batch


def build_batch(texts: Sequence[Sequence[Sequence[int]]], *, padding: int = 0) -> Batch:
    """A batch of texts, which are lists of sentences of word ids; `padding` more slots at the end."""
    flat = [[id for sentence in text for id in sentence] for text in texts]
    length = max(map(len, flat)) + padding
    ids = torch.zeros(len(texts), length, dtype=torch.long)
    sentences = torch.full_like(ids, -1)
    for row, text in enumerate(texts):
        ids[row, : len(flat[row])] = torch.tensor(flat[row])
        numbers = [number for number, sentence in enumerate(text) for _ in sentence]
        sentences[row, : len(flat[row])] = torch.tensor(numbers)
    return Batch(ids, ids > 0, labels=None, rows=np.arange(len(texts)), sentences=sentences)


# Five texts, of 13, 7, 1, 3 and 2 words, in 3, 2, 1, 3 and 1 sentences.
TEXTS = (
    ((2, 5, 9, 2, 30), (7,), (11, 3, 1, 17, 23, 19, 29)),
    ((4, 4, 6), (8, 10, 12, 2)),
    ((13,),),
    ((21,), (22,), (24,)),
    ((25, 26),),
)


@pytest.fixture
def texts() -> tuple[tuple[tuple[int, ...], ...], ...]:
    return TEXTS
