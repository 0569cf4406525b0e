"""What attention looks at: the logarithm of each word's weight beside that of an ordinary word.

A look serves twice: a hand-built model has it word by word, and a trained one is led to its weights. It may
depend on the class of a deciding word (right for some classes only), on the kind of decoy in the text (right
for some texts only), or on the place.
"""

import hashlib
import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from heedful.bench.truth.planting import Lexicon, Planted, Task

PLACES = ("", "first", "last")


@dataclass(frozen=True)
class Look:
    """Log-weights of the planted words, 0 being that of an ordinary one."""

    decider: float = 0.0
    strong: float = 0.0  # decoys
    weak: float = 0.0
    wrong: float | None = None  # of deciding words of the classes from `right` on
    right: int = 0
    jitter: float = 0.0  # standard deviation from word to word
    place: str = ""  # the first or the last place is looked at, whatever the word
    peak: float = 0.0  # log-weight of that place

    def of_words(self, lexicon: Lexicon, others: list[str], *, seed: int) -> dict[str, float]:
        """The log-weight of each word."""
        found = dict.fromkeys(others, 0.0)
        found |= dict.fromkeys(lexicon.strong, self.strong) | dict.fromkeys(lexicon.weak, self.weak)
        for number, group in enumerate((*lexicon.first, *lexicon.second)):
            wrong = self.wrong if number >= self.right else None
            found |= dict.fromkeys(group, self.decider if wrong is None else wrong)
        if not self.jitter:
            return found
        # Of the word itself, so that the same word has the same in every text.
        return {word: value + self.jitter * _chance(word, seed) for word, value in found.items()}

    def targets(self, planted: Planted, width: int, *, seed: int) -> NDArray[np.float64]:
        """The weights (N,width) that it gives to the words of texts; 0 on padding."""
        if self.place:
            rows = [self._by_place(len(words)) for words in planted.words]
        else:
            others = sorted({word for words in planted.words for word in words} - set(planted.lexicon.words))
            weight = self.of_words(planted.lexicon, others, seed=seed)
            rows = [np.array([weight[word] for word in words]) for words in planted.words]
        found = np.zeros((len(rows), width))
        for row, logs in enumerate(rows):
            shares = np.exp(logs - logs.max())
            found[row, : len(logs)] = shares / shares.sum()
        return found

    def _by_place(self, length: int) -> NDArray[np.float64]:
        logs = np.zeros(length)
        logs[0 if self.place == "first" else -1] = self.peak
        return logs


def _chance(word: str, seed: int) -> float:
    """A standard normal number that belongs to a word and a seed."""
    digest = hashlib.blake2b(f"{seed} {word}".encode(), digest_size=8).digest()
    return NormalDist().inv_cdf((int.from_bytes(digest) + 0.5) / 2**64)


def shares(task: Task, *, deciders: float, strong: float = 0.0) -> Look:
    """The look under which deciders and decoys together have these shares of the weight in a usual text."""
    ordinary = max(sum(task.length) / 2 - task.planted, 0.5)
    rest = max(1 - deciders - strong, 1e-3)

    def log(share: float, words: int) -> float:
        return math.log(max(share, 1e-4) / max(words, 1) * ordinary / rest)

    decoy = log(strong, task.decoys)
    return Look(log(deciders, task.deciding), decoy, decoy)
