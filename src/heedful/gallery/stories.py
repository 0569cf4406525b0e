"""The task of `memory`: who went where, who took what, and a question about it.

"Where is Anna?" needs one fact, the last place that Anna went to. "Where is the book?" needs two: who took it
last, and where that person went last (a book goes with its person). Axes: B stories, T facts, 3 words a fact.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

PEOPLE = ["Anna", "Ben", "Clara", "David", "Emma", "Felix"]
PLACES = ["attic", "cellar", "garden", "kitchen", "library", "stable"]
THINGS = ["apple", "book", "candle", "drum", "envelope"]
GOING = ["went to", "ran to", "walked to"]
TAKING = ["took", "picked up"]
WORDS = ["", *PEOPLE, *PLACES, *THINGS, *GOING, *TAKING]  # the id of a word is its place; 0 is no word


@dataclass(frozen=True)
class Stories:
    """Stories with a question each: every second one needs two facts."""

    facts: Tensor  # (B,T,3) words: who, does, what; oldest first, 0 beyond the story's end
    questions: Tensor  # (B) the person or thing that is asked for
    answers: Tensor  # (B) the place, by its number
    support: Tensor  # (B,2) the facts needed, -1 where one is enough

    def __len__(self) -> int:
        return len(self.answers)

    def rows(self, chosen: Tensor) -> "Stories":
        return Stories(self.facts[chosen], self.questions[chosen], self.answers[chosen], self.support[chosen])

    def fact(self, row: int, place: int) -> str:
        """A fact as a sentence."""
        who, does, what = (WORDS[word] for word in self.facts[row, place].tolist())
        return f"{who} {does} the {what}"

    def question(self, row: int) -> str:
        """The question as a sentence."""
        asked = WORDS[int(self.questions[row])]
        return f"Where is {asked}?" if asked in PEOPLE else f"Where is the {asked}?"


def tell_stories(count: int, *, seed: int, shortest: int = 6, longest: int = 12) -> Stories:
    """Draw stories in which something happens at each step, and a question that each can answer."""
    generator = np.random.default_rng(seed)
    told = [
        tell_one(generator, int(generator.integers(shortest, longest + 1)), two=row % 2 == 1)
        for row in range(count)
    ]
    facts = np.zeros((count, longest, 3), dtype=np.int64)
    for row, (story, *_) in enumerate(told):
        facts[row, : len(story)] = story
    _, questions, answers, support = zip(*told, strict=True)
    return Stories(
        torch.from_numpy(facts), torch.tensor(questions), torch.tensor(answers), torch.tensor(support)
    )


def tell_one(
    generator: np.random.Generator, length: int, *, two: bool
) -> tuple[np.ndarray, int, int, tuple[int, int]]:
    """One story: its facts, what is asked for, the answer and the facts it rests on."""
    while True:
        goes = generator.random(length) < 2 / 3
        who = draw(generator, PEOPLE, length)
        does = np.where(goes, draw(generator, GOING, length), draw(generator, TAKING, length))
        what = np.where(goes, draw(generator, PLACES, length), draw(generator, THINGS, length))
        went = {who[time]: time for time in range(length) if goes[time]}  # the last time stays
        taken = {what[time]: time for time in range(length) if not goes[time]}
        # What is held by somebody who went nowhere is nowhere: it is not asked for.
        known = [thing for thing, time in taken.items() if who[time] in went] if two else list(went)
        if known:
            break
    asked = known[generator.integers(len(known))]
    first = taken[asked] if two else went[asked]
    last = went[who[first]] if two else first
    answer = PLACES.index(WORDS[what[last]])
    return np.stack([who, does, what], -1), int(asked), answer, (first, last if two else -1)


def draw(generator: np.random.Generator, words: list[str], count: int) -> np.ndarray:
    """Ids of words from one list, each as likely."""
    return WORDS.index(words[0]) + generator.integers(len(words), size=count)
