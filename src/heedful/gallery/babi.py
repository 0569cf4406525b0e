"""bAbI's questions (Weston et al., 2015): facts told one after the other, a question, the facts it rests on.

Only the newest facts are kept, as in Sukhbaatar et al. (2015). A sentence that is told many times is stored
once. Axes: B questions, T facts, S sentences, W words of a sentence.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import torch
from torch import Tensor

from heedful.gallery.tables import read_table

if TYPE_CHECKING:
    import pandas

FILE = "babi_1k.tsv.gz"
MEMORY = 50  # facts
COLUMNS = ("task", "split", "story", "line", "text", "answer", "supports")


@dataclass(frozen=True)
class Questions:
    """Questions with what was told before them; sentence 0 is none, answer −1 one never given in training."""

    facts: Tensor  # (B,T) sentences, oldest first; nothing stands before a short story's first fact
    questions: Tensor  # (B) sentences
    answers: Tensor  # (B) words
    support: Tensor  # (B,T) whether a fact is needed

    def __len__(self) -> int:
        return len(self.answers)

    def rows(self, chosen: Tensor) -> Self:
        return type(self)(**{field.name: getattr(self, field.name)[chosen] for field in fields(self)})

    def to(self, device: str) -> Self:
        return type(self)(**{field.name: getattr(self, field.name).to(device) for field in fields(self)})

    @property
    def mask(self) -> Tensor:
        """Which facts (B,T) are there."""
        return self.facts > 0


@dataclass(frozen=True)
class Babi:
    """One task: its words, its sentences, and its questions to learn from and to be tested on."""

    words: list[str]  # the id of a word is its place; 0 is no word, and one that training never had
    sentences: Tensor  # (S,W) words; the first is empty
    texts: list[str]  # the same sentences as people read them
    train: Questions
    test: Questions


Told = tuple[list[str], str, str, list[int]]  # facts, question, answer, which facts are needed


def read_babi(folder: Path, task: int, *, most: int | None = None) -> Babi:
    """One task of the file; `most` keeps so many questions of training and test."""
    rows = read_table(folder / FILE, COLUMNS)
    rows = rows[rows["task"] == str(task)]
    train, test = (questions_of(rows[rows["split"] == split])[:most] for split in ("train", "test"))
    texts = ["", *sorted({text for facts, asked, *_ in train + test for text in (*facts, asked)})]
    known = {word for facts, asked, *_ in train for text in (*facts, asked) for word in words_of(text)}
    words = ["", *sorted(known | {answer for _, _, answer, _ in train})]
    ids = {word: place for place, word in enumerate(words)}
    sentences = np.zeros((len(texts), max(len(words_of(text)) for text in texts)), dtype=np.int64)
    for row, text in enumerate(texts):
        found = [ids.get(word, 0) for word in words_of(text)]
        sentences[row, : len(found)] = found
    memory = min(MEMORY, max(len(facts) for facts, *_ in train + test))
    encoded = (encode(part, texts, ids, memory=memory) for part in (train, test))
    return Babi(words, torch.from_numpy(sentences), texts, *encoded)


def words_of(text: str) -> list[str]:
    return text.lower().rstrip(".? ").split()


def questions_of(rows: "pandas.DataFrame") -> list[Told]:
    """Every question with all facts before it; needed facts are counted from the story's first."""
    found: list[Told] = []
    story, facts, places = "", list[str](), dict[str, int]()
    columns = (rows[name] for name in ("story", "line", "text", "answer", "supports"))
    for name, line, text, answer, supports in zip(*columns, strict=True):
        if name != story:
            story, facts, places = name, [], {}
        if answer:
            found.append((list(facts), text, answer, [places[fact] for fact in supports.split()]))
        else:
            places[line] = len(facts)
            facts.append(text)
    return found


def encode(told: Sequence[Told], texts: Sequence[str], words: dict[str, int], *, memory: int) -> Questions:
    """Questions as numbers, with the newest `memory` facts of each."""
    ids = {text: place for place, text in enumerate(texts)}
    facts = np.zeros((len(told), memory), dtype=np.int64)
    support = np.zeros((len(told), memory), dtype=bool)
    for row, (story, _, _, needed) in enumerate(told):
        newest = story[-memory:]
        facts[row, memory - len(newest) :] = [ids[text] for text in newest]
        places = [memory - len(story) + place for place in needed]
        support[row, [place for place in places if place >= 0]] = True
    return Questions(
        torch.from_numpy(facts),
        torch.tensor([ids[asked] for _, asked, *_ in told]),
        torch.tensor([words.get(answer, -1) for _, _, answer, _ in told]),
        torch.from_numpy(support),
    )
