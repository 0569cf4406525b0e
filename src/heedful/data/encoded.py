"""Texts as numbers: the word ids of all texts in one flat array.

The ids of text i are those from `offsets[i]` to `offsets[i + 1]`. Numbers that outgrow memory are mapped from
a temporary file (`data.outgrowing`), so a corpus of any size can be encoded and walked batch by batch.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from heedful.data.outgrowing import GrowingArray, StoredTexts, text_chunks
from heedful.data.sentences import sentence_numbers
from heedful.data.vocabulary import Vocabulary
from heedful.data.words import TextsWords, WordRules, split_texts
from heedful.errors import UserError


@dataclass(frozen=True, eq=False)
class EncodedTexts:
    """The word ids of N texts, W words together, and what belongs to them.

    `ids` (W) int32; `offsets` (N + 1); `labels` (N) or None; `unread` (N) counts each text's words that a
    limit on length cut off; `sentences` (W) is each word's sentence number within its text, or None. `texts`
    (N) and the `rules` that split them are kept where a model reads words and not ids.
    """

    ids: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray | None
    unread: np.ndarray
    sentences: np.ndarray | None = None
    texts: Sequence[str] | None = None
    rules: WordRules | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> np.ndarray:
        """How many words each text has (N)."""
        return np.diff(self.offsets)

    def row(self, row: int) -> np.ndarray:
        """The word ids of one text."""
        row = range(len(self))[row]
        return self.ids[self.offsets[row] : self.offsets[row + 1]]


def encode_texts(
    texts: Iterable[str],
    labels: Iterable[int] | None,
    vocabulary: Vocabulary,
    *,
    rules: WordRules | None = None,
    sentences: bool = False,
    max_length: int | None = None,
    keep_texts: bool = False,
) -> EncodedTexts:
    """Split texts into words and number them, keeping the first `max_length` words of each.

    Texts may be a stream: only some megabytes of them are held at a time. A text without a word is refused.
    `keep_texts` keeps the texts beside their ids.
    """
    kept: Sequence[str] | None = None
    if keep_texts:
        texts = kept = texts if isinstance(texts, StoredTexts) else list(texts)
    ids, offsets, unread = GrowingArray("<i4"), GrowingArray("<i8"), GrowingArray("<i4")
    numbers, codes = GrowingArray("<i4"), GrowingArray("<i8")
    offsets.append(np.zeros(1, np.int64))
    for chunk, chunk_labels in _chunks(texts, labels):
        split, row = split_texts(chunk, rules), unread.length
        part = encode_words(split, vocabulary, sentences=sentences, max_length=max_length, first_row=row)
        offsets.append(part.offsets[1:] + ids.length)
        ids.append(part.ids)
        unread.append(part.unread)
        if part.sentences is not None:
            numbers.append(part.sentences)
        if chunk_labels is not None:
            codes.append(chunk_labels)
    if not unread.length:
        raise UserError("There is no text to encode: give at least one.")
    return EncodedTexts(
        ids.finish(),
        offsets.finish(),
        None if labels is None else codes.finish(),
        unread.finish(),
        numbers.finish() if sentences else None,
        texts=kept,
        rules=rules if keep_texts else None,
    )


def encode_words(
    words: TextsWords,
    vocabulary: Vocabulary,
    *,
    sentences: bool = False,
    max_length: int | None = None,
    first_row: int = 0,
) -> EncodedTexts:
    """Number the words of texts that are split already, without labels; errors count from `first_row`."""
    if max_length is not None and max_length < 1:
        raise UserError(f"max_length must be at least 1 word, not {max_length}.")
    lengths = words.lengths
    empty = np.flatnonzero(lengths == 0)
    if len(empty):
        if len(lengths) == 1 and not first_row:  # of a single text there is no row to find
            raise UserError(
                f"The text has no word{_quoted(words.texts[0])}: give one with at least one word."
            )
        raise UserError(
            f"Each text needs at least one word, but row {first_row + empty[0]} (counted from 0) has none"
            f"{_quoted(words.texts[empty[0]])}: remove it, or choose rules that keep its words."
        )
    ids = vocabulary.ids(words)
    numbers = np.concatenate([sentence_numbers(text) for text in words]) if sentences else None
    if max_length is None:
        return EncodedTexts(ids, words.offsets, None, np.zeros(len(lengths), np.int32), numbers)
    place = np.arange(len(ids)) - np.repeat(words.offsets[:-1], lengths)
    read = place < max_length
    kept = np.minimum(lengths, max_length)
    offsets = np.concatenate(([0], kept.cumsum()))
    unread = (lengths - kept).astype(np.int32)
    return EncodedTexts(ids[read], offsets, None, unread, None if numbers is None else numbers[read])


def _chunks(
    texts: Iterable[str], labels: Iterable[int] | None
) -> Iterator[tuple[list[str], np.ndarray | None]]:
    """Texts and labels, some megabytes at a time; refuses more of one than of the other."""
    walked = None if labels is None else iter(labels)
    for chunk in text_chunks(texts):
        own = None if walked is None else np.fromiter(islice(walked, len(chunk)), np.int64)
        if own is not None and len(own) < len(chunk):
            raise UserError("There are more texts than labels: each text needs one.")
        yield chunk, own
    if walked is not None and next(walked, None) is not None:
        raise UserError("There are more labels than texts: each text needs one.")


def _quoted(text: str) -> str:
    short = text.strip()[:40]
    return f" ({short!r})" if short else ""
