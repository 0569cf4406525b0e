"""What the translators with GRUs share: how they read, and one step of a decoder that must go step by step.

Axes: B pairs, T words of a source, H width of a state.
"""

import torch
from torch import Tensor

from heedful.gallery.both_ways import BothWays
from heedful.gallery.translating import Budget, Source, Translator, Words
from heedful.gallery.word_pairs import PADDING, Corpus


class Recurrent(Translator):
    """A translator whose encoder and decoder are GRUs; how the decoder reads is left to others."""

    def __init__(self, corpus: Corpus, budget: Budget, *, width: int | None = None) -> None:
        super().__init__()
        width = width or budget.width
        self.states = 2 * width
        self.sources, self.targets = (
            Words(len(language), budget.words, drop=budget.drop)
            for language in (corpus.source, corpus.target)
        )
        self.encoder = BothWays(budget.words, width)

    def read(self, sources: Tensor) -> Source:
        """Encode sources (B,T) in both directions."""
        mask = sources != PADDING
        states, last = self.encoder(self.sources(sources), mask)
        return Source(states, last, mask)


def gru_step(inputs: Tensor, recurrent: Tensor, state: Tensor) -> Tensor:
    """One step of torch's GRU, from the gates' inputs and recurrent inputs (B,3H)."""
    reset, update, new = inputs.chunk(3, -1)
    reset_state, update_state, new_state = recurrent.chunk(3, -1)
    update = (update + update_state).sigmoid()
    new = (new + (reset + reset_state).sigmoid() * new_state).tanh()
    return torch.lerp(new, state, update)
