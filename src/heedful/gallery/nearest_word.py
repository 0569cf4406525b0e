"""The plain yardstick of `nested`: what is no known word becomes the nearest one, of several the commonest.

Letters lost, added, mistaken, or swapped with their neighbour count one each, and two at most are allowed.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

from heedful.gallery.misspelt import SPELLABLE

FARTHEST = 2


class NearestWord:
    """Known words with how often they were seen."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self.counts = counts
        self.found: dict[str, str] = {}

    @cached_property
    def shortened(self) -> dict[str, list[str]]:
        """Known words by what is left of them without up to two letters: near words meet there."""
        index = defaultdict(list)
        for word in self.counts:
            if SPELLABLE.fullmatch(word):
                for left in shorter(word):
                    index[left].append(word)
        return index

    def correct(self, sentence: Sequence[str]) -> tuple[str, ...]:
        """Each unknown word that is spelt with letters as the nearest known one, if there is any."""
        return tuple(
            word if word in self.counts or not SPELLABLE.fullmatch(word) else self.nearest(word)
            for word in sentence
        )

    def nearest(self, word: str) -> str:
        if word not in self.found:
            met = {known for left in shorter(word) for known in self.shortened.get(left, ())}
            near = sorted((slips(word, known), -self.counts[known], known) for known in met)
            self.found[word] = near[0][2] if near and near[0][0] <= FARTHEST else word
        return self.found[word]


def shorter(word: str) -> set[str]:
    """The word, and what is left of it without one or two letters."""
    found = {word}
    for _ in range(FARTHEST):
        found |= {left[:place] + left[place + 1 :] for left in found for place in range(len(left))}
    return found


def slips(one: str, other: str) -> int:
    """Letters lost, added, mistaken, and neighbours swapped, from one word to the other."""
    above, row = list[int](), list(range(len(other) + 1))
    for place, letter in enumerate(one):
        before, above, row = above, row, [place + 1]
        for column, wanted in enumerate(other):
            cost = min(above[column] + (letter != wanted), above[column + 1] + 1, row[-1] + 1)
            if place and column and letter == other[column - 1] and wanted == one[place - 1]:
                cost = min(cost, before[column - 1] + 1)
            row.append(cost)
    return row[-1]
