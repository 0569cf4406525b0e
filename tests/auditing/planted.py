"""Texts in which one or two planted words decide, and a black box that goes by them alone."""

import numpy as np

from heedful.data.corpus import Corpus
from heedful.models.black_box import BlackBox

CLASSES = ("bad", "good")
WORTH = {"gorgeous": 2.0, "witty": 2.0, "dull": -2.0, "tedious": -2.0}
OTHER = ("film", "story", "scene", "plot", "actors", "music", "camera", "evening", "street", "letter")


def texts_of(rows=90, *, seed=0):
    """Eight or nine words, one of which decides."""
    draw = np.random.default_rng(seed)
    texts, labels = [], []
    for row in range(rows):
        words = [OTHER[k] for k in draw.permutation(10)[: 7 + row % 2]]
        label = row // 2 % 2
        words.insert(int(draw.integers(0, 7)), (("dull", "tedious"), ("gorgeous", "witty"))[label][row % 2])
        texts.append(" ".join(words))
        labels.append(label)
    return texts, np.array(labels)


def corpus_of(rows=90, **more):
    texts, labels = texts_of(rows, **more)
    return Corpus("planted", texts, labels, np.array(["test"] * rows), CLASSES)


def predict(texts):
    margin = np.array([sum(WORTH.get(word, 0.0) for word in text.split()) for text in texts])
    return 1 / (1 + np.exp(-margin))


def subject(**more):
    return BlackBox(predict, classes=CLASSES, **more)


def right(corpus):
    """All paint on the deciding word."""
    return [[abs(WORTH.get(word, 0.0)) for word in text.split()] for text in corpus.split("test").texts]


def wrong(corpus):
    """All paint on the first word that does not decide."""
    found = []
    for text in corpus.split("test").texts:
        words = text.split()
        first = next(place for place, word in enumerate(words) if word not in WORTH)
        found.append([float(place == first) for place in range(len(words))])
    return found
