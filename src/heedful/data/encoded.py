"""Texts as numbers: the word ids of all texts in one flat array, in memory or mapped from files.

The ids of text i are those from `offsets[i]` to `offsets[i + 1]`. In a folder each array is an .npy file that
is mapped, not read, so a corpus larger than memory can be written chunk by chunk and walked batch by batch.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, repeat
from pathlib import Path
from typing import BinaryIO

import numpy as np

from heedful.data.outgrowing import GrowingArray, StoredTexts
from heedful.data.sentences import sentence_numbers
from heedful.data.vocabulary import Vocabulary
from heedful.data.words import TextsWords, WordRules, split_texts
from heedful.errors import UserError
from heedful.files import folder_atomically, write_atomically
from heedful.records.stored import read_json

_SCHEMA = "heedful.encoded"
_VERSION = 1
_DTYPES = {"ids": "<i4", "offsets": "<i8", "labels": "<i8", "unread": "<i4", "sentences": "<i4"}
_CHUNK = 1 << 22  # characters of text held at a time


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

    @classmethod
    def open(cls, folder: str | Path) -> "EncodedTexts":
        """Map the arrays that `encode_texts` wrote into `folder`; nothing is read until it is used."""
        folder = Path(folder)
        encoded = _from_arrays({name: _map(folder, name) for name in _read_names(folder)})
        if not _fits(encoded):
            raise _damaged(folder)
        return encoded


def encode_texts(
    texts: Iterable[str],
    labels: Iterable[int] | None,
    vocabulary: Vocabulary,
    *,
    rules: WordRules | None = None,
    sentences: bool = False,
    max_length: int | None = None,
    folder: str | Path | None = None,
    keep_texts: bool = False,
    progress: Callable[[int], None] | None = None,
) -> EncodedTexts:
    """Split texts into words and number them, keeping the first `max_length` words of each.

    Texts may be a stream: only some megabytes of them are held at a time. With a `folder` (which must not be
    there yet) the numbers go to files as they come, and the result is mapped. A text without a word is
    refused, and nothing is written. `keep_texts` keeps the texts in memory beside their ids. `progress` is
    told how many texts are done.
    """

    def parts() -> Iterator[dict[str, np.ndarray]]:
        rows = words = 0
        for chunk, chunk_labels in _chunks(texts, labels):
            split = split_texts(chunk, rules)
            encoded = encode_words(
                split, vocabulary, sentences=sentences, max_length=max_length, first_row=rows
            )
            yield _to_arrays(encoded, words, None if labels is None else chunk_labels)
            rows += len(chunk)
            words += len(encoded.ids)
            if progress is not None:
                progress(rows)
        if rows == 0:
            raise UserError("There is no text to encode: give at least one.")

    kept: Sequence[str] | None = None
    if keep_texts:
        texts = kept = texts if isinstance(texts, StoredTexts) else list(texts)
    if folder is None:
        encoded = _gather(parts())
    else:
        with folder_atomically(folder) as temporary:
            _write(parts(), temporary)
        encoded = EncodedTexts.open(folder)
    return replace(encoded, texts=kept, rules=rules) if keep_texts else encoded


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


def _chunks(texts: Iterable[str], labels: Iterable[int] | None) -> Iterator[tuple[list[str], list[int]]]:
    """Texts and labels, some megabytes at a time; refuses more of one than of the other."""
    chunk: list[str] = []
    chunk_labels: list[int] = []
    size = 0
    label_walk = repeat(0) if labels is None else iter(labels)
    for text in texts:
        label = next(label_walk, None)
        if label is None:
            raise UserError("There are more texts than labels: each text needs one.")
        chunk.append(text)
        chunk_labels.append(int(label))
        size += len(text)
        if size >= _CHUNK:
            yield chunk, chunk_labels
            chunk, chunk_labels, size = [], [], 0
    if labels is not None and next(label_walk, None) is not None:
        raise UserError("There are more labels than texts: each text needs one.")
    if chunk:
        yield chunk, chunk_labels


def _to_arrays(encoded: EncodedTexts, words_before: int, labels: list[int] | None) -> dict[str, np.ndarray]:
    """The arrays of one chunk, named; offsets go on from the words before it, without the first 0."""
    arrays = {"ids": encoded.ids, "offsets": encoded.offsets[1:] + words_before, "unread": encoded.unread}
    if labels is not None:
        arrays["labels"] = np.array(labels, np.int64)
    if encoded.sentences is not None:
        arrays["sentences"] = encoded.sentences
    return arrays


def _from_arrays(arrays: dict[str, np.ndarray]) -> EncodedTexts:
    return EncodedTexts(
        arrays["ids"], arrays["offsets"], arrays.get("labels"), arrays["unread"], arrays.get("sentences")
    )


def _gather(parts: Iterator[dict[str, np.ndarray]]) -> EncodedTexts:
    grown = {"offsets": GrowingArray(_DTYPES["offsets"])}
    grown["offsets"].append(np.zeros(1, np.int64))
    for part in parts:
        for name, array in part.items():
            grown.setdefault(name, GrowingArray(_DTYPES[name])).append(array)
    return _from_arrays({name: array.finish() for name, array in grown.items()})


def _write(parts: Iterator[dict[str, np.ndarray]], folder: Path) -> None:
    """Append each part to one .npy file for each array, then say in encoded.json which arrays there are."""
    first = next(parts)
    with ExitStack() as stack:
        files = {
            name: _GrowingFile(stack.enter_context(open(folder / f"{name}.npy", "wb")), _DTYPES[name])
            for name in first
        }
        files["offsets"].append(np.zeros(1, np.int64))
        for part in chain([first], parts):
            for name, array in part.items():
                files[name].append(array)
        for file in files.values():
            file.finish()
    content = {"schema": _SCHEMA, "version": _VERSION, "arrays": list(first)}
    with write_atomically(folder / "encoded.json") as about:
        json.dump(content, about)


class _GrowingFile:
    """An .npy file whose length is known only at its end: numpy leaves room in the header for it."""

    def __init__(self, file: BinaryIO, dtype: str) -> None:
        self.file, self.dtype, self.length = file, dtype, 0
        self._write_header()
        self.start = file.tell()

    def append(self, array: np.ndarray) -> None:
        self.file.write(np.ascontiguousarray(array, self.dtype).data)
        self.length += len(array)

    def finish(self) -> None:
        self.file.seek(0)
        self._write_header()
        assert self.file.tell() == self.start, "the header of an .npy file has grown into its data"

    def _write_header(self) -> None:
        header = {"descr": self.dtype, "fortran_order": False, "shape": (self.length,)}
        np.lib.format.write_array_header_1_0(self.file, header)


def _read_names(folder: Path) -> list[str]:
    try:
        content = read_json(folder / "encoded.json")
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"There are no encoded texts in {folder}: give a folder of encode_texts.") from None
    except ValueError:  # not JSON, or not UTF-8
        raise _damaged(folder) from None
    if not isinstance(content, dict) or content.get("schema") != _SCHEMA:
        raise _damaged(folder)
    if content.get("version") != _VERSION:
        raise UserError(
            f"The encoded texts in {folder} are of version {content.get('version')!r}, but this heedful "
            f"reads version {_VERSION}: encode them again."
        )
    names = content.get("arrays")
    if not isinstance(names, list):
        raise _damaged(folder)
    if not {"ids", "offsets", "unread"} <= set(map(str, names)) <= set(_DTYPES):
        raise _damaged(folder)
    return names


def _map(folder: Path, name: str) -> np.ndarray:
    try:
        array: np.ndarray = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
    except (OSError, EOFError, ValueError):  # not there, empty, cut short, or no .npy file
        raise _damaged(folder) from None
    if array.ndim != 1 or array.dtype != np.dtype(_DTYPES[name]):
        raise _damaged(folder)
    return array


def _fits(encoded: EncodedTexts) -> bool:
    """Whether the arrays are of lengths that belong together."""
    texts, words = len(encoded), len(encoded.ids)
    return (
        texts > 0
        and encoded.offsets[-1] == words
        and len(encoded.unread) == texts
        and (encoded.labels is None or len(encoded.labels) == texts)
        and (encoded.sentences is None or len(encoded.sentences) == words)
    )


def _damaged(folder: Path) -> UserError:
    return UserError(f"The encoded texts in {folder} are damaged: encode them again.")


def _quoted(text: str) -> str:
    short = text.strip()[:40]
    return f" ({short!r})" if short else ""
