"""Sentences of a text, for the hierarchical models: a small set of rules, meant for English.

A sentence ends at a full stop, question or exclamation mark, an ellipsis before a capital, a blank line or a
line break of a web page ("<br />", "</p>"). A full stop does not end one after an abbreviation, an initial or
the number of a list item, and no mark does without a space behind it (3.5, www.imdb.com). Where an
abbreviation may also end a sentence ("in the U.S."), it does if a word that often opens one follows ("He",
but not "Army"). A sentence cannot be without a word: stray marks go to a neighbour.
"""

import re
from itertools import pairwise

import numpy as np

from heedful.data.words import Words


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# After these a name, a number or a continuation follows.
_NEVER_LAST = _set(
    "mr mrs ms mx messrs dr prof st mt ft rev fr hon capt cpt gen col maj lt sgt cmdr adm sen rep gov pres "
    "supt e.g eg i.e ie vs cf viz approx resp"
)
_BEFORE_A_NUMBER = _set("no nos nr vol fig figs eq sec ch p pp art")
_MAYBE_LAST = _set(
    "inc ltd co corp bros jr sr esq ph.d dept univ assn ave blvd al eds jan feb mar apr jun jul aug sep sept "
    "oct nov dec mon tue tues wed thu thur thurs fri"
)
_OPENERS = _set(
    "a an the this that these those there here i he she it we you they my his her its our your their one "
    "some many most all no not and but or so yet if when while what who why how where after before then now "
    "in on at as for from with also although though because since however still even once just"
)

_TAGS = r"(?:<(?:br\s*/?|/p)>\s*)+"
_BREAK = re.compile(
    rf"""
      (?<![.!?…]) (?P<stop> [.!?…] (?:\ ?[.!?…])* ) (?P<close> ["'”’»)\]}}]* ) (?=\s|$|<)
      (?P<tags> \s*{_TAGS} )?
    | {_TAGS}
    | \n\s*\n
    | [。！？]+ [」』”’）]*
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ANY_WORD = re.compile(r"[^\W_]")
_TOKEN_BEFORE = re.compile(r"\w[\w.]*$")
_NEXT_WORD = re.compile(r"""[\s"'“‘«(\[{]*(\w*)""")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Where each sentence starts and ends; together the spans hold all of the text that is not space."""
    cuts, begin, looked, has_word = [0], 0, 0, False
    for match in _BREAK.finditer(text):
        has_word = has_word or _ANY_WORD.search(text, looked, match.start()) is not None
        looked = match.end()
        if has_word and _ends_here(text, begin, match):
            begin, has_word = match.end(), False
            cuts.append(begin)
    if len(cuts) > 1 and not (has_word or _ANY_WORD.search(text, looked)):
        cuts.pop()
    cuts.append(len(text))
    spans = (_trimmed(text, start, end) for start, end in pairwise(cuts))
    return [(start, end) for start, end in spans if start < end]


def sentence_numbers(words: Words) -> np.ndarray:
    """The sentence number of each word as int32, from 0; sentences without words do not count."""
    ends = [end for _, end in split_sentences(words.text)]
    sentence = np.searchsorted(np.array(ends, np.int64), words.starts, side="right")
    steps = np.diff(sentence, prepend=sentence[:1]) > 0
    return steps.cumsum(dtype=np.int32)


def _ends_here(text: str, begin: int, match: re.Match[str]) -> bool:
    """Whether the sentence from `begin` ends at this mark."""
    stop = match["stop"]
    if stop is None or match["tags"]:
        return True
    following = _NEXT_WORD.match(text, match.end())
    word = following[1] if following else ""
    goes_on = word[:1].islower()
    if match["close"] and goes_on:  # "Stop!" he said
        return False
    if "!" in stop or "?" in stop:
        return True
    if stop != ".":
        return not goes_on
    return _full_stop_ends(text, begin, match.start(), word)


def _full_stop_ends(text: str, begin: int, stop: int, following: str) -> bool:
    """Whether the full stop at `stop` is more than the mark of an abbreviation, given the word after it."""
    found = _TOKEN_BEFORE.search(text, max(begin, stop - 24), stop)
    if found is None:
        return True
    token = found[0]
    short = token.lower()
    if short in _NEVER_LAST:
        return False
    if short in _BEFORE_A_NUMBER:
        return not following[:1].isdigit()
    if short == "etc":
        return following[:1].isupper()
    is_letter = len(token) == 1 and token.isalpha()
    opens_list_item = (is_letter or token.isdecimal()) and not text[begin : found.start()].strip()
    if opens_list_item:
        return False
    is_initial = is_letter and token.isupper() and token != "I"
    if is_initial or short in _MAYBE_LAST or _DOTTED.fullmatch(token):
        return following[:1].isupper() and following.lower() in _OPENERS
    return True


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return start, start + len(piece.strip())
