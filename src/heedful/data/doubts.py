"""Where data cannot be what was meant: sentences of warning, each with an example. Axes: N rows, K classes.

Nothing is changed here. Somebody who means it can go on; somebody who does not is told before any work.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from heedful.data.dealing import Copies
from heedful.data.scripts import SPACELESS, can_segment, is_spaceless
from heedful.errors import shortened

LOOKED_AT = 2000  # first texts by which words are judged
ONE_WORD = 1.2  # words a text, below which texts are no texts
MANY_CLASSES, MANY_FLOATS = 100, 10
SEVERAL = 0.05  # of the label names, that are made of several others
_FRACTION = re.compile(r"[-+]?\d*\.\d*[1-9]\d*([eE][-+]?\d+)?")
_WORDS = re.compile(r"\w+")
_PARTS = re.compile(r"\s*[,;|/]\s*")


def doubts_about(texts: Sequence[str], labels: np.ndarray, names: Sequence[str]) -> Iterator[str]:
    """The warnings there are about these texts, their labels (N,) and the names of the K classes."""
    yield from _about_words(texts)
    yield from _about_classes(names)
    yield from _about_conflicts(texts, labels, names)


def _about_words(texts: Sequence[str]) -> Iterator[str]:
    looked = texts[:LOOKED_AT]
    if is_spaceless(looked):
        found = "are found by ICU's dictionaries" if can_segment() else "need pip install 'heedful[icu]'"
        yield f"The texts have no spaces between words ({SPACELESS} or the like): their words {found}."
        return
    counts = [len(_WORDS.findall(text)) for text in looked]
    if np.mean(counts) < ONE_WORD:
        yield (
            f"Warning: there is hardly more than one word a text, such as {_cut(looked[0])!r}: is this the "
            "column of the texts? Say otherwise with --text."
        )


def _about_classes(names: Sequence[str]) -> Iterator[str]:
    fractions = [name for name in names if _FRACTION.fullmatch(name)]
    known = {_bare(name) for name in names}
    several = [
        name for name in names if len(parts := _listed(name)) > 1 and all(part in known for part in parts)
    ]
    if len(fractions) >= MANY_FLOATS:
        yield (
            f"Warning: {len(fractions)} labels are fractions such as {fractions[0]}, which are measurements "
            "and not classes: make classes of them, or name another column with --label."
        )
    elif len(names) >= MANY_CLASSES:
        yield (
            f"Warning: there are {len(names):,} classes, such as {_cut(names[0])!r}: is this the column of "
            "the labels? Say otherwise with --label."
        )
    if len(several) > SEVERAL * len(names):
        yield (
            f"Warning: {len(several)} labels are several in one cell, such as {_cut(several[0])!r}; each is "
            "taken for a class of its own: give each text one label."
        )


def _about_conflicts(texts: Sequence[str], labels: np.ndarray, names: Sequence[str]) -> Iterator[str]:
    copies = Copies.of(texts)
    found = labels[copies.order]
    packet = np.repeat(np.arange(len(copies.bounds) - 1), np.diff(copies.bounds))
    other = np.flatnonzero(found != found[copies.bounds[:-1]][packet])
    if len(other):
        count = len(np.unique(packet[other]))
        place = other[copies.order[other].argmin()]  # where the first conflict shows
        one = found[copies.bounds[packet[place]]]
        yield (
            f"Warning: {count:,} text{'s have' if count > 1 else ' has'} more than one label, such as "
            f"{_cut(texts[copies.order[place]])!r}, which is "
            f"{shortened(names[one])!r} and {shortened(names[found[place]])!r}."
        )


def _listed(name: str) -> list[str]:
    """The parts of a cell like "a, b" or "['a', 'b']"."""
    return [_bare(part) for part in islice(_PARTS.split(name), 100)]


def _bare(name: str) -> str:
    return name.strip("[](){}\"' ")


def _cut(text: str, limit: int = 40) -> str:
    plain = " ".join(text[: 2 * limit].split())
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"
