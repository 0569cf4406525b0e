"""What a subject sees of each word, whatever its layers are: how much attention, and whether it is read.

A word's attention is the weight of its slots, averaged over heads where there are several. A subject whose
batches carry sentences has attention at two levels: there it is the word's weight in its sentence times the
sentence's. A subject that has attention but no exact trace says itself what each word gets. Axes: B texts,
T words, R rows of weights.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from heedful.data.batches import Batch
from heedful.data.vocabulary import UNKNOWN_ID
from heedful.errors import UserError
from heedful.models.subject import Subject, gives, why_not
from heedful.models.trace import Trace

if TYPE_CHECKING:
    pass


def word_attention(subject: Subject, batch: Batch, *, final: Trace | None = None) -> tuple[Tensor, Tensor]:
    """The attention (B,T) to each word, 0 on padding and unread words; and which words were read (B,T).

    `final` is the subject's trace of the batch, where it is known already. A subject without attention is
    refused: ask `gives(subject, "attention")` first.
    """
    reason = why_not(subject, "attention")
    if reason is not None:
        raise UserError(f"This subject gives no attention to words: {reason}.")
    own = getattr(subject, "word_attention", None)
    if own is not None and final is None:
        weights, read = own(batch)
        return weights, read & batch.mask
    final = subject.trace(batch) if final is None else final
    count = batch.mask.shape[1]
    if batch.sentences is None:
        rows = final.weights.shape[1] if final.weights.dim() == 3 else 1
        weights, items = final.weights / rows, final.items
    else:
        within = subject.trace(batch, "words")
        weights, items = within.weights * final.weights[..., None], within.items
    read = sum_by_item(torch.ones_like(weights), items, count) > 0
    return sum_by_item(weights, items, count), read & batch.mask


def words_read(subject: Subject, batch: Batch) -> Tensor:
    """Which words (B,T) a subject reads: those within its length; all, where it does not say."""
    own = getattr(subject, "words_read", None)
    if own is not None:
        read: Tensor = own(batch)
        return read & batch.mask
    return word_attention(subject, batch)[1] if gives(subject, "attention") else batch.mask


def sum_by_item(slots: Tensor, items: Tensor, count: int) -> Tensor:
    """Sum numbers of slots (B,T) or (B,R,T) over the slots of each of `count` items: (B,count)."""
    flat = items.flatten(1)
    sums = slots.new_zeros(len(flat), count + 1)
    # The last column collects the slots that belong to no item.
    return sums.scatter_add_(1, torch.where(flat < 0, count, flat), slots.flatten(1))[:, :count]


def known_words(subject: Subject, batch: Batch) -> Tensor:
    """Which words (B,T) a model knows: one that cuts words into pieces knows any."""
    pieces = getattr(getattr(subject, "settings", None), "encoder", "") == "pretrained"
    whole = hasattr(subject, "vocabulary") and not pieces
    return batch.ids != UNKNOWN_ID if whole else torch.ones_like(batch.mask)
