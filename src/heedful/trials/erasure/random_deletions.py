"""Random deletions of a text's words, and what the subject then says: one set of them judges every highlight.

A deletion keeps each word with chance p, and p is .1, .3, .5, .7 or .9 in equal parts. A short text is read
in all its 2ⁿ parts instead, each counted by the chance that a random deletion leaves it: then nothing
is left to luck. What is recorded of each is the probability of the class that is decided for the whole text.

Deletions are dealt out so that `heat_map` can estimate from some and check on others: `PARTS` quarters, each
with two halves, and every p twice in each half. The second time is the mirror of the first: what went stays,
and what stayed goes, so that what pairs of words do together cancels out of the effects of single ones. They
come in units of 80, and belong to the text: neither padding nor the other texts of a batch matter.

Axes: B texts, T words, M deletions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.batches import Batch
from heedful.models.trace import decisions
from heedful.trials.erasure.deletion import take_rows
from heedful.trials.erasure.rereading import Reader, chance_of_class
from heedful.trials.rankings.chance import chance_of

CHANCES = (0.1, 0.3, 0.5, 0.7, 0.9)  # that a word stays
PARTS, HALVES, TIMES = 4, 2, 2
UNIT = PARTS * HALVES * TIMES * len(CHANCES)  # deletions in which everything is balanced
MOST = 8 * UNIT
PER_WORD = 8
ENUMERATED = 7  # words of a text that is read in all its parts
PLACES = 2**25  # words times deletions of a text, which are held at once: a longer text gets fewer
LONGEST = PLACES // UNIT  # words, beyond which a text has no deletions at all
_SAMPLE = -(2**24)  # of the seeded chance, so that no other draw repeats these


@dataclass(frozen=True, eq=False)
class Dealt:
    """Which words stay, of some texts with equally many deletions."""

    rows: NDArray[np.int64]  # (B,) places in the batch
    kept: Tensor  # (B,M,T)
    complete: bool  # whether these are all parts of each text


@dataclass(frozen=True, eq=False)
class Deletions:
    """Which words stayed and what was said, of some texts with equally many deletions."""

    rows: NDArray[np.int64]  # (B,) places in the batch
    kept: Tensor  # (B,M,T)
    said: Tensor  # (B,M) the probability of the class decided for the whole text
    lost: Tensor  # (B,M) whether another class is decided
    complete: bool  # whether these are all parts of each text

    @property
    def chance(self) -> Tensor:
        """How likely each of these is among random deletions: (5,B,M), one for each p, over M if drawn."""
        if not self.complete:
            where = torch.arange(self.said.shape[1]) % len(CHANCES)
            drawn = torch.nn.functional.one_hot(where, len(CHANCES)).T[:, None].double()
            return drawn.expand(-1, len(self.said), -1) * len(CHANCES) / self.said.shape[1]
        here = self.kept.sum(2).double()
        words = here.amax(1, keepdim=True)
        return torch.stack([p**here * (1 - p) ** (words - here) for p in CHANCES])

    @property
    def share_lost(self) -> Tensor:
        """The share (B,) of random deletions after which another class is decided."""
        return (self.chance.mean(0) * self.lost).sum(1)

    def take(self, some: Tensor) -> "Deletions":
        """Those of some (B,) of the texts, without the padding of the others."""
        kept = self.kept[some]
        width = int(kept.any(1).any(0).nonzero().max()) + 1 if len(kept) else 0
        rows = self.rows[some.numpy()]
        return Deletions(rows, kept[..., :width], self.said[some], self.lost[some], self.complete)

    @property
    def evaluations(self) -> int:
        """How many changed texts were asked about."""
        return self.said.numel()


def budget_of(words: NDArray[np.int64], *, per_word: int = PER_WORD, most: int = MOST) -> NDArray[np.int64]:
    """How many deletions texts of so many words (B,) get: units of 80, at least one and at most `most`.

    Very long texts get fewer, and those of more than `LONGEST` words none.
    """
    units = -(-per_word * words // UNIT)
    held = PLACES // np.maximum(words, 1) // UNIT
    found: NDArray[np.int64] = UNIT * np.minimum(np.clip(units, 1, max(1, most // UNIT)), held)
    return found


def counts_of(words: NDArray[np.int64], *, per_word: int = PER_WORD, most: int = MOST) -> NDArray[np.int64]:
    """How many changed texts are read for texts of so many words (B,): all their parts where they are few."""
    drawn = budget_of(words, per_word=per_word, most=most)
    return np.where(words <= ENUMERATED, 2 ** np.minimum(words, ENUMERATED), drawn)


def chances(count: int) -> Tensor:
    """The p (M,) of so many deletions, in their order."""
    return torch.tensor(CHANCES, dtype=torch.float64).repeat(count // len(CHANCES))


def read_deletions(
    reader: Reader, *, per_word: int = PER_WORD, most: int = MOST, seed: int = 0, sample: int = 0
) -> list[Deletions]:
    """Random deletions of each text of two words or more, read; grouped by how many a text has.

    Another `sample` draws others. Texts of one word have nothing to compare, and are left out; so are those
    of more than `LONGEST` words.
    """
    dealt = deal(reader.batch, per_word=per_word, most=most, seed=seed, sample=sample)
    return [read_dealt(reader, one) for one in dealt]


def deal(
    batch: Batch, *, per_word: int = PER_WORD, most: int = MOST, seed: int = 0, sample: int = 0
) -> Iterator[Dealt]:
    """The random deletions of each text that `read_deletions` reads."""
    words = batch.mask.sum(1).cpu().numpy()
    budget = counts_of(words, per_word=per_word, most=most)
    for complete in (True, False):
        for count in np.unique(budget[budget > 0]).tolist():
            rows = np.flatnonzero((budget == count) & (words > 1) & ((words <= ENUMERATED) == complete))
            if len(rows):
                drawn = partial(draw, count=count, seed=seed, sample=sample)
                yield Dealt(rows, every_part(batch, rows) if complete else drawn(batch, rows), complete)


def draw(batch: Batch, rows: NDArray[np.int64], count: int, *, seed: int = 0, sample: int = 0) -> Tensor:
    """Which words stay (B,M,T) in so many random deletions of the texts at these places of a batch."""
    each, words = count // 2, batch.mask.shape[1]
    lots = chance_of(take_rows(batch, torch.from_numpy(rows)), seed, sample=_SAMPLE - sample, each=each)
    lot = torch.from_numpy(lots.reshape(len(rows), words, each).transpose(0, 2, 1).copy())
    stays = (lot < chances(each)[:, None]).view(len(rows), -1, 1, HALVES, PARTS, len(CHANCES), words)
    both = torch.cat([stays, ~stays.flip(5)], dim=2).view(len(rows), count, words)
    return both & batch.mask.cpu()[torch.from_numpy(rows)][:, None]


def every_part(batch: Batch, rows: NDArray[np.int64]) -> Tensor:
    """Which words stay (B,M,T) in all parts of texts of equally many words."""
    words = int(batch.mask[rows[0]].sum())
    kept = torch.zeros(len(rows), 2**words, batch.mask.shape[1], dtype=torch.bool)
    kept[:, :, :words] = (torch.arange(2**words)[:, None] >> torch.arange(words)) & 1 > 0
    return kept


def read_dealt(reader: Reader, dealt: Dealt) -> Deletions:
    """What is said after these deletions."""
    rows, kept = dealt.rows, dealt.kept
    logits = reader.variants(torch.from_numpy(rows), ~kept)  # (B,M,K)
    decided = reader.decided[torch.from_numpy(rows).to(reader.decided.device)]
    decided = decided[:, None]
    said = chance_of_class(logits, decided).cpu()
    return Deletions(rows, kept, said, (decisions(logits) != decided).cpu(), dealt.complete)
