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
from heedful.trials.erasure.rereading import Reader

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
    """Read every word of every text alone."""
    mask = reader.batch.mask
    count, width = mask.shape
    nothing = reader.chance(reader.nothing.expand(count, -1)).cpu()
    said, kept = nothing[:, None].repeat(1, width), torch.zeros(count, dtype=torch.float64)
    others = ~torch.eye(width, dtype=torch.bool, device=mask.device)
    for rows in torch.arange(count).split(max(1, MASKS // width**2)):
        logits = reader.variants(rows, others.expand(len(rows), -1, -1))  # (B,T,K)
        here, decided = mask[rows], reader.decided[rows.to(mask.device)][:, None]
        chance = logits.softmax(-1).gather(-1, decided[..., None].expand(-1, width, 1))[..., 0]
        said[rows] = chance.cpu().where(here.cpu(), said[rows])
        kept[rows] = (((decisions(logits) == decided) & here).sum(1) / here.sum(1)).double().cpu()
    return WordsAlone(said, nothing, reader.chance(reader.logits).cpu(), kept)
