"""A corpus: texts with labels and splits, and a fingerprint of what is in it.

Axes: N rows, K classes.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape

import numpy as np

from heedful.data.outgrowing import take_texts
from heedful.errors import UserError, choose_from, listed

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Texts, their labels and the split each belongs to; row i of each belongs together.

    `labels` are class numbers (N,), `splits` are "train", "dev" or "test" (N,), `notes` are sentences about
    what was guessed, dropped or made while the corpus was read: whoever shows the corpus says them too. Two
    corpora are equal if their names and their fingerprints are.
    """

    name: str
    texts: Sequence[str]
    labels: np.ndarray
    splits: np.ndarray
    label_names: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())
    roles: tuple[str, ...] = ()  # what the two texts of a pair are called

    def __post_init__(self) -> None:
        if not len(self.texts) == len(self.labels) == len(self.splits):
            raise UserError(
                f"{self.name}: texts, labels and splits must be of one length, "
                f"but they are {len(self.texts)}, {len(self.labels)} and {len(self.splits)}."
            )
        if not len(self):
            return
        if not np.issubdtype(np.asarray(self.labels).dtype, np.integer):
            raise UserError(f"{self.name}: labels must be class numbers, but they are {self.labels[0]!r}, …")
        low, high, known = int(np.min(self.labels)), int(np.max(self.labels)), len(self.label_names)
        if low < 0 or high >= known:
            wrong = low if low < 0 else high
            raise UserError(
                f"{self.name}: there are {known} label names, but a row has the class number {wrong}."
            )
        elsewhere = np.flatnonzero(~np.isin(self.splits, SPLITS))
        if len(elsewhere):
            choose_from("split", str(self.splits[elsewhere[0]]), SPLITS)

    def __len__(self) -> int:
        return len(self.texts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Corpus):
            return NotImplemented
        return self is other or (self.name == other.name and self.fingerprint == other.fingerprint)

    def __hash__(self) -> int:
        return hash((self.name, self.fingerprint))

    def __repr__(self) -> str:
        """The name, how many texts each split has, and the labels; not the texts."""
        sizes = ", ".join(f"{split} {np.count_nonzero(self.splits == split):,}" for split in SPLITS)
        return f"Corpus({self.name!r}, texts: {sizes}; labels: {listed(self.label_names)})"

    def split(self, name: str) -> "Corpus":
        """The rows of one split, as a corpus of its own."""
        choose_from("split", name, SPLITS)
        return self.take(np.flatnonzero(self.splits == name))

    def take(self, rows: np.ndarray) -> "Corpus":
        """The rows with these numbers, in this order."""
        texts = take_texts(self.texts, rows)
        return replace(self, texts=texts, labels=self.labels[rows], splits=self.splits[rows])

    def class_sizes(self, split: str) -> dict[str, int]:
        """How many texts of each label a split has."""
        choose_from("split", split, SPLITS)
        counts = np.bincount(self.labels[self.splits == split], minlength=len(self.label_names))
        return {name: int(count) for name, count in zip(self.label_names, counts, strict=True)}

    def _repr_html_(self) -> str:
        """For notebooks: how many texts of each label each split has, and the notes; not the texts."""
        sizes = {split: self.class_sizes(split) for split in SPLITS}
        head = "".join(f"<th>{escape(name)}</th>" for name in self.label_names)
        rows = "".join(
            f"<tr><th>{split}</th>{''.join(f'<td>{count:,}</td>' for count in counts.values())}</tr>"
            for split, counts in sizes.items()
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        title = f"<p><b>{escape(self.name)}</b>: {len(self):,} texts</p>"
        table = f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table>"
        return f'<div class="heedful-corpus">{title}{table}<ul>{notes}</ul></div>'

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that change with any text, label, split, label name or the order."""
        digest = hashlib.blake2b(digest_size=8)
        digest.update(b"%d " % len(self.label_names))
        for name in self.label_names:
            content = name.encode("utf-8", "surrogatepass")
            digest.update(b"%d %s" % (len(content), content))
        # Each text is preceded by its length: two texts cannot be confused with one that holds both.
        for text, label, split in zip(self.texts, self.labels, self.splits, strict=True):
            content = text.encode("utf-8", "surrogatepass")
            digest.update(b"%d %d %s " % (len(content), label, str(split).encode()))
            digest.update(content)
        return digest.hexdigest()
