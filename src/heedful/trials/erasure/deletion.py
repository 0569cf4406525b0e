"""Words taken out of a batch: deleted, or replaced by the unknown word.

It works on ids and words, never on decoded text, so that no word moves to another place by being tokenised
again. Deleting closes the gaps: padding stays at the end, and each word keeps its sentence number and its
span in the original text. A text that loses all its words is read as the unknown word alone, because no model
reads nothing.

Axes: B texts, T words, P variants of them.
"""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from heedful.data.batches import Batch
from heedful.data.vocabulary import PADDING_ID, SPECIAL, UNKNOWN_ID
from heedful.data.words import Words
from heedful.errors import UserError, choose_from

WAYS = ("delete", "unknown")


def take_out(batch: Batch, gone: Tensor, *, how: str = "delete", of: Tensor | None = None) -> Batch:
    """The texts without the words where `gone` (B,T) is true, by "delete" or "unknown".

    With `of` (P,) variant p is made of row `of[p]`, and `gone` is (P,T).
    """
    choose_from("way to take out words", how, WAYS)
    return delete_words(batch, gone, of=of) if how == "delete" else replace_words(batch, gone, of=of)


def delete_words(batch: Batch, gone: Tensor, *, of: Tensor | None = None) -> Batch:
    """The texts with the words where `gone` is true deleted, and as long as the longest that is left."""
    of = _rows(batch, gone, of)
    left = batch.mask[of] & ~gone
    counts = left.sum(1)
    length = max(1, int(counts.max()))
    variant, source = left.nonzero(as_tuple=True)
    # A word moves forward by as many places as words before it are gone.
    target = variant, (left.cumsum(1) - 1)[left]
    text = of[variant]
    ids = batch.ids.new_full((len(of), length), PADDING_ID).index_put(target, batch.ids[text, source])
    empty = counts == 0
    ids[:, 0].masked_fill_(empty, UNKNOWN_ID)
    sentences = None
    if batch.sentences is not None:
        sentences = batch.sentences.new_full((len(of), length), -1)
        sentences = sentences.index_put(target, batch.sentences[text, source])
        sentences[:, 0].masked_fill_(empty, 0)
    words = None
    if batch.words is not None:
        words = [_kept(batch.words[row], keep) for row, keep in _by_variant(of, left)]
    mask = torch.arange(length, device=ids.device) < counts.clamp(min=1)[:, None]
    return replace(take_rows(batch, of), ids=ids, mask=mask, sentences=sentences, words=words)


def replace_words(batch: Batch, gone: Tensor, *, of: Tensor | None = None) -> Batch:
    """The texts with the unknown word instead of the words where `gone` is true."""
    of = _rows(batch, gone, of)
    taken = take_rows(batch, of)
    gone = gone & taken.mask
    words = taken.words
    if words is not None:
        words = [_hidden(words[row], hide) for row, (_, hide) in enumerate(_by_variant(of, gone))]
    return replace(taken, ids=taken.ids.masked_fill(gone, UNKNOWN_ID), words=words)


def take_rows(batch: Batch, rows: Tensor) -> Batch:
    """The texts with these numbers, in this order, as often as they are named."""
    places = rows.cpu().numpy()
    return Batch(
        ids=batch.ids[rows],
        mask=batch.mask[rows],
        labels=None if batch.labels is None else batch.labels[rows],
        rows=batch.rows[places],
        sentences=None if batch.sentences is None else batch.sentences[rows],
        words=None if batch.words is None else [batch.words[row] for row in places],
    )


def _rows(batch: Batch, gone: Tensor, of: Tensor | None) -> Tensor:
    of = torch.arange(len(batch), device=batch.mask.device) if of is None else of
    expected = (len(of), batch.mask.shape[1])
    if gone.dtype != torch.bool or tuple(gone.shape) != expected:
        raise UserError(
            f"Which words to take out needs a bool tensor {expected}, one for each word of each text, "
            f"but {gone.dtype} {tuple(gone.shape)} came."
        )
    return of


def _by_variant(of: Tensor, chosen: Tensor) -> list[tuple[int, np.ndarray]]:
    """The text of each variant, and the places of its chosen words."""
    places = chosen.cpu().numpy()
    return [(row, np.flatnonzero(places[variant])) for variant, row in enumerate(of.tolist())]


def _kept(words: Words, keep: np.ndarray) -> Words:
    if not len(keep):
        nowhere = np.zeros(1, dtype=np.int64)
        return replace(words, forms=[SPECIAL[1]], starts=nowhere, ends=nowhere)
    forms = words.forms
    return replace(
        words, forms=[forms[place] for place in keep], starts=words.starts[keep], ends=words.ends[keep]
    )


def _hidden(words: Words, hide: np.ndarray) -> Words:
    forms = list(words.forms)
    for place in hide:
        forms[place] = SPECIAL[1]
    return replace(words, forms=forms)
