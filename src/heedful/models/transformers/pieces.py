"""Texts cut into pieces by the model's own tokenizer, and which words each piece belongs to.

A piece may belong to several words: "▁me." is both "me" and ".", a half of each. Marks around the text, and
words of a template, belong to none. Texts are put together by exactly equal numbers of pieces, so no batch
has padding: a text is read alike alone and in company, by every family, and as fast as can be.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from heedful.data.pairs import PAIR
from heedful.data.words import Words
from heedful.errors import UserError
from heedful.models.written import Written, written

Spans = tuple[np.ndarray, np.ndarray]
TOKENS = 4096  # pieces of one pass: enough to keep a processor busy, and to stay in its cache


@dataclass(frozen=True, eq=False)
class Cut:
    """One text in L pieces: a piece belongs to words `first` to `last` (L,), to none where they are −1."""

    inputs: dict[str, list[int]]  # what the network is given: input_ids and perhaps more, each of length L
    find: Callable[[], Spans]  # first and last; of most texts nobody asks

    def __len__(self) -> int:
        return len(self.inputs["input_ids"])

    @cached_property
    def _words(self) -> Spans:
        return self.find()

    @property
    def first(self) -> np.ndarray:
        return self._words[0]

    @property
    def last(self) -> np.ndarray:
        return self._words[1]

    @property
    def slots(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each piece as often as it has words: its number, the word (−1 for none), and its share of it."""
        first = self.first
        counts = np.where(first < 0, 1, self.last - first + 1)
        piece = np.repeat(np.arange(len(self)), counts)
        nth = np.arange(len(piece)) - np.repeat(counts.cumsum() - counts, counts)
        return piece, np.where(first[piece] < 0, -1, first[piece] + nth), 1 / counts[piece]


@dataclass(frozen=True, eq=False)
class Group:
    """Texts of equally many pieces: `rows` (G,) are their places in the batch."""

    rows: Tensor
    inputs: dict[str, Tensor]  # (G,L) each
    cuts: list[Cut]

    @property
    def length(self) -> int:
        """L."""
        return len(self.cuts[0])

    def parts(self, size: int) -> "Iterator[Group]":
        """The same texts, at most so many at a time."""
        for begin in range(0, len(self.cuts), size):
            some = slice(begin, begin + size)
            inputs = {name: values[some] for name, values in self.inputs.items()}
            yield Group(self.rows[some], inputs, self.cuts[some])

    def belongs(self, words: int) -> Tensor:
        """How much of each piece belongs to each word (G,T,L); a piece's shares add up to 1, or to 0."""
        ids = self.inputs["input_ids"]
        found = torch.zeros(len(self.cuts), words, self.length, device=ids.device)
        for row, cut in enumerate(self.cuts):
            piece, word, share = cut.slots
            real = word >= 0
            found[row, word[real], piece[real]] = torch.from_numpy(share[real]).float().to(ids.device)
        return found


class Cutter:
    """Cuts written texts into pieces as the model's own pipeline does, with its truncation."""

    def __init__(
        self,
        tokenizer: Any,
        *,
        longest: int | None,
        accepts: frozenset[str],
        unknown: str,
        template: Sequence[str] = (),
        special: bool = True,
    ) -> None:
        """`accepts` are the inputs that the network takes; `unknown` is written for the unknown word.

        `template` has what stands before a text and after it, or before, between and after the two of a pair.
        """
        self.tokenizer, self.longest, self.accepts, self.unknown = tokenizer, longest, accepts, unknown
        self.template, self.special = tuple(template), special

    def __call__(self, texts: Sequence[Words]) -> list[Cut]:
        """The pieces of each text."""
        return self._in_template(texts) if self.template else self._plain(texts)

    def _in_template(self, texts: Sequence[Words]) -> list[Cut]:
        """The pieces of texts in the template; those that are too long lose words at their end."""
        found: list[Cut] = []
        for words, filled in [(words, fill(self.template, words, self.unknown)) for words in texts]:
            cut = self._cut_filled(filled)
            kept = len(words)
            while self.longest is not None and len(cut) > self.longest and kept > 1:
                # Words of the pieces that are too many go, at least one; what is left is cut again.
                least = cut.first[cut.first >= 0][self.longest - len(cut) :]
                kept = max(1, min(kept - 1, int(least.min()) if len(least) else kept - 1))
                cut = self._cut_filled(fill(self.template, words.first(kept), self.unknown))
            found.append(cut)
        return found

    def _cut_filled(self, filled: Written) -> Cut:
        read = self.tokenizer(filled.text, add_special_tokens=self.special, verbose=False)
        inputs = {name: read[name] for name in read if name in self.accepts}
        return Cut(inputs, partial(_touched, filled, read, 0))

    def _plain(self, texts: Sequence[Words]) -> list[Cut]:
        shown = [written(words, self.unknown) for words in texts]
        parts = [one.text.split(PAIR, 1) for one in shown]
        pairs = any(len(part) == 2 for part in parts)
        limit: dict[str, Any] = {"truncation": True, "max_length": self.longest} if self.longest else {}
        read = self.tokenizer(
            [part[0] for part in parts],
            [part[1] if len(part) == 2 else "" for part in parts] if pairs else None,
            **limit,
        )
        given = [(name, read[name]) for name in read if name in self.accepts]
        return [
            Cut(
                {name: values[row] for name, values in given},
                partial(_touched, one, read, row, second=len(parts[row][0]) + len(PAIR)),
            )
            for row, one in enumerate(shown)
        ]


def fill(template: Sequence[str], words: Words, unknown: str) -> Written:
    """The text of these words in a template, and where each word begins and ends there."""
    one = written(words, unknown)
    texts = one.text.split(PAIR, 1)
    if len(texts) != len(template) - 1:
        needed = "a pair of texts" if len(template) == 3 else "one text"
        raise UserError(f"The template is for {needed}, but a row has {len(texts)}.")
    whole = template[0] + "".join(text + after for text, after in zip(texts, template[1:], strict=True))
    # Behind the sign between two texts stands the template's middle in its place.
    second = one.begins > len(texts[0]) if len(texts) == 2 else np.zeros(len(one.begins), dtype=bool)
    moved = len(template[0]) + np.where(second, len(template[1]) - len(PAIR), 0)
    return Written(whole, one.begins + moved, one.ends + moved)


def _touched(shown: Written, read: Any, row: int, *, second: int = 0) -> Spans:
    """The first and last word that each piece of a row touches; marks around the text touch none.

    The second text of a pair is counted from 0 again: its places follow the sign between the two, from
    `second` on.
    """
    spans = np.array(read.encodings[row].offsets, dtype=np.int64).reshape(-1, 2)
    side = np.array([-1 if side is None else side for side in read.sequence_ids(row)])
    spans = spans + np.where(side == 1, second, 0)[:, None]
    return covered(spans, shown.begins, shown.ends, inside=side >= 0)


def covered(spans: np.ndarray, begins: np.ndarray, ends: np.ndarray, *, inside: np.ndarray) -> Spans:
    """The first and last word that each span (L,2) of characters touches; −1 and −1 where it touches none."""
    start, end = spans.T
    first = np.searchsorted(ends, start, side="right")  # the first word that ends after the piece begins
    last = np.searchsorted(begins, end, side="left") - 1  # the last word that begins before the piece ends
    none = (last < first) | (end <= start) | ~inside
    return np.where(none, -1, first), np.where(none, -1, last)


def groups(cuts: Sequence[Cut], *, device: torch.device, tokens: int = TOKENS) -> Iterator[Group]:
    """The texts by their number of pieces, longest first, at most `tokens` pieces at a time."""
    lengths = np.array([len(cut) for cut in cuts])
    for length in sorted(set(lengths.tolist()), reverse=True):
        rows = np.flatnonzero(lengths == length)
        size = max(1, tokens // length)
        for begin in range(0, len(rows), size):
            part = rows[begin : begin + size]
            own = [cuts[row] for row in part]
            inputs = {
                name: torch.tensor([cut.inputs[name] for cut in own], device=device) for name in own[0].inputs
            }
            yield Group(torch.from_numpy(part).to(device), inputs, own)
