"""The vocabulary: a number for each word.

0 is padding, 1 stands for every unknown word, then come the words by falling count.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from heedful.data.outgrowing import text_chunks
from heedful.data.words import TextsWords, WordRules, split_texts
from heedful.errors import UserError
from heedful.files import write_atomically
from heedful.records.stored import read_json

PADDING_ID, UNKNOWN_ID = 0, 1
SPECIAL = ("<pad>", "<unk>")

_SCHEMA = "heedful.vocabulary"
_VERSION = 1


@dataclass(frozen=True)
class Vocabulary:
    """Words and how often each was seen; word i of `words` has the id i.

    The first two words are the names of padding and unknown. No form maps to them by name: a word spelt
    "<pad>" in a text is a word like any other.
    """

    words: tuple[str, ...]
    counts: tuple[int, ...]

    @classmethod
    def build(
        cls, forms: TextsWords | Iterable[str], *, min_count: int = 1, max_size: int | None = None
    ) -> "Vocabulary":
        """Count forms and keep those seen at least `min_count` times, at most `max_size` of them.

        Equal counts are ordered by spelling, so the order of the texts does not matter. `max_size` does not
        count padding and unknown. A long stream of forms is read once and never held.
        """
        if isinstance(forms, str):
            raise TypeError("Vocabulary.build takes words; a single string would be read letter by letter.")
        if isinstance(forms, TextsWords):
            counted: Iterable[tuple[str, int]] = zip(forms.types, forms.counts.tolist(), strict=True)
        else:
            counted = Counter(forms).items()
        return cls._most_frequent(counted, min_count, max_size)

    @classmethod
    def of_texts(
        cls,
        texts: Iterable[str],
        rules: WordRules | None = None,
        *,
        min_count: int = 1,
        max_size: int | None = None,
    ) -> "Vocabulary":
        """The vocabulary of the words of these texts, as `build`; some megabytes are held at a time."""
        counted: Counter[str] = Counter()
        for chunk in text_chunks(texts):
            words = split_texts(chunk, rules)
            counted.update(dict(zip(words.types, words.counts.tolist(), strict=True)))
        return cls._most_frequent(counted.items(), min_count, max_size)

    @classmethod
    def _most_frequent(
        cls, counted: Iterable[tuple[str, int]], min_count: int, max_size: int | None
    ) -> "Vocabulary":
        kept = sorted((-times, form) for form, times in counted if times >= min_count)[:max_size]
        return cls(SPECIAL + tuple(form for _, form in kept), (0, 0) + tuple(-times for times, _ in kept))

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, form: object) -> bool:
        return form in self._id_of

    def word(self, id: int) -> str:
        """The word with this id."""
        if not 0 <= id < len(self):
            raise IndexError(f"word id {id} is outside this vocabulary of {len(self)}")
        return self.words[id]

    def ids(self, forms: TextsWords | Iterable[str]) -> np.ndarray:
        """The id of each form as int32; forms that are not in the vocabulary get the unknown id."""
        if isinstance(forms, TextsWords):  # each distinct form is looked up once
            return self.ids(forms.types).take(forms.codes)
        return np.fromiter(map(self._id_of.__getitem__, forms), np.int32)

    def save(self, path: str | Path) -> None:
        """Write as JSON, atomically."""
        content = {
            "schema": _SCHEMA,
            "version": _VERSION,
            "words": self.words[2:],
            "counts": self.counts[2:],
        }
        with write_atomically(path) as file:
            json.dump(content, file, separators=(",", ":"))

    @classmethod
    def load(cls, path: str | Path) -> "Vocabulary":
        """Read what `save` wrote; refuses a file that is damaged or of another version."""
        content = _read(Path(path))
        words, counts = content.get("words", ()), content.get("counts", ())
        if not (_all_of(str, words) and _all_of(int, counts)):
            raise _damaged(path)
        if not len(words) == len(counts) == len(set(words)):
            raise _damaged(path)
        return cls(SPECIAL + tuple(words), (0, 0) + tuple(counts))

    @cached_property
    def _id_of(self) -> "_Ids":
        return _Ids(zip(self.words[2:], range(2, len(self.words)), strict=True))


class _Ids(dict[str, int]):
    """A dictionary that answers for every word, without remembering the unknown ones."""

    def __missing__(self, form: str) -> int:
        return UNKNOWN_ID


def _read(path: Path) -> dict[str, Any]:
    try:
        content = read_json(path)
    except FileNotFoundError:
        raise UserError(f"There is no vocabulary at {path}: give the path of a saved one.") from None
    except ValueError:  # not JSON, or not UTF-8
        raise _damaged(path) from None
    if not isinstance(content, dict) or content.get("schema") != _SCHEMA:
        raise _damaged(path)
    if content.get("version") != _VERSION:
        raise UserError(
            f"The vocabulary {path} is of version {content.get('version')!r}, but this heedful reads version "
            f"{_VERSION}: make it again, or use the heedful that wrote it."
        )
    return content


def _all_of(kind: type, values: object) -> bool:
    return isinstance(values, list) and all(type(value) is kind for value in values)


def _damaged(path: str | Path) -> UserError:
    return UserError(f"{path} is not a whole vocabulary file: make it again from the texts.")
