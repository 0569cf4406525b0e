"""Words into sentences and back: a flat batch (B,T) regrouped for a hierarchical model.

Axes: B texts, T words of a text, S sentences of a text, W words of a sentence, M sentences of all texts
together. Working on the M real sentences alone spares the encoder the empty ones that a (B,S,W) block would
have.
"""

from collections.abc import Iterator, Sequence
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

    def of_like_lengths(self) -> Iterator[tuple[Tensor, "Sentences"]]:
        """Some sentences at a time, longest first, cut to the longest of them; with their numbers (M',).

        One block of all sentences would be mostly padding, because its width is the longest sentence of the
        batch; blocks of a few sentences would leave a recurrent encoder with many short, narrow steps.
        """
        lengths, order = self.mask.sum(1).sort(descending=True, stable=True)
        for first, last in _like_lengths(lengths.tolist()):
            numbers, longest = order[first:last], int(lengths[first])
            part = (self.word[numbers, :longest], self.mask[numbers, :longest])
            yield numbers, Sentences(*part, self.text[numbers], self.rank[numbers], self.present)

    def gather(self, vectors: Tensor) -> Tensor:
        """The vectors of words (B,T,E), by sentences (M,W,E); 0 where a sentence has ended."""
        return gather_blocks(vectors, [self])[0]

    def spread(self, rows: Tensor, *, fill: float = 0) -> Tensor:
        """What belongs to each sentence (M,...), by texts (B,S,...); `fill` where a text has ended."""
        block = rows.new_full((*self.present.shape, *rows.shape[1:]), fill)
        return block.index_put((self.text, self.rank), rows)


def gather_blocks(vectors: Tensor, blocks: Sequence[Sentences]) -> list[Tensor]:
    """The vectors of words (B,T,E), by the sentences of each block (M',W',E), in one copy for all blocks."""
    rows = [(block.text[:, None] * vectors.shape[1] + block.word).flatten() for block in blocks]
    there = torch.cat([block.mask.flatten() for block in blocks])
    words = vectors.flatten(0, 1).index_select(0, torch.cat(rows)) * there.to(vectors.dtype)[:, None]
    parts = words.split([len(some) for some in rows])
    return [part.view(*block.mask.shape, -1) for part, block in zip(parts, blocks, strict=True)]


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


def _like_lengths(
    lengths: Sequence[int], *, ratio: float = 0.8, least: int = 16
) -> Iterator[tuple[int, int]]:
    """Cut falling lengths where one is under `ratio` of its part's first; parts have `least` or more."""
    first = 0
    for place, length in enumerate(lengths):
        if length < ratio * lengths[first] and place - first >= least:
            yield first, place
            first = place
    yield first, len(lengths)
