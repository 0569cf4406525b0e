"""What the entries that rewrite dates share: the encoder, one way to train, and exact match.

Axes: B texts, T characters of a text, N characters written, H width of a state, V output characters.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.gallery.both_ways import BothWays
from heedful.gallery.dates import INPUTS, PADDING, Dates
from heedful.gallery.entry import Size
from heedful.gallery.learning import learn

CHARACTERS = 16  # width of an embedded character


class Written(NamedTuple):
    """What a model writes, logits (B,N,V), and what it read for it; None where it has no such thing."""

    logits: Tensor
    weights: Tensor | None = None  # (B,N,T)
    centres: Tensor | None = None  # p_t of local attention, slots counted from 1: (B,N)


class Encoder(nn.Module):
    """A GRU over the characters in each direction."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.characters = nn.Embedding(len(INPUTS) + 1, CHARACTERS)
        self.recurrence = BothWays(CHARACTERS, width)

    def forward(self, sources: Tensor) -> tuple[Tensor, Tensor]:
        """Turn ids (B,T) into states (B,T,H) and the last states of both directions (B,H), H = 2·width."""
        states, last = self.recurrence(self.characters(sources), sources != PADDING)
        return states, last


@dataclass(frozen=True)
class Budget:
    """How long a model learns; the same for a mechanism and its baseline."""

    texts: int
    steps: int
    batch: int = 64
    rate: float = 0.02  # the highest: it rises over the first tenth of the steps and falls to 0
    tested: int = 2000


BUDGETS: dict[Size, Budget] = {
    "full": Budget(texts=20_000, steps=500),
    "small": Budget(texts=4000, steps=110, tested=500),
}


def learn_dates(model: nn.Module, dates: Dates, budget: Budget) -> None:
    """Train on the next character of each date. Batches are drawn from torch's generator."""

    def loss() -> Tensor:
        sources, targets = dates.rows(torch.randint(len(dates), (budget.batch,)))
        return F.cross_entropy(model(sources, targets).logits.flatten(0, 1), targets.flatten())

    learn(model, loss, steps=budget.steps, rate=budget.rate)


@torch.no_grad()
def exact_match(model: nn.Module, dates: Dates) -> float:
    """The share of dates that the model, reading its own characters, writes without a fault."""
    right = 0
    for rows in torch.arange(len(dates)).split(500):
        sources, targets = dates.rows(rows)
        right += int((model(sources).logits.argmax(-1) == targets).all(-1).sum())
    return right / len(dates)
