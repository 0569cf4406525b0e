"""Sentences in two languages as numbers of words: Multi30k (Elliott et al., 2016), German and English.

Words are lower-cased, and marks are words of their own. Those seen once in training are unknown.
Axes: P pairs, B pairs of a batch, T words of a source and its end, N words of a target and its end.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from heedful.data.words import WordRules, split_texts
from heedful.gallery.tables import read_table

FILE = "multi30k.csv.gz"
PADDING, BEGIN, END, UNKNOWN = range(4)
SIGNS = ("", "<s>", "</s>", "<unk>")
RULES = WordRules(punctuation="keep", apostrophes=True)
SELDOM = 1  # times that a word may be seen and still be unknown

Sentences = list[list[str]]


@dataclass(frozen=True)
class Language:
    """The words that are known, the signs first."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, sentences: Sentences) -> "Language":
        """The words of training sentences, the commonest first."""
        counts = Counter(word for sentence in sentences for word in sentence)
        return cls((*SIGNS, *(word for word, count in counts.most_common() if count > SELDOM)))

    def __len__(self) -> int:
        return len(self.words)

    def numbers(self, sentences: Sentences) -> Tensor:
        """Numbers (P,T) of the words, each sentence with its end and then padding."""
        known = {word: number for number, word in enumerate(self.words)}
        rows = [[*(known.get(word, UNKNOWN) for word in sentence), END] for sentence in sentences]
        longest = max(map(len, rows), default=1)
        return torch.tensor([row + [PADDING] * (longest - len(row)) for row in rows]).reshape(-1, longest)

    def spell(self, numbers: Sequence[int]) -> list[str]:
        """The words before the first end."""
        ended = numbers.index(END) if END in numbers else len(numbers)
        return [self.words[number] for number in numbers[:ended]]


@dataclass(frozen=True)
class Pairs:
    """Sources and their translations, as words and as numbers."""

    source: Sentences
    target: Sentences
    sources: Tensor  # (P,T)
    targets: Tensor  # (P,N)

    def __len__(self) -> int:
        return len(self.source)

    @property
    def lengths(self) -> np.ndarray:
        """How many words each source has; marks do not count."""
        return np.array([in_words(sentence) for sentence in self.source])

    def batch(self, rows: Tensor, device: torch.device) -> tuple[Tensor, Tensor]:
        """Sources (B,T) and targets (B,N) of some pairs, no longer than the longest of them."""
        cut = (numbers[rows] for numbers in (self.sources, self.targets))
        sources, targets = (part[:, : int((part != PADDING).sum(1).max())].to(device) for part in cut)
        return sources, targets

    def of_like_length(self, batch: int) -> list[Tensor]:
        """All pairs once, in batches of like length; torch's generator draws which, and their order."""
        length = (self.sources != PADDING).sum(1) + (self.targets != PADDING).sum(1)
        rows = (length + 3 * torch.rand(len(self))).argsort().split(batch)
        return [rows[place] for place in torch.randperm(len(rows)).tolist()]

    def in_turn(self, batch: int) -> Iterator[Tensor]:
        """All pairs once, in their order."""
        return iter(torch.arange(len(self)).split(batch))


@dataclass(frozen=True)
class Corpus:
    """Two languages and the pairs of each split."""

    source: Language
    target: Language
    train: Pairs
    dev: Pairs
    test: Pairs


def read_pairs(folder: Path, *, most: int | None = None, longest: int | None = None) -> Corpus:
    """Multi30k, German to English; `longest` words of a source, and the first `most` such training pairs."""
    table = read_table(folder / FILE, ("de", "en", "split"))
    german, english = (
        [words.forms for words in split_texts(table[name].tolist(), RULES)] for name in ("de", "en")
    )
    found: dict[str, tuple[Sentences, Sentences]] = {}
    for name, split in (("train", "train"), ("dev", "dev"), ("test", "test2016")):
        rows = np.flatnonzero(table["split"] == split)
        pairs = [(german[row], english[row]) for row in rows if german[row] and english[row]]
        pairs = [pair for pair in pairs if longest is None or in_words(pair[0]) <= longest]
        pairs = pairs[:most] if name == "train" else pairs
        found[name] = [source for source, _ in pairs], [target for _, target in pairs]
    languages = tuple(Language.of(side) for side in found["train"])
    train, dev, test = (
        Pairs(*sides, *(known.numbers(side) for known, side in zip(languages, sides, strict=True)))
        for sides in found.values()
    )
    return Corpus(languages[0], languages[1], train, dev, test)


def in_words(sentence: list[str]) -> int:
    """How many words a sentence has; marks do not count."""
    return sum(word[0].isalnum() for word in sentence)
