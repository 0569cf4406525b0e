"""Where word vectors start: uniform noise, a text file (GloVe or word2vec), or word2vec on the corpus itself.

Serrano & Smith train word2vec on the sentences of train and dev, and divide each vector by its length before
the model learns (their paper says neither; their published code, attn-tests, does both).

Axes: V vocabulary, E embedding width. Row 0 belongs to padding: it stays 0, gets no gradient and is never
attended to.
"""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from heedful.data.tables.lines import numbered_lines
from heedful.data.tables.unpacking import is_there, opened
from heedful.data.vocabulary import PADDING_ID, SPECIAL, Vocabulary
from heedful.errors import MissingExtra, UserError
from heedful.models.settings import ModelSettings

Ids = Sequence[int] | np.ndarray
_HEADER = re.compile(r"\s*[0-9]{1,9}\s+[0-9]{1,5}\s*")  # word2vec's count and width
_LONGEST_SENTENCE = 10_000  # gensim silently drops what follows


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors for a vocabulary: `table` (V,E), and which words have one, `found` (V,)."""

    table: Tensor
    found: Tensor

    @property
    def coverage(self) -> float:
        """The share of the vocabulary's words that were found, padding and unknown not counted."""
        words = self.found[len(SPECIAL) :]
        return float(words.double().mean()) if len(words) else 0.0


def word_embedding(
    settings: ModelSettings, vocabulary: Vocabulary, vectors: WordVectors | None
) -> nn.Embedding:
    """The embedding: as it starts, overwritten by the vectors that were found, 0 for padding."""
    shape = (len(vocabulary), settings.embedding)
    embedding = nn.Embedding(*shape, padding_idx=PADDING_ID)
    with torch.no_grad():
        if settings.initialisation != "pytorch":  # which draws from N(0, 1)
            embedding.weight.uniform_(-settings.embedding_range, settings.embedding_range)
        if vectors is not None:
            if vectors.table.shape != shape:
                raise UserError(
                    f"The word vectors must be {shape}, one for each word of the vocabulary, "
                    f"but they are {tuple(vectors.table.shape)}: set embedding to their width."
                )
            embedding.weight[vectors.found] = vectors.table[vectors.found].to(embedding.weight)
        embedding.weight[PADDING_ID] = 0
    embedding.weight.requires_grad_(not settings.embedding_frozen)
    return embedding


def vectors_for(
    settings: ModelSettings, vocabulary: Vocabulary, *, texts: Iterable[Ids], seed: int = 0
) -> WordVectors | None:
    """The vectors that the settings ask for, None for noise; `texts` are the word ids to learn them from.

    Those of sentences (Serrano & Smith) are scaled to length 1.
    """
    if settings.embedding_source == "file":
        return read_vectors(settings.vectors_file, vocabulary)
    if settings.embedding_source == "uniform":
        return None
    found = train_word2vec(
        texts, vocabulary, width=settings.embedding, passes=settings.word2vec_passes, seed=seed
    )
    if settings.embedding_source == "word2vec-sentences":
        found.table.copy_(nn.functional.normalize(found.table, dim=1))
    return found


def read_vectors(path: str | Path, vocabulary: Vocabulary) -> WordVectors:
    """Read the vectors of the vocabulary's words from a text file, gzipped if it ends in `.gz`.

    A line is a word and its numbers. A first line of two whole numbers (word2vec's count and width) is
    skipped. Of a repeated word the first line counts.
    """
    path = Path(path)
    rows: dict[str, np.ndarray] = {}
    wanted, width = set(vocabulary.words[len(SPECIAL) :]), None
    for number, line in _lines(path):
        if number == 1 and _HEADER.fullmatch(line):
            width = int(line.split()[1])
            continue
        width = line.count(" ") if width is None else width
        # A word may contain spaces (GloVe has ". . ."), so the numbers are counted from the end.
        word, *numbers = line.rsplit(" ", width)
        if len(numbers) != width or width < 1:
            raise UserError(
                f"{path}, line {number}: needed a word and {width} numbers, but {len(numbers)} numbers came."
            )
        if word in wanted and word not in rows:
            rows[word] = _numbers(numbers, place=f"{path}, line {number}")
    if not rows or width is None:
        raise UserError(
            f"{path} has a vector for none of the {len(wanted)} words: is it of this language and case?"
        )

    table = torch.zeros(len(vocabulary), width)
    ids = torch.from_numpy(vocabulary.ids(rows)).long()
    table[ids] = torch.from_numpy(np.stack(list(rows.values())))
    return WordVectors(table, torch.zeros(len(vocabulary), dtype=torch.bool).index_fill_(0, ids, True))


def train_word2vec(
    texts: Iterable[Ids],
    vocabulary: Vocabulary,
    *,
    width: int = 200,
    passes: int = 30,
    seed: int = 0,
) -> WordVectors:
    """Train word2vec (CBOW, window 5) on texts of word ids, as for HAN (Yang et al., 2016).

    One seed gives one result. Words outside the vocabulary share the unknown word's id, and so its vector.
    """
    try:
        from gensim.models import Word2Vec
    except ImportError:
        raise MissingExtra("Training word2vec", "word2vec") from None
    names = [str(id) for id in range(len(vocabulary))]
    sentences = [
        [names[id] for id in text[start : start + _LONGEST_SENTENCE]]
        for text in texts
        for start in range(0, len(text), _LONGEST_SENTENCE)
    ]
    if not sentences:
        raise UserError("Training word2vec needs texts, but there are none.")
    # One worker: with more, the order of updates and so the result changes from run to run.
    trained = Word2Vec(sentences, vector_size=width, epochs=passes, min_count=1, seed=seed, workers=1).wv
    table, found = torch.zeros(len(vocabulary), width), torch.zeros(len(vocabulary), dtype=torch.bool)
    ids = torch.tensor([int(name) for name in trained.index_to_key])
    table[ids] = torch.from_numpy(trained.vectors.copy())
    found[ids] = True
    return WordVectors(table, found)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a text file that are not empty."""
    if not is_there(path):
        raise UserError(f"There is no file of word vectors at {path}: give the path of one.")
    if path.is_dir():
        raise UserError(f"{path} is a folder, where a file of word vectors was needed.")
    # Some published files have broken characters in words; those words are simply not ours.
    with opened(path) as file, io.TextIOWrapper(file, "utf-8", errors="replace", newline="\n") as text:
        for number, line in numbered_lines(text, path):
            if line.strip():
                yield number, line.rstrip()


def _numbers(parts: list[str], *, place: str) -> np.ndarray:
    try:
        numbers = np.array(parts, dtype=np.float32)
    except ValueError:
        raise UserError(f"{place}: needed numbers after the word, but something else came.") from None
    if not np.isfinite(numbers).all():
        raise UserError(f"{place}: needed numbers, but one is NaN or infinite.")
    return numbers
