"""How fast words are found, beside a plain `re.findall` loop that gives no offsets."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from heedful.bench.found import Found, Table, numbers_of
from heedful.bench.timing import take_turns
from heedful.data.words import split_texts


@dataclass(frozen=True)
class TokenizeTimes:
    """The least seconds of several rounds over the same texts; a ratio under 1 means ours is faster."""

    texts: int
    words: int
    rounds: int
    ours: float
    """Codes, distinct forms, offsets: what vocabularies and batches are made of."""
    ours_with_forms: float
    """The same, and a list with the form of every word, which is what the plain loop gives."""
    plain: float

    @property
    def ratio(self) -> float:
        """Ours with forms ÷ plain."""
        return self.ours_with_forms / self.plain

    @property
    def words_per_second(self) -> float:
        """Words found, with forms and offsets, in a second."""
        return self.words / self.ours_with_forms


def run(texts: Sequence[str], *, rounds: int = 5) -> TokenizeTimes:
    """Time the splitting of `texts`, the three ways in turn."""
    words = len(split_texts(texts).codes)  # also builds the character tables, which a process does once
    least = take_turns(
        {
            "ours": lambda: split_texts(texts),
            "ours_with_forms": lambda: split_texts(texts).forms,
            "plain": lambda: [re.findall(r"\w+", text.lower()) for text in texts],
        },
        rounds=rounds,
    )
    return TokenizeTimes(len(texts), words, rounds, **least)


def tokenize(corpus: str, texts: Sequence[str]) -> Found:
    """Words with character spans beside `re.findall` without."""
    times = run(texts)
    ways = {
        "re.findall loop, words only": times.plain,
        "heedful: spans, and codes of words": times.ours,
        "heedful: spans, and a list of words": times.ours_with_forms,
    }
    rows = [[way, f"{seconds:.3f}", f"{seconds / times.plain:.2f}"] for way, seconds in ways.items()]
    about = f"{times.texts:,} texts of {corpus}, {times.words:,} words; best of {times.rounds} rounds"
    shown = (about, Table("", ["way", "seconds", "× plain"], rows))
    return Found(numbers_of(times, "ratio", corpus=corpus), shown)
