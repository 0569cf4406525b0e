"""Each word of a text read alone: what it says without the others.

Where each of many words suffices, taking some out hardly moves a model, and random deletions cannot tell
which ones matter. Read alone, such a word keeps the decision, and any other does not.

Axes: B texts, T words.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.models.trace import decisions
from heedful.trials.erasure.heat_map import LIVE
from heedful.trials.erasure.random_deletions import LONGEST
from heedful.trials.erasure.rereading import Reader, chance_of_class

ENOUGH = 0.5  # of what the whole text says beyond nothing: a word that says it alone suffices
LEAST = 0.05  # that the whole text must say beyond nothing, or there is nothing to suffice for
MASKS = 2**24  # entries of the variants' masks held at once


@dataclass(frozen=True, eq=False)
class WordsAlone:
    """The probability of the class that was decided for the whole text, when less of it is read."""

    said: Tensor  # (B,T) of each word alone; of nothing on padding
    nothing: Tensor  # (B,) of no word at all
    whole: Tensor  # (B,) of all of them
    kept: Tensor  # (B,) the share of words that alone keep the decision

    def take(self, rows: NDArray[np.int64]) -> "WordsAlone":
        """Those of some of the texts."""
        return WordsAlone(self.said[rows], self.nothing[rows], self.whole[rows], self.kept[rows])

    @property
    def effects(self) -> Tensor:
        """What each word (B,T) says beyond no word at all."""
        return self.said - self.nothing[:, None]

    @property
    def suffice(self) -> Tensor:
        """Texts (B,) of which a single word says at least half of what all of them do."""
        beyond = self.whole - self.nothing
        return (beyond >= LEAST) & (self.effects.amax(1) >= ENOUGH * beyond)

    @property
    def live(self) -> Tensor:
        """Words (B,T) that alone say a quarter as much as the strongest of their text, or more."""
        sizes = self.effects.abs()
        return (sizes > 0) & (sizes >= LIVE * sizes.amax(1, keepdim=True))


def read_alone(reader: Reader) -> WordsAlone:
    """Read every word of every text alone; texts that are too long for deletions are unknown."""
    mask = reader.batch.mask
    count, width = mask.shape
    nothing = reader.chance(reader.nothing.expand(count, -1)).cpu()
    said, kept = nothing[:, None].repeat(1, width), torch.zeros(count, dtype=torch.long)
    places, lengths = torch.arange(width, device=mask.device), mask.sum(1).cpu()
    # Some texts at a time, and of a very long one some words: each is a variant, whose mask has T entries.
    for rows in (lengths <= LONGEST).nonzero()[:, 0].split(max(1, MASKS // width**2)):
        decided = reader.decided[rows.to(mask.device)][:, None]
        for words in places.split(max(1, MASKS // width)):
            here, others = mask[rows][:, words], words[:, None] != places
            logits = reader.variants(rows, others.expand(len(rows), -1, -1))  # (B,W,K)
            chance = chance_of_class(logits, decided).cpu()
            said[rows[:, None], words.cpu()] = chance.where(here.cpu(), nothing[rows, None])
            kept[rows] += ((decisions(logits) == decided) & here).sum(1).cpu()
    said[lengths > LONGEST] = torch.nan
    share = (kept / lengths).double().masked_fill(lengths > LONGEST, torch.nan)
    return WordsAlone(said, nothing, reader.chance(reader.logits).cpu(), share)
