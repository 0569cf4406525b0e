"""The texts to highlight, walked as often as needed and never held whole where they lie in a file.

Labels are not needed. Every row keeps its place: a text without words is answered, and not dropped.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heedful.data.catalogue import CATALOGUE
from heedful.data.corpus import Corpus
from heedful.data.huggingface import is_dataset
from heedful.data.named import load_data
from heedful.data.reading import text_columns, texts_from
from heedful.data.tables import open_table
from heedful.data.tables.held import open_held
from heedful.errors import UserError, choose_from

WORD = re.compile(r"\w")
SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Texts:
    """A name for people, a walk over the texts, and what was assumed."""

    name: str
    walk: Callable[[], Iterator[str]]
    notes: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()  # what the two texts of a pair are called


@dataclass(frozen=True)
class Survey:
    """What one walk over the texts tells: how many, a digest of all, and some drawn by chance."""

    count: int
    digest: str
    sample: tuple[str, ...]


def open_texts(
    source: Any,
    *,
    text: str | None = None,
    text_pair: str | None = None,
    encoding: str | None = None,
    on: str = "test",
    data_dir: str | Path | None = None,
) -> Texts:
    """Texts of a file, a named corpus (its split `on`), a dataset, a DataFrame, a dictionary or a list.

    `text` names their column, `text_pair` that of a second text, decided together with the first.
    """
    choose_from("split", on, SPLITS)
    named = isinstance(source, str) and (source in CATALOGUE or source.startswith("hf:"))
    if named or (isinstance(source, str | Path) and Path(source).expanduser().is_dir()):
        corpus = load_data(
            source, data_dir=data_dir, text=text, text_pair=text_pair, encoding=encoding, learn=False
        )
        part = corpus.split(on)
        return Texts(f"{corpus.name} ({on})", lambda: iter(part.texts), tuple(corpus.notes), corpus.roles)
    if isinstance(source, Corpus):
        return Texts(source.name, lambda: iter(source.texts), roles=source.roles)
    if isinstance(source, str | Path):
        path = Path(source).expanduser()
        table = open_table(path, encoding=encoding)
        name = path.name
    else:
        table = open_held(source.to_pandas() if is_dataset(source) else source)
        name = str(table.path)
    columns = text_columns(table, text=text, text_pair=text_pair)
    notes = [note for note in table.notes if note]
    if text is None and len(table.columns) > 1:
        notes.append(f"Guessed: texts from column {columns[0]!r} (say otherwise with --text).")

    def walk() -> Iterator[str]:
        return (found for _, found in texts_from(table, text=columns[0], text_pair=text_pair))

    return Texts(name, walk, tuple(notes), columns if text_pair is not None else ())


def survey(texts: Texts, most: int, *, seed: int = 0) -> Survey:
    """Walk once: count, digest, and draw at most so many texts that have words (each is as likely)."""
    generator = np.random.default_rng([seed % 2**63, 17])
    digest = hashlib.blake2b(digest_size=8)
    count, worded = 0, 0
    drawn: list[str] = []
    for text in texts.walk():
        count += 1
        digest.update(text.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
        if not has_words(text):
            continue
        worded += 1
        if len(drawn) < most:
            drawn.append(text)
        elif (place := int(generator.integers(worded))) < most:
            drawn[place] = text
    if not worded:
        raise UserError(f"There is no text with words in {texts.name}: nothing can be highlighted.")
    return Survey(count, digest.hexdigest(), tuple(drawn))


def has_words(text: str) -> bool:
    """Whether there is anything for a model to read."""
    return WORD.search(text) is not None
