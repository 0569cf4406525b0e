"""Real misspellings: clean sentences into which they are put, and what children and learners wrote.

Misspellings are dealt by the word that was meant, so that the words of dev and test were never seen misspelt.
Holbrook's are left out: his children are a test. So is what is a word itself, and what is nearer to nothing
than to its word. Everything is lower-case, with "n't", "'s" and the like apart, as in JFLEG.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from heedful.gallery.tables import read_table
from heedful.gallery.utterances import edits

CLEAN, MISSPELLINGS = "tatoeba_en_fr.tsv.gz", "misspellings.csv.gz"
HOLBROOK, JFLEG = "holbrook_sentences.csv.gz", "jfleg.csv.gz"
REFERENCES = ("ref0", "ref1", "ref2", "ref3")
LONGEST = 20  # words of a piece that is written at once
LETTERS = "abcdefghijklmnopqrstuvwxyz'-"
SPELLABLE = re.compile(r"[a-z'-]{1,20}")
TOKENS = re.compile(
    r"n't|'(?:s|re|ll|ve|d|m)\b|(?:(?!n't)[^\W\d_])+(?:-[^\W\d_]+)*|\d+(?:[.,]\d+)*|[^\w\s]|_"
)

Words = tuple[str, ...]


@dataclass(frozen=True)
class Pairs:
    """Sentences with errors beside those without."""

    given: tuple[Words, ...]
    wanted: tuple[Words, ...]

    def __len__(self) -> int:
        return len(self.given)


@dataclass(frozen=True)
class Material:
    """All that `nested` learns from and is tested on."""

    clean: dict[str, tuple[Words, ...]]  # sentences by split
    faults: dict[str, dict[str, tuple[str, ...]]]  # by split: word → its misspellings
    counts: Counter[str]  # of the words of the clean training sentences


def words_of(text: str) -> Words:
    """The words and signs of a text, lower-case."""
    return tuple(TOKENS.findall(text.lower().replace("’", "'")))


def split_of(word: str) -> str:
    """Which split a word's misspellings belong to: eight of ten train, the others dev and test."""
    place = hashlib.blake2b(word.encode(), digest_size=4).digest()[0] % 10
    return "train" if place < 8 else ("dev" if place == 8 else "test")


def read_material(folder: Path, *, most: int | None = None) -> Material:
    """Clean sentences and misspellings; `most` keeps so many sentences of each split."""
    rows = read_table(folder / CLEAN, ("en", "split"))
    clean = {}
    for split in ("train", "dev", "test"):
        texts = rows["en"][rows["split"] == split].drop_duplicates().head(most)
        sentences = (words_of(text) for text in texts)
        clean[split] = tuple(words for words in sentences if 2 < len(words) <= LONGEST)
    counts = Counter(word for words in clean["train"] for word in words)
    return Material(clean, read_faults(folder, known=set(counts)), counts)


def read_faults(folder: Path, *, known: set[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    """The misspellings of known words, by split and word."""
    rows = read_table(folder / MISSPELLINGS, ("misspelling", "word", "source"))
    pairs = list(zip(rows["misspelling"].str.lower(), rows["word"].str.lower(), rows["source"], strict=True))
    holbrook = {(fault, word) for fault, word, source in pairs if source == "holbrook"}
    found: dict[str, set[str]] = defaultdict(set)
    for fault, word, _ in pairs:
        if word in known and fault not in known and (fault, word) not in holbrook and near(fault, word):
            found[word].add(fault)
    by_split: dict[str, dict[str, tuple[str, ...]]] = {"train": {}, "dev": {}, "test": {}}
    for word in sorted(found):
        by_split[split_of(word)][word] = tuple(sorted(found[word]))
    return by_split


def near(fault: str, word: str) -> bool:
    """Whether both can be spelt and at most half of the word's letters are wrong."""
    if not (SPELLABLE.fullmatch(fault) and SPELLABLE.fullmatch(word)):
        return False
    return edits(list(fault.encode()), list(word.encode())) <= len(word) / 2


def corrupt(
    sentence: Words, faults: Mapping[str, Sequence[str]], chance: np.random.Generator, *, rate: float
) -> Words:
    """A sentence in which each word that has misspellings is misspelt at this rate."""
    drawn = chance.random(len(sentence)) < rate
    return tuple(
        faults[word][int(chance.integers(len(faults[word])))] if hit and word in faults else word
        for word, hit in zip(sentence, drawn, strict=True)
    )


def corrupted(material: Material, split: str, count: int | None = None) -> Pairs:
    """So many sentences, or all, of dev or test, each with an error or more in words never seen misspelt."""
    chance, faults = np.random.default_rng(19), material.faults[split]
    fit = [words for words in material.clean[split] if any(word in faults for word in words)]
    wanted = [fit[place] for place in chance.permutation(len(fit))[:count]]
    given = []
    for words in wanted:
        came = words
        while came == words:
            came = corrupt(words, faults, chance, rate=0.5)
        given.append(came)
    return Pairs(tuple(given), tuple(wanted))


def read_holbrook(folder: Path, *, most: int | None = None) -> Pairs:
    """Children's sentences; those of no words, and those without a known target, are left out."""
    rows = read_table(folder / HOLBROOK, ("source", "target", "unknown_target"), whole=("unknown_target",))
    rows = rows[rows["unknown_target"] == 0].head(most)
    both = [
        (words_of(given), words_of(wanted))
        for given, wanted in zip(rows["source"], rows["target"], strict=True)
    ]
    kept = [(given, wanted) for given, wanted in both if given]
    return Pairs(tuple(given for given, _ in kept), tuple(wanted for _, wanted in kept))


@dataclass(frozen=True)
class Learners:
    """JFLEG: sentences as they were written, with four corrections, and that of a spelling checker."""

    sources: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    checked: tuple[str, ...]


def read_jfleg(folder: Path, *, split: str = "test", most: int | None = None) -> Learners:
    rows = read_table(folder / JFLEG, ("source", *REFERENCES, "spellchecked", "split"))
    rows = rows[rows["split"] == split].head(most)
    references = zip(*(rows[name] for name in REFERENCES), strict=True)
    return Learners(tuple(rows["source"]), tuple(references), tuple(rows["spellchecked"]))


def cased(source: Sequence[str], pieces: Sequence[tuple[str, ...]]) -> list[str]:
    """What the words of a source became, in the case of the source: unchanged words, and first letters."""
    found = []
    for word, came in zip(source, pieces, strict=True):
        if came == (word.lower(),):
            found.append(word)
        else:
            found += [
                part.capitalize() if word[:1].isupper() and not at else part for at, part in enumerate(came)
            ]
    return found
