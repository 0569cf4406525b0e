"""The synthetic data of Sun & Lu (2020): sentences of neutral words and of words that belong to one class.

Data I and Data II are those of their supplement C, the K-class version that of supplement F. Facts that the
paper does not print (6,000 sentences of each class, distinct words in a sentence) are those of the authors'
experiments; the share of noise in Data II is not known, and 1/12 here. The dev and test sentences are ours,
drawn like those of train.

Axes: N sentences, T words of a sentence, K classes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from heedful.data.corpus import SPLITS, Corpus
from heedful.errors import UserError


@dataclass(frozen=True)
class Synthetic:
    """What to draw; the defaults are Data I."""

    neutral: int = 1000  # neutral words in the vocabulary
    polar: int = 50  # words of each class in the vocabulary
    classes: int = 2
    neutral_tokens: int = 10  # distinct neutral words in a sentence
    polar_tokens: int = 2  # distinct words of one class in a sentence
    per_class: int = 6000  # training sentences of each class (on average, where ratio is not even)
    held_out: int = 1000  # dev sentences of each class, and as many test sentences
    noise: float = 0.0  # share of each class's sentences that take their polar words from another class
    ratio: float | tuple[float, ...] = 1.0  # positive to negative sentences, or one weight for each class
    symmetric: bool = False  # exactly symmetric between the classes, not only on average
    seed: int = 0

    def __post_init__(self) -> None:
        if self.classes < 2:
            raise UserError(f"Synthetic data needs two classes or more, but classes is {self.classes}.")
        for kind in ("neutral", "polar"):
            size, drawn = getattr(self, kind), getattr(self, f"{kind}_tokens")
            if not 0 <= drawn <= size:
                raise UserError(f"A sentence cannot have {drawn} distinct {kind} words out of {size}.")
        if self.polar_tokens < 1:
            raise UserError(
                "A sentence needs a polar word, or nothing tells its class: set polar_tokens above 0."
            )
        if self.per_class < 1 or self.held_out < 0:
            raise UserError(
                f"per_class must be above 0 and held_out not below, but they are {self.per_class} and "
                f"{self.held_out}."
            )
        if not 0 <= self.noise <= 1:
            raise UserError(f"noise must be a share between 0 and 1, but it is {self.noise:g}.")
        weights = self.weights
        if len(weights) != self.classes or not all(0 < weight < math.inf for weight in weights):
            raise UserError(
                f"ratio must be one positive number for two classes, or {self.classes} for {self.classes} "
                f"classes, but it is {self.ratio}."
            )
        if self.symmetric and len(set(weights)) > 1:
            raise UserError(f"Symmetric data has classes of one size, but ratio is {self.ratio}.")

    @property
    def weights(self) -> tuple[float, ...]:
        """The relative sizes of the classes (K,), in the order of the labels."""
        if isinstance(self.ratio, Sequence):
            return tuple(self.ratio)
        even = self.classes != 2 and self.ratio == 1
        return (1.0,) * self.classes if even else (1.0, self.ratio)

    @property
    def label_names(self) -> tuple[str, ...]:
        """negative and positive for two classes, otherwise 0, 1, 2, …"""
        return ("negative", "positive") if self.classes == 2 else tuple(map(str, range(self.classes)))


def data_one(**changes: Any) -> Corpus:
    """Data I: each class has its words to itself."""
    return make_synthetic(replace(Synthetic(), **changes), name="data-1")


def data_two(**changes: Any) -> Corpus:
    """Data II: Data I with 1/12 of each class's sentences taking their polar words from the other class."""
    return make_synthetic(replace(Synthetic(noise=1 / 12), **changes), name="data-2")


def data_k(**changes: Any) -> Corpus:
    """The K-class version, by default three labels: words of type "0", "1", "2", and "3" for neutral."""
    return make_synthetic(replace(Synthetic(classes=3), **changes), name="data-k")


def make_synthetic(settings: Synthetic, *, name: str = "synthetic") -> Corpus:
    """Draw a corpus: train of `per_class`, dev and test of `held_out` sentences of each class.

    Each split is drawn by a generator of its own, so its sentences do not depend on the sizes of the others.
    Class sizes keep the total and are rounded by largest remainder; noisy sentences are counted, not tossed
    for: their share of each class is rounded to the nearest, halves up.

    Example: `heedful.make_synthetic(heedful.Synthetic(neutral=40, polar=10, per_class=200))`
    """
    words = np.array(list(token_types(settings)), dtype=object)
    texts: list[str] = []
    labels, splits = [], []
    for number, split in enumerate(SPLITS):
        size = settings.per_class if split == "train" else settings.held_out
        ids, drawn = _draw(settings, size, np.random.default_rng([settings.seed, number]))
        texts += map(" ".join, words[ids].tolist())
        labels.append(drawn)
        splits.append(np.full(len(drawn), split, dtype="<U5"))
    return Corpus(
        name, texts, np.concatenate(labels), np.concatenate(splits), settings.label_names, _notes(settings)
    )


def token_types(settings: Synthetic) -> dict[str, str]:
    """Each word of the vocabulary and its type: neutral, negative, positive, or 0 … K-1 and K for neutral."""
    two = settings.classes == 2
    neutral = "neutral" if two else str(settings.classes)
    types = {f"n{number}": neutral for number in range(settings.neutral)}
    for kind in settings.label_names:
        prefix = kind[:3] if two else f"c{kind}w"
        types |= {f"{prefix}{number}": kind for number in range(settings.polar)}
    return types


def paired_words(settings: Synthetic) -> dict[str, str]:
    """Each word's partner in the next class (for two classes, the other one); a neutral word is its own.

    Moving each label to the next class and each word to its partner turns symmetric data into itself
    (footnote 3 of the paper), row order aside.
    """
    words = list(token_types(settings))
    partner = np.arange(len(words))
    polar = partner[settings.neutral :] - settings.neutral
    partner[settings.neutral :] = settings.neutral + (polar + settings.polar) % len(polar)
    return {word: words[other] for word, other in zip(words, partner, strict=True)}


def _draw(
    settings: Synthetic, per_class: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Word ids (N, T) and labels (N,) of one split, in shuffled order."""
    if settings.symmetric:
        ids, polar_class = _sentences(settings, 0, per_class, generator)
        ids = np.concatenate(
            [
                _with_polar(settings, ids, (polar_class + k) % settings.classes)
                for k in range(settings.classes)
            ]
        )
        sizes = [per_class] * settings.classes
    else:
        sizes = _class_sizes(per_class * settings.classes, settings.weights)
        drawn = [_sentences(settings, k, size, generator) for k, size in enumerate(sizes)]
        ids = np.concatenate([_with_polar(settings, sentences, owners) for sentences, owners in drawn])
    labels = np.repeat(np.arange(settings.classes), sizes)
    order = generator.permutation(len(labels))
    return ids[order], labels[order]


def _sentences(
    settings: Synthetic, label: int, size: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Sentences (size, T) of one class, polar words as if of class 0, and whose words they are (size,)."""
    neutral = _distinct(settings.neutral, settings.neutral_tokens, size, generator)
    polar = settings.neutral + _distinct(settings.polar, settings.polar_tokens, size, generator)
    ids = generator.permuted(np.concatenate([neutral, polar], axis=1), axis=1)
    owners = np.full(size, label)
    noisy = np.arange(math.floor(settings.noise * size + 0.5))
    # Noise comes from the other classes in turn; rows are shuffled later, so taking the first ones is no
    # choice.
    owners[noisy] = (label + 1 + noisy % (settings.classes - 1)) % settings.classes
    return ids, owners


def _with_polar(settings: Synthetic, ids: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """Give the polar words of sentences (N, T) to the classes `owners` (N,)."""
    return np.where(ids >= settings.neutral, ids + settings.polar * owners[:, None], ids)


def _distinct(size: int, count: int, rows: int, generator: np.random.Generator) -> np.ndarray:
    """Draw `count` different numbers below `size` for each row (rows, count), all subsets equally likely.

    Floyd's method (Bentley & Floyd, 1987) over all rows at once: the work grows with `count`, not with
    `size`.
    """
    chosen = np.empty((rows, count), dtype=np.int64)
    for column, highest in enumerate(range(size - count, size)):
        drawn = generator.integers(0, highest + 1, size=rows)
        taken = (chosen[:, :column] == drawn[:, None]).any(axis=1)
        chosen[:, column] = np.where(taken, highest, drawn)
    return chosen


def _class_sizes(total: int, weights: Sequence[float]) -> list[int]:
    exact = np.array(weights) / sum(weights) * total
    sizes = np.floor(exact + 1e-9).astype(int)
    # A stable sort: of equal remainders the first class gets the odd sentence.
    sizes[np.argsort(sizes - exact, kind="stable")[: total - sizes.sum()]] += 1
    return [int(size) for size in sizes]


def _notes(settings: Synthetic) -> tuple[str, ...]:
    sizes = _class_sizes(settings.per_class * settings.classes, settings.weights)
    notes = [
        f"Synthetic, after Sun & Lu (2020), with seed {settings.seed}; the paper has a train split only."
    ]
    if settings.noise:
        noisy = ", ".join(f"{math.floor(settings.noise * size + 0.5):,} of {size:,}" for size in sizes)
        notes.append(
            f"Noise {settings.noise:.4g}: train sentences with the words of another class, by class: {noisy}."
        )
    if settings.symmetric:
        notes.append("Exactly symmetric: moving labels and words to the next class gives the same sentences.")
    return tuple(notes)
