"""Words of texts, with their character offsets, many texts in one call.

The default rule is the papers' "non-word characters to spaces, lower case": a word is a run of Unicode word
characters (`\\w` of Python's `re`) with the combining marks on them (Unicode M: accents written apart, vowel
signs of Hindi), lower-cased afterwards, so that offsets always count characters of the original text even
where lower-casing changes a length ("İ"). Marks that follow no word character, as in "❤️", are in no word. The
work is done on arrays of code points: a table tells each character's letter (or a space), the edges of runs
are the offsets, and one `str.split` makes the words of a whole chunk.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import count
from typing import Literal

import numpy as np

from heedful.data.scripts import is_spaceless, word_cuts
from heedful.errors import choose_from

NUMBER = "<num>"

_CODE_POINTS = 0x110000
_SPACE = ord(" ")
_NUMBER_SIGN = 0  # stands for NUMBER until the end: no word or mark contains it
_APOSTROPHES = "'’"
_SIGMA, _DOTTED_I = ord("Σ"), ord("İ")  # the two letters whose lower case is not one fixed character
_COMBINING = 1 << 31  # set in the letter of a combining mark: one look tells whether a chunk has any
_CHUNK = 1 << 17  # characters at a time: the arrays of a chunk stay in the processor's cache


@dataclass(frozen=True)
class WordRules:
    """What counts as a word and what form it takes."""

    lower: bool = True
    numbers: Literal["keep", "one", "drop"] = "keep"
    """A number is a word of digits alone. "one" gives every number the form `<num>` and reads 1,000.5 as one
    number, "drop" leaves it out; "keep" follows the rule for words, so 1,000.5 is three of them."""
    punctuation: Literal["drop", "keep"] = "drop"
    """"keep" makes each punctuation mark or symbol (Unicode P and S) a word of its own."""
    apostrophes: bool = False
    """True keeps an apostrophe between word characters, so "don't" is one word; a typographic ’ becomes '."""
    segment: bool = False
    """True finds the words of scripts that put no spaces between them by ICU's dictionaries (extra `icu`)."""

    def __post_init__(self) -> None:
        choose_from("rule for numbers", self.numbers, ("keep", "one", "drop"))
        choose_from("rule for punctuation", self.punctuation, ("drop", "keep"))


@dataclass(frozen=True, eq=False)
class Words:
    """The words of one text: word i has the form `forms[i]` and is painted on `text[starts[i]:ends[i]]`.

    `unread` counts the words that followed these and were cut off by a limit on length.
    """

    text: str
    forms: list[str]
    starts: np.ndarray
    ends: np.ndarray
    unread: int = 0

    def __len__(self) -> int:
        return len(self.forms)

    def first(self, limit: int | None) -> "Words":
        """The first `limit` words; the rest become unread."""
        if limit is None or len(self) <= limit:
            return self
        unread = self.unread + len(self) - limit
        return replace(
            self, forms=self.forms[:limit], starts=self.starts[:limit], ends=self.ends[:limit], unread=unread
        )


@dataclass(frozen=True, eq=False)
class TextsWords:
    """The words of many texts in flat arrays: those of text i go from `offsets[i]` to `offsets[i + 1]`.

    Forms are kept once each, in `types`, and words point to them by `codes`; `starts` and `ends` count
    characters from the beginning of the word's own text. Indexing gives the `Words` of one text.
    """

    texts: Sequence[str]
    types: list[str]
    codes: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, row: int) -> Words:
        row = range(len(self))[row]
        span = slice(self.offsets[row], self.offsets[row + 1])
        return Words(self.texts[row], self._forms(self.codes[span]), self.starts[span], self.ends[span])

    def __iter__(self) -> Iterator[Words]:
        return (self[row] for row in range(len(self)))

    @property
    def lengths(self) -> np.ndarray:
        """How many words each text has."""
        return np.diff(self.offsets)

    @property
    def forms(self) -> list[str]:
        """The forms of all words of all texts, made anew at each call."""
        return self._forms(self.codes)

    @property
    def counts(self) -> np.ndarray:
        """How often each of `types` occurs."""
        return np.bincount(self.codes, minlength=len(self.types))

    def _forms(self, codes: np.ndarray) -> list[str]:
        forms: list[str] = self._type_array.take(codes).tolist()
        return forms

    @cached_property
    def _type_array(self) -> np.ndarray:
        return np.array(self.types, dtype=object)


def rules_for(texts: Sequence[str]) -> WordRules:
    """The default rules for these texts: with ICU's dictionaries if their script has no spaces."""
    return WordRules(segment=is_spaceless(texts))


def split_words(text: str, rules: WordRules | None = None) -> Words:
    """The words of one text."""
    return split_texts([text], rules)[0]


def split_texts(texts: Sequence[str], rules: WordRules | None = None) -> TextsWords:
    """The words of many texts."""
    if isinstance(texts, str):
        raise TypeError("split_texts takes a list of texts; for one text there is split_words.")
    rules = rules or WordRules()
    code_of: defaultdict[str, int] = defaultdict(count().__next__)
    codes, starts, ends, lengths = [], [], [], [np.zeros(1, np.int64)]
    for first, last in _chunks(texts):
        bounds, points = _code_points(texts[first:last])
        letters, chunk_starts, chunk_ends = _runs(points, rules)
        forms = _spell(letters, lower=rules.lower).split()
        codes.append(np.fromiter(map(code_of.__getitem__, forms), np.int32, len(forms)))
        words_of_text = np.diff(np.searchsorted(chunk_starts, bounds))
        origin = np.repeat(bounds[:-1], words_of_text)
        starts.append((chunk_starts - origin).astype(np.int32))
        ends.append((chunk_ends - origin).astype(np.int32))
        lengths.append(words_of_text)
    types = [NUMBER if form == chr(_NUMBER_SIGN) else form for form in code_of]
    flat_codes, flat_starts, flat_ends = (_join(parts) for parts in (codes, starts, ends))
    return TextsWords(texts, types, flat_codes, flat_starts, flat_ends, np.concatenate(lengths).cumsum())


def _chunks(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Row ranges of about `_CHUNK` characters; a longer text is a chunk by itself."""
    first = size = 0
    for row, text in enumerate(texts):
        size += len(text) + 1
        if size >= _CHUNK:
            yield first, row + 1
            first, size = row + 1, 0
    if first < len(texts):
        yield first, len(texts)


def _code_points(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Where each text begins (and a next one would) in the code points of all; a space stands around each."""
    bounds = np.fromiter(map(len, texts), np.int64, len(texts)) + 1
    bounds = np.concatenate(([1], bounds)).cumsum()
    together = f" {' '.join(texts)} "
    try:  # most chunks of Western text: a quarter of the memory, and a faster table
        return bounds, np.frombuffer(together.encode("latin-1"), np.uint8)
    except UnicodeEncodeError:
        return bounds, np.frombuffer(together.encode("utf-32-le", "surrogatepass"), np.uint32)


def _letters(points: np.ndarray, *, lower: bool) -> np.ndarray:
    """The letter each code point is in a word, or a space; a new array of the same type."""
    table = _letter_table(lower=lower)
    if points.dtype == np.uint8:
        small = table[:256].astype(np.uint8).tobytes()
        return np.frombuffer(bytearray(points.tobytes()).translate(small), np.uint8)
    return table.take(points)


def _runs(points: np.ndarray, rules: WordRules) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The letters of all words with spaces between them, and where in `points` each word starts and ends."""
    letters = _letters(points, lower=rules.lower)
    if letters.dtype == np.uint32 and letters.max() >= _COMBINING:
        letters = _without_stray_marks(letters)
    inside = letters != _SPACE
    if rules.apostrophes:
        apostrophes = np.flatnonzero(_among(points, _APOSTROPHES))
        between = apostrophes[inside[apostrophes - 1] & inside[apostrophes + 1]]
        letters[between] = ord("'")
        inside[between] = True
    starts, ends = _edges(inside)
    if rules.numbers != "keep":
        starts, ends, numbers = _find_numbers(points, starts, ends)
        within = _cover(starts[numbers], ends[numbers], len(points))
        letters[within] = _SPACE
        inside |= within
        if rules.numbers == "one":
            letters[starts[numbers]] = _NUMBER_SIGN
        else:
            starts, ends = starts[~numbers], ends[~numbers]
    new_starts, new_ends = [starts], [ends]
    if rules.segment and points.dtype == np.uint32:
        cuts = word_cuts(points)
        cuts = cuts[inside[cuts] & inside[cuts - 1]]
        new_starts.append(cuts)
        new_ends.append(cuts)
    if rules.punctuation == "keep":
        marks = np.flatnonzero(_mark_table().take(points) & ~inside)
        letters[marks] = points[marks]
        new_starts.append(marks)
        new_ends.append(marks + 1)
    if len(new_starts) > 1:
        gaps = np.concatenate(new_starts[1:] + new_ends[1:])
        letters = np.insert(letters, gaps, _SPACE)
        # runs do not overlap, so sorting starts and ends apart keeps them in pairs
        starts, ends = np.sort(np.concatenate(new_starts)), np.sort(np.concatenate(new_ends))
    return letters, starts, ends


def _without_stray_marks(letters: np.ndarray) -> np.ndarray:
    """The letters with spaces instead of combining marks that follow no word character."""
    marks = letters >= _COMBINING
    places = np.arange(len(letters))
    gap, letter = (
        np.maximum.accumulate(np.where(there & ~marks, places, -1))
        for there in (letters == _SPACE, letters != _SPACE)
    )
    return np.where(marks, np.where(gap > letter, _SPACE, letters - _COMBINING), letters).astype(np.uint32)


def _find_numbers(
    points: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join runs of digits across one point or comma, and tell which of the resulting runs are numbers."""
    others = np.concatenate(([0], (~_digit_table().take(points)).cumsum()))
    numbers = others[starts] == others[ends]
    near = (starts[1:] - ends[:-1] == 1) & _among(points[ends[:-1]], ".,")
    joined = near & numbers[1:] & numbers[:-1]
    opens, closes = np.append(True, ~joined)[: len(starts)], np.append(~joined, True)[: len(ends)]
    return starts[opens], ends[closes], numbers[opens]


def _spell(letters: np.ndarray, *, lower: bool) -> str:
    """The string of these code points; lower-cases the letters that the table must leave alone."""
    if letters.dtype == np.uint8:
        return letters.tobytes().decode("latin-1")
    spelt = letters.tobytes().decode("utf-32-le")
    if lower and ((letters == _SIGMA) | (letters == _DOTTED_I)).any():
        return spelt.lower()
    return spelt


def _edges(inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where runs of true start and end; both ends of `inside` must be false."""
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    return edges[::2], edges[1::2]


def _cover(starts: np.ndarray, ends: np.ndarray, size: int) -> np.ndarray:
    """True on every place between a start and its end."""
    steps = np.zeros(size, np.int8)
    steps[starts] += 1
    steps[ends] -= 1
    return steps.cumsum(dtype=np.int8).view(bool)


def _among(points: np.ndarray, characters: str) -> np.ndarray:
    found: np.ndarray = np.logical_or.reduce([points == ord(character) for character in characters])
    return found


def _join(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.zeros(0, np.int32)


@lru_cache
def _letter_table(*, lower: bool) -> np.ndarray:
    """For each code point the letter it is in a word, or a space; of a combining mark plus `_COMBINING`."""
    letters = np.arange(_CODE_POINTS, dtype=np.uint32)
    if lower:
        # No letter from plane 2 on has a case. Σ (whose lower case depends on its place) and İ (which becomes
        # two characters) stay for str.lower.
        for point in range(0x20000):
            small = chr(point).lower()
            if len(small) == 1 and point != _SIGMA:
                letters[point] = ord(small)
    letters[~_table_of(r"\w+")] = _SPACE
    marks = _combining_points()
    letters[marks] = marks + _COMBINING
    return letters


@lru_cache
def _combining_points() -> np.ndarray:
    """The code points of all combining marks, rising: they are in planes 0, 1 and 14."""
    points = [*range(0x300, 0x20000), *range(0xE0000, 0xE1000)]
    kinds = map(unicodedata.category, map(chr, points))
    return np.array([point for point, kind in zip(points, kinds, strict=True) if kind[0] == "M"], np.uint32)


@lru_cache
def combining_class() -> str:
    """All combining marks as they are written between the brackets of a pattern of `re`."""
    points = _combining_points()
    first, last = points[np.diff(points, prepend=0) != 1], points[np.diff(points, append=0) != 1]
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in zip(first.tolist(), last.tolist(), strict=True))


@lru_cache
def _digit_table() -> np.ndarray:
    return _table_of(r"\d+")


@lru_cache
def _mark_table() -> np.ndarray:
    every = _table_of(r"[^\w\s]+")
    for point in np.flatnonzero(every):
        every[point] = unicodedata.category(chr(point))[0] in "PS"
    return every


def _table_of(pattern: str) -> np.ndarray:
    """Which code points match, told by `re` itself so that the two can never disagree."""
    table = np.zeros(_CODE_POINTS, bool)
    for match in re.finditer(pattern, "".join(map(chr, range(_CODE_POINTS)))):
        table[match.start() : match.end()] = True
    return table
