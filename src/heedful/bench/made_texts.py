"""Texts made up by the statistics of a real corpus: as many as are asked for, in a file, and never all held.

A text's label is drawn by the labels' shares, its length from the lengths of that label's texts, and each of
its words from that label's words by their frequencies. Orders and pairs of words mean nothing, and no word is
new: a real corpus of that size has a longer tail of rare words.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from heedful.data.corpus import Corpus
from heedful.data.words import split_texts
from heedful.files import write_atomically

CHUNK = 4096  # texts that are drawn at a time


@dataclass(frozen=True, eq=False)
class WordStatistics:
    """Of each of K labels: its share, the lengths of its texts, and how often each of V words occurs."""

    words: np.ndarray  # (V,) strings
    names: tuple[str, ...]
    shares: np.ndarray  # (K,)
    lengths: tuple[np.ndarray, ...]
    chances: np.ndarray  # (K, V), cumulative

    @classmethod
    def of(cls, corpus: Corpus) -> "WordStatistics":
        """Count the training texts."""
        train = corpus.split("train")
        found = split_texts(train.texts)
        labels = len(train.label_names)
        counts = np.zeros((labels, len(found.types)))
        np.add.at(counts, (np.repeat(train.labels, found.lengths), found.codes), 1)
        sums = counts.cumsum(1)
        return cls(
            np.array(found.types, dtype=object),
            train.label_names,
            np.bincount(train.labels, minlength=labels) / len(train),
            tuple(found.lengths[train.labels == label] for label in range(labels)),
            sums / sums[:, -1:],
        )

    def draw(self, count: int, chance: np.random.Generator) -> list[tuple[str, str]]:
        """So many texts, each with the name of its label."""
        labels = chance.choice(len(self.names), count, p=self.shares)
        lengths = np.empty(count, np.int64)
        for label, known in enumerate(self.lengths):
            lengths[labels == label] = chance.choice(known, int((labels == label).sum()))
        of_word = np.repeat(labels, lengths)
        codes = np.empty(len(of_word), np.int64)
        for label, chances in enumerate(self.chances):
            inside = of_word == label
            codes[inside] = np.searchsorted(chances, chance.random(int(inside.sum())), side="right")
        words = self.words.take(codes).tolist()
        ends = lengths.cumsum().tolist()
        return [
            (" ".join(words[first:last]), self.names[label])
            for first, last, label in zip([0, *ends], ends, labels.tolist(), strict=False)
        ]


def write_texts(
    path: Path, statistics: WordStatistics, count: int, *, seed: int = 0, test: int | None = None
) -> int:
    """Write so many made-up texts as CSV, or Parquet by the name's ending, chunk by chunk; the characters.

    With `test` there is a column split, and the last so many rows of a CSV are test.
    """
    chance = np.random.default_rng([seed, count])
    sizes = [min(CHUNK, count - first) for first in range(0, count, CHUNK)]
    characters = 0
    with write_atomically(path, "wb") as file:
        if path.suffix == ".parquet":
            import pyarrow as pa
            from pyarrow import parquet

            schema = pa.schema([("text", pa.string()), ("label", pa.string())])
            with parquet.ParquetWriter(file, schema) as writer:
                for size in sizes:
                    rows = statistics.draw(size, chance)
                    texts, labels = map(list, zip(*rows, strict=True))
                    writer.write_table(pa.table([texts, labels], schema=schema))
                    characters += sum(map(len, texts))
            return characters
        file.write(b"text,label\n" if test is None else b"text,label,split\n")
        written = 0
        for size in sizes:
            rows = statistics.draw(size, chance)
            ends = [""] * size
            if test is not None:
                ends = [
                    ",test" if row >= count - test else ",train" for row in range(written, written + size)
                ]
            # Words have neither commas nor quotes in them: they were split at such marks.
            lines = (f"{text},{label}{end}\n" for (text, label), end in zip(rows, ends, strict=True))
            file.write("".join(lines).encode())
            characters += sum(len(text) for text, _ in rows)
            written += size
    return characters
