"""Is a model's attention right? Told by where it looks and by which words decide, before any audit.

Painted words are those above a fifth of a text's strongest weight.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.bench.truth.planting import DECIDER, STRONG, TOGETHER, WEAK, Planted
from heedful.data.batches import Batch
from heedful.models.subject import Subject
from heedful.models.trace import probabilities
from heedful.models.word_attention import word_attention
from heedful.trials.erasure.deletion import take_out, take_rows

RIGHT, PART, WRONG = "right", "part", "wrong"
LABELS = (RIGHT, PART, WRONG)
MOSTLY, SELDOM = 0.9, 0.3  # precision@1 of a right map at least, and of a wrong one below
PAINTED = 1 / 5  # of the strongest weight
LOST = 0.6  # of the class's probability is left at the most without the words that decide
TEXTS = 10  # a class with fewer has no label of its own


@dataclass(frozen=True)
class Aim:
    """Where maps have their paint, over texts in which something decides."""

    painted: float  # the share of the painted weight on deciding words
    first: float  # in how many texts the strongest word decides
    k: float  # the share of deciding words among the k strongest, k being how many decide
    label: str


@dataclass(frozen=True)
class Use:
    """Whether a model decides by its deciding words."""

    accuracy: float  # balanced over classes, of the planted truth
    without: float  # the same without the deciding words
    undecoyed: float  # the share of decisions that stay without the decoys
    chance: float

    @property
    def confirmed(self) -> bool:
        """It knows the classes, falls to chance without its deciding words, and needs no decoy.

        The classes follow from the deciding words alone: who knows them does not go by other words.
        """
        room = 1 - self.chance
        knows = self.accuracy >= self.chance + 0.8 * room
        return knows and self.without <= self.chance + 0.2 * room and self.undecoyed >= 0.9


def aim_of(maps: NDArray[np.float64], planted: Planted, deciding: NDArray[np.bool_], *, seed: int = 0) -> Aim:
    """Where maps (N,T) aim, given which words decide (N,T); texts in which none does are left out.

    A model with a class that is attended wrongly is never right. Ties for the strongest word are broken by
    chance.
    """
    rows = np.flatnonzero(deciding.any(1))
    words = np.array([len(planted.roles[row]) for row in rows])
    read = np.arange(maps.shape[1]) < words[:, None]
    maps, deciding, classes = maps[rows], deciding[rows, : maps.shape[1]], planted.classes[rows]
    paint = np.where(read & (maps > PAINTED * maps.max(1, keepdims=True)), maps, 0)
    share = np.where(deciding, paint, 0).sum(1) / np.maximum(paint.sum(1), 1e-12)
    lots = np.random.default_rng([seed, 3]).random(maps.shape)
    order = np.lexsort((lots, -np.where(read, maps, -np.inf)))
    hit = np.take_along_axis(deciding, order, 1)
    first = hit[:, 0].astype(float)
    many = deciding.sum(1)
    among = (hit & (np.arange(hit.shape[1]) < many[:, None])).sum(1) / many
    label = label_of(share.mean(), first.mean())
    if label == RIGHT:
        for number in np.unique(classes):
            own = classes == number
            if own.sum() >= TEXTS and label_of(share[own].mean(), first[own].mean()) == WRONG:
                label = PART
    return Aim(float(share.mean()), float(first.mean()), float(among.mean()), label)


def label_of(painted: float, first: float) -> str:
    """The label of this share of painted weight on deciding words, and this precision of the first."""
    if painted <= 0.3 or first < SELDOM:
        return WRONG
    return RIGHT if painted >= 0.8 and first >= MOSTLY else PART


def attention_maps(subject: Subject, texts: list[str], *, at_once: int = 256) -> NDArray[np.float64]:
    """The attention (N,T) to each word of these texts."""
    parts = []
    for first in range(0, len(texts), at_once):
        parts.append(
            word_attention(subject, subject.encode(texts[first : first + at_once]))[0].double().numpy()
        )
    width = max(part.shape[1] for part in parts)
    return np.concatenate([np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts])


def use_of(subject: Subject, planted: Planted) -> tuple[Use, NDArray[np.bool_]]:
    """Read the texts whole, without their deciding words, and without their decoys.

    Also which words (N,T) decide for this model. A class may be taken for granted where none of the others
    is said, whatever was planted for it: there no word decides. And where several words are planted to be
    needed together, those decide without which the class is lost.
    """
    batch = subject.encode(planted.texts)
    width = batch.mask.shape[1]
    deciding = planted.grid(DECIDER, width)
    decoys = planted.grid(STRONG, width) | planted.grid(WEAK, width)
    whole, bare, calm = (
        _chances(subject, batch, gone) for gone in (np.zeros_like(deciding), deciding, decoys)
    )
    decided = whole.argmax(1)
    own = np.arange(len(whole)), decided

    def lost(left: NDArray[np.float64]) -> NDArray[np.bool_]:
        falls: NDArray[np.bool_] = left[own] <= LOST * whole[own]
        return falls

    words = deciding & lost(bare)[:, None]
    if planted.task.truth in TOGETHER:
        words = _needed(words, lambda gone: lost(_chances(subject, batch, gone)))
    use = Use(
        _balanced(decided, planted.classes),
        _balanced(bare.argmax(1), planted.classes),
        float((decided == calm.argmax(1)).mean()),
        1 / planted.task.classes,
    )
    return use, words


def _needed(
    words: NDArray[np.bool_], lost: Callable[[NDArray[np.bool_]], NDArray[np.bool_]]
) -> NDArray[np.bool_]:
    """Those of the words (N,T) without which alone the class is lost; all, where each can be spared."""
    needed = np.zeros_like(words)
    place = words.cumsum(1)
    for number in range(1, int(place.max(initial=0)) + 1):
        one = words & (place == number)
        needed |= one & lost(one)[:, None]
    return np.where(needed.any(1, keepdims=True), needed, words)


@torch.no_grad()
def _chances(subject: Subject, batch: Batch, gone: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The probabilities (N,K) of texts without the words where `gone` (N,T) is true."""
    parts = []
    for rows in torch.arange(len(gone)).split(256):
        left = take_out(take_rows(batch, rows), torch.from_numpy(gone[rows.numpy()]))
        parts.append(probabilities(subject.logits(left)).double().numpy())
    return np.concatenate(parts)


def _balanced(decided: NDArray[np.int64], classes: NDArray[np.int64]) -> float:
    return float(np.mean([(decided[classes == k] == k).mean() for k in np.unique(classes)]))
