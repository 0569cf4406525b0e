"""Words of a text as it is written, and the text again when some of them have left.

A word is a run of letters and digits with the marks on them, or of other signs. Where a script writes no
spaces, a word is smaller: a Han character, a run of one kind of kana, a Thai, Lao, Khmer or Burmese letter
with its marks. Every character but white space is in a word, so the words of an unchanged text give back
that text to the last character, and a model reads it as its own pipeline does.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from heedful.data.batches import Batch
from heedful.data.pairs import PAIR
from heedful.data.vocabulary import PADDING_ID, SPECIAL
from heedful.data.words import Words, combining_class
from heedful.errors import UserError

WORD_ID = 2  # of every word: models that read texts do not read our ids
_HAN = "㐀-䶿一-鿿豈-﫿𠀀-𲎯"
_KANA = ("ぁ-ゟ", "ァ-ヺー-ヿㇰ-ㇿｦ-ﾟ")  # hiragana, katakana with their long sign
_NO_SPACES = "฀-๿຀-໿ក-៿က-႟"  # Thai, Lao, Khmer, Burmese


@lru_cache
def _pattern() -> re.Pattern[str]:
    marks = combining_class()
    whole = rf"[{_HAN}{''.join(_KANA)}{_NO_SPACES}]"
    letter = rf"(?!{whole})\w"
    run = rf"{letter}(?:{letter}|[{marks}])*"
    kana = "|".join(rf"(?:[{kind}][{marks}]*)+" for kind in _KANA)
    alone = rf"(?=\w)[{_HAN}{_NO_SPACES}][{marks}]*"
    return re.compile(rf"{run}(?:['’]{run})*|{kana}|{alone}|[^\w\s]+")


def words_of(text: str) -> Words:
    """The words of a text, with the places where each begins and ends."""
    found = list(_pattern().finditer(text))
    starts = np.array([match.start() for match in found], dtype=np.int64)
    ends = np.array([match.end() for match in found], dtype=np.int64)
    return Words(text, [match.group() for match in found], starts, ends)


def batch_of_words(texts: Sequence[str], device: torch.device | str = "cpu") -> Batch:
    """The words of these texts as a batch (B,T); a text without a word is refused."""
    words = [words_of(text) for text in texts]
    for row, found in enumerate(words):
        if not len(found):
            raise UserError(f"Text {row} has no word: leave such texts out.")
    counts = torch.tensor([len(found) for found in words])
    mask = torch.arange(int(counts.max()) if len(counts) else 0) < counts[:, None]
    ids = torch.where(mask, WORD_ID, PADDING_ID)
    return Batch(ids, mask, labels=None, rows=np.arange(len(words)), words=words).to(device)


@dataclass(frozen=True, eq=False)
class Written:
    """A text, and where each of its words begins and ends in it."""

    text: str
    begins: np.ndarray
    ends: np.ndarray


def written(words: Words, unknown: str) -> Written:
    """The text of these words.

    Between neighbours stands what stood there, white space around the text as well; where words have gone, a
    space if there was one. The unknown word is written as `unknown`.
    """
    parts: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    length, before = 0, 0
    spans = zip(words.forms, words.starts.tolist(), words.ends.tolist(), strict=True)
    for place, (form, start, end) in enumerate(spans):
        gap = _gap(words.text[before:start] if before <= start else " ", inner=place > 0)
        shown = unknown if form == SPECIAL[1] else words.text[start:end]
        begins.append(length + len(gap))
        parts += (gap, shown)
        length, before = length + len(gap) + len(shown), end
        ends.append(length)
    parts.append(_gap(words.text[before:], inner=False))
    return Written("".join(parts), np.array(begins), np.array(ends))


def _gap(between: str, *, inner: bool) -> str:
    """White space between two words or around the text; where words are gone, a space or nothing."""
    if not between.strip():
        return between
    if PAIR in between:  # it never leaves
        return PAIR
    return " " if inner and re.search(r"\s", between) else ""
