"""The task of `nested`: sentences with misspelt nouns and a slip of grammar, to be written without fault.

"this quiet farmers sees teh garden" has both. Every noun has many misspellings; two in three are for
training and the others for the test, so a noun is known there, but not misspelt in that way.
Axes: B sentences, T words, J characters of a word.
"""

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor

NOUNS = (
    *("animal", "artist", "basket", "blanket", "bottle", "bridge", "brother", "builder", "button", "camera"),
    *("candle", "carpet", "castle", "chapter", "cousin", "dancer", "dentist", "doctor", "dragon", "driver"),
    *("engine", "farmer", "father", "feather", "finger", "flower", "forest", "garden", "hammer", "hunter"),
    *("island", "jacket", "jungle", "kettle", "kitchen", "ladder", "lawyer", "lemon", "letter", "lizard"),
    *("magnet", "market", "mirror", "monkey", "mother", "museum", "neighbour", "orange", "painter", "palace"),
    *("parrot", "pencil", "picture", "pilot", "pirate", "planet", "pocket", "prison", "pumpkin", "rabbit"),
    *("ribbon", "river", "rocket", "saddle", "sailor", "school", "sister", "soldier", "spider", "squirrel"),
    *("station", "student", "teacher", "temple", "ticket", "tiger", "tunnel", "violin", "window", "wizard"),
)
ONE, SEVERAL = ("a", "this", "every", "the", "my"), ("two", "these", "many", "the", "my")
QUALITIES = ("", "old", "small", "quiet", "strange", "famous")
DEEDS = ("see", "like", "find", "hide", "paint", "follow", "want", "remember")
PADDING, END, UNKNOWN = 0, 1, 2  # ids of words; of letters too, but for the unknown
LETTERS = string.ascii_lowercase  # the id of a letter is its place, from 2
COMMON = tuple(
    dict.fromkeys((*ONE, *SEVERAL, *QUALITIES[1:], *DEEDS, *(f"{deed}s" for deed in DEEDS)))
)  # words that every model has in its vocabulary
FORMS = (*NOUNS, *(f"{noun}s" for noun in NOUNS))


@dataclass(frozen=True)
class Sentences:
    """Sentences with faults beside those without, as words."""

    given: tuple[tuple[str, ...], ...]
    wanted: tuple[tuple[str, ...], ...]
    misspelt: tuple[tuple[int, ...], ...]  # which words of `wanted` were misspelt
    slipped: tuple[bool, ...]  # whether there is a slip of grammar

    def __len__(self) -> int:
        return len(self.given)


@cache
def misspellings(noun: str) -> tuple[str, ...]:
    """All words that come of one fault in a noun: letters swapped, one lost, doubled or mistaken.

    What is a word itself, or also comes of another noun, is left out: nobody could tell what was meant.
    """
    shared = {fault for other in NOUNS if other != noun for fault in _faults(other)}
    return tuple(sorted(_faults(noun) - shared - set(FORMS)))


@cache
def _faults(noun: str) -> frozenset[str]:
    ends = [(noun[:place], noun[place:]) for place in range(len(noun))]
    swapped = {before + after[1] + after[0] + after[2:] for before, after in ends if len(after) > 1}
    lost = {before + after[1:] for before, after in ends}
    doubled = {before + after[0] + after for before, after in ends}
    mistaken = {before + letter + after[1:] for before, after in ends for letter in LETTERS}
    # A lost or added s at the end would change the number.
    return frozenset(fault for fault in swapped | lost | doubled | mistaken if fault[-1] != "s") - {noun}


def is_for_test(noun: str) -> np.ndarray:
    """Which misspellings of a noun are for the test alone: every third of a shuffled list."""
    chance = np.random.default_rng(list(noun.encode()))
    third: np.ndarray = chance.permutation(len(misspellings(noun))) % 3 == 0
    return third


def write_sentences(count: int, *, seed: int, test: bool, nouns: int = len(NOUNS)) -> Sentences:
    """Draw sentences; in each a noun or both are misspelt, and two in three have a slip of grammar.

    Only the first of the nouns are used, so many as asked for.
    """
    chance = np.random.default_rng([seed, int(test)])
    rows = [write_one(chance, test=test, nouns=NOUNS[:nouns]) for _ in range(count)]
    return Sentences(*(tuple(column) for column in zip(*rows, strict=True)))


def write_one(
    chance: np.random.Generator, *, test: bool, nouns: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...], bool]:
    """One sentence: what is given, what is wanted, the places of misspelt words, whether there is a slip."""
    several = chance.random(2) < 0.5
    deed = DEEDS[chance.integers(len(DEEDS))]
    right, wrong = (deed, f"{deed}s") if several[0] else (f"{deed}s", deed)
    phrases, spelt = [], []
    for many, misspell in zip(several, _at_least_one(chance), strict=True):
        first = (SEVERAL if many else ONE)[chance.integers(len(ONE))]
        quality = QUALITIES[chance.integers(len(QUALITIES))]
        noun = nouns[int(chance.integers(len(nouns)))]
        fault = chance.choice(np.array(misspellings(noun))[is_for_test(noun) == test]) if misspell else noun
        ending = "s" if many else ""
        before = [word for word in (first, quality) if word]
        phrases.append([*before, noun + ending])
        spelt.append([*before, str(fault) + ending])
    wanted = [*phrases[0], right, *phrases[1]]
    slip = chance.integers(3)  # none, the verb's number, a word written twice
    given = [*spelt[0], wrong if slip == 1 else right, *spelt[1]]
    misspelt = tuple(place for place, word in enumerate(wanted) if given[place] != word and word in FORMS)
    if slip == 2:
        places = [place for place, word in enumerate(given) if word in COMMON]
        place = places[chance.integers(len(places))]
        given.insert(place, given[place])
    return tuple(given), tuple(wanted), misspelt, bool(slip)


def _at_least_one(chance: np.random.Generator) -> tuple[bool, bool]:
    return ((True, False), (False, True), (True, True))[chance.integers(3)]


def word_ids(sentences: Sequence[Sequence[str]], vocabulary: Mapping[str, int]) -> Tensor:
    """Words as ids (B,T), with the end after the last; what the vocabulary lacks is unknown."""
    rows = [
        torch.tensor([*(vocabulary.get(word, UNKNOWN) for word in words), END], dtype=torch.long)
        for words in sentences
    ]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PADDING)


def letter_ids(words: Sequence[str], alphabet: str = LETTERS) -> Tensor:
    """Words as ids of their letters (B,J), with the end after the last; what is no letter is the last one."""
    if not words:
        return torch.zeros(0, 1, dtype=torch.long)
    ids = {letter: place + 2 for place, letter in enumerate(alphabet)}
    rows = [torch.tensor([*(ids.get(letter, len(alphabet) + 1) for letter in word), END]) for word in words]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PADDING)


def as_word(letters: Tensor, alphabet: str = LETTERS) -> str:
    """Ids of letters (J) as a word, up to the end."""
    word = ""
    for letter in letters.tolist():
        if letter < 2:
            break
        word += alphabet[letter - 2]
    return word


def number_words(words: tuple[str, ...]) -> dict[str, int]:
    """A vocabulary: ids from 3."""
    return {word: place + 3 for place, word in enumerate(words)}
