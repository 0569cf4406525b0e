"""Batches of encoded texts: texts of like length together, padded, with a mask.

Axes: B texts of the batch, T words of its longest text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from heedful.data.encoded import EncodedTexts, encode_words
from heedful.data.vocabulary import PADDING_ID, Vocabulary
from heedful.data.words import WordRules, Words, split_texts


@dataclass(frozen=True, eq=False)
class Batch:
    """Some texts as tensors; row b of each belongs to the text number `rows[b]` of what was encoded.

    `ids` (B, T) word ids; `mask` (B, T) true on real tokens; `labels` (B,) or None; `rows` (B,); `sentences`
    (B, T) the sentence number of each token, -1 on padding, or None; `words` the texts' words or None.
    """

    ids: Tensor
    mask: Tensor
    labels: Tensor | None
    rows: np.ndarray
    sentences: Tensor | None = None
    words: list[Words] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch with its tensors on `device`."""
        return replace(
            self,
            ids=self.ids.to(device),
            mask=self.mask.to(device),
            labels=None if self.labels is None else self.labels.to(device),
            sentences=None if self.sentences is None else self.sentences.to(device),
        )


def batches(
    encoded: EncodedTexts,
    *,
    size: int | None = None,
    token_budget: int | None = None,
    seed: int | None = None,
    pool: int = 50,
) -> Iterator[Batch]:
    """Walk over all texts once, in batches of at most `size` texts and at most `token_budget` places.

    Places are B × T, so padding counts; a text longer than the budget is a batch by itself. Without a seed
    the longest texts come first (a batch that does not fit into memory shows at once) and `rows` tells which
    they are. With a seed texts are shuffled, sorted by length within pools of `pool` batches or more, and the
    batches shuffled.
    """
    for rows in plan_batches(encoded.lengths, size=size, token_budget=token_budget, seed=seed, pool=pool):
        yield make_batch(encoded, rows)


def plan_batches(
    lengths: np.ndarray,
    *,
    size: int | None = None,
    token_budget: int | None = None,
    seed: int | None = None,
    pool: int = 50,
) -> list[np.ndarray]:
    """The rows of each batch, as `batches` walks them; every row is in exactly one."""
    limits = {"size": size, "token_budget": token_budget, "pool": pool}
    wrong = {name: value for name, value in limits.items() if value is not None and value < 1}
    if wrong or (size is None and token_budget is None):
        raise ValueError(
            f"batches need a size or a token_budget, and each limit must be at least 1, not {wrong or limits}"
        )
    most = len(lengths) if size is None else size
    if seed is None:
        return list(_cut(np.arange(len(lengths)), lengths, most, token_budget))
    usual = most if token_budget is None else min(most, max(1, int(token_budget / max(1, lengths.mean()))))
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(lengths))
    # Equal pools, so that no small one is left over, whose batches would be padded the most.
    pools = np.array_split(order, max(1, len(order) // (pool * usual)))
    plan = [rows for members in pools for rows in _cut(members, lengths, most, token_budget)]
    return [plan[place] for place in generator.permutation(len(plan))]


def make_batch(encoded: EncodedTexts, rows: Sequence[int] | np.ndarray) -> Batch:
    """Pad the texts with these row numbers to the longest of them."""
    rows = np.asarray(rows, np.int64)
    if rows.min(initial=0) < 0:
        raise IndexError(f"row numbers count from 0, but {rows.min()} came")
    starts = np.asarray(encoded.offsets[rows])
    lengths = np.asarray(encoded.offsets[rows + 1]) - starts
    steps = np.arange(lengths.max(initial=0))
    mask = steps < lengths[:, None]  # (B, T)
    places = np.where(
        mask, starts[:, None] + steps, 0
    )  # (B, T) in the flat arrays; padding may look anywhere
    return Batch(
        ids=_padded(encoded.ids, places, mask, PADDING_ID),
        mask=torch.from_numpy(mask),
        labels=None if encoded.labels is None else torch.from_numpy(np.asarray(encoded.labels[rows])),
        rows=rows,
        sentences=None if encoded.sentences is None else _padded(encoded.sentences, places, mask, -1),
        words=None if encoded.texts is None else _words(encoded, rows, lengths),
    )


def batch_of_texts(
    texts: Sequence[str],
    vocabulary: Vocabulary,
    rules: WordRules | None = None,
    *,
    max_length: int | None = None,
    sentences: bool = False,
    labels: Iterable[int] | None = None,
) -> Batch:
    """Split, number and pad some texts, in their order, with the words of each beside its row.

    Words beyond `max_length` are not in the batch, only counted, in `Words.unread`. A text without a word
    is refused.
    """
    found = split_texts(texts, rules)
    encoded = encode_words(found, vocabulary, sentences=sentences, max_length=max_length)
    if labels is not None:
        numbers = np.fromiter(labels, np.int64)
        if len(numbers) != len(found):
            raise ValueError(f"{len(found)} texts need as many labels, not {len(numbers)}")
        encoded = replace(encoded, labels=numbers)
    batch = make_batch(encoded, np.arange(len(found)))
    return replace(batch, words=[words.first(max_length) for words in found])


def _cut(rows: np.ndarray, lengths: np.ndarray, size: int, token_budget: int | None) -> Iterator[np.ndarray]:
    """Sort rows, longest first, and cut: the first row of a batch is its T, so it tells how many fit."""
    rows = rows[np.argsort(-lengths[rows], kind="stable")]
    first = 0
    while first < len(rows):
        most = size if token_budget is None else min(size, token_budget // int(lengths[rows[first]]))
        last = first + max(1, most)
        yield rows[first:last]
        first = last


def _words(encoded: EncodedTexts, rows: np.ndarray, lengths: np.ndarray) -> list[Words]:
    """The words of these texts, split again: to keep those of a whole corpus would take much memory."""
    assert encoded.texts is not None
    found = split_texts([encoded.texts[row] for row in rows], encoded.rules)
    return [words.first(int(length)) for words, length in zip(found, lengths, strict=True)]


def _padded(flat: np.ndarray, places: np.ndarray, mask: np.ndarray, padding: int) -> Tensor:
    return torch.from_numpy(np.where(mask, np.asarray(flat)[places], padding).astype(np.int64))
