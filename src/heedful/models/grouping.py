"""Words into sentences and back: a flat batch (B,T) regrouped for a hierarchical model.

Axes: B texts, T words of a text, S sentences of a text, W words of a sentence, M sentences of all texts
together. Working on the M real sentences alone spares the encoder the empty ones that a (B,S,W) block would
have.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Sentences:
    """Which words make each sentence.

    `word` (M,W) is a word's place in its text, `mask` (M,W) is true where there is one.     Sentence m is
    number `rank[m]` of text `text[m]`; `present` (B,S) tells which ranks a text has.
    """

    word: Tensor
    mask: Tensor
    text: Tensor
    rank: Tensor
    present: Tensor

    def gather(self, vectors: Tensor) -> Tensor:
        """The vectors of words (B,T,E), by sentences (M,W,E); 0 where a sentence has ended."""
        return vectors[self.text[:, None], self.word] * self.mask[..., None]

    def spread(self, rows: Tensor, *, fill: float = 0) -> Tensor:
        """What belongs to each sentence (M,...), by texts (B,S,...); `fill` where a text has ended."""
        block = rows.new_full((*self.present.shape, *rows.shape[1:]), fill)
        return block.index_put((self.text, self.rank), rows)


def group_sentences(sentences: Tensor, mask: Tensor) -> Sentences:
    """Group words by their sentence numbers (B,T), read where the mask (B,T) is true.

    A sentence is a run of one number; numbers may be missing, as after words were deleted. Padding is at the
    end.
    """
    slots = torch.arange(mask.shape[1], device=mask.device)
    before = torch.cat([torch.full_like(sentences[:, :1], -1), sentences[:, :-1]], dim=1)
    opens = mask & ((sentences != before) | (slots == 0))
    rank = opens.long().cumsum(1) - 1  # (B,T) sentence of each word, counted anew
    first = torch.where(opens, slots, 0).cummax(1).values  # (B,T) where that sentence begins
    counts = opens.sum(1)
    number = rank + (counts.cumsum(0) - counts)[:, None]  # (B,T) among all M sentences

    place = (number[mask], (slots - first)[mask])
    size = (int(counts.sum()), int(place[1].max()) + 1)
    word = slots.new_zeros(size).index_put(place, slots.expand_as(mask)[mask])
    there = torch.zeros(size, dtype=torch.bool, device=mask.device).index_put(place, mask[mask])
    text, opening = opens.nonzero(as_tuple=True)
    present = torch.arange(int(counts.max()), device=mask.device) < counts[:, None]
    return Sentences(word, there, text, rank[text, opening], present)
