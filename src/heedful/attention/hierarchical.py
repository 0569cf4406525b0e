"""Hierarchical attention (Yang et al., 2016): over the words of each sentence, then over the sentences.

Words: u_it = tanh(W_w h_it + b_w), α_it = softmax over t of u_itᵀ u_w, s_i = Σ_t α_it h_it.
Sentences: u_i = tanh(W_s h_i + b_s), α_i = softmax over i of u_iᵀ u_s, v = Σ_i α_i h_i.
Both scores are `additive_scores` without a query. In the paper a recurrence makes the h_i of the s_i: give
it, or any other encoder of sentences, as `between`; without one h_i = s_i.
(The survey's notes call the state of a word n_it below the formulas and h_it in them; it is one thing.)
Axes: B texts, S sentences, T words of a sentence, H width of a word's state, G of a sentence's, A inside.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch.export
from torch import Tensor, nn

from heedful.attention.additive import AdditiveScore
from heedful.attention.attended import Attended, read
from heedful.attention.initial import Init, xavier_init
from heedful.attention.normalise import masked_softmax
from heedful.attention.shapes import check_mask, check_shape


@dataclass(frozen=True)
class HierarchicalAttended:
    """What was read of each sentence's words, and of a text's sentences."""

    sentences: Attended  # context v (B,G), weights and scores (B,S)
    words: Attended  # context s (B,S,H), weights and scores (B,S,T)


torch.export.register_dataclass(
    HierarchicalAttended, serialized_type_name="heedful.attention.HierarchicalAttended"
)


class HierarchicalAttention(nn.Module):
    """Attention over words makes a vector of each sentence, attention over sentences one of the text."""

    def __init__(
        self,
        hidden: int,
        *,
        between: Callable[[Tensor, Tensor], Tensor] | None = None,  # s (B,S,H), mask (B,S) to h (B,S,G)
        sentence_hidden: int | None = None,  # G, by default H
        width: int | None = None,  # A, by default H or G
        init: Init = xavier_init,
    ) -> None:
        super().__init__()
        self.between = between
        self.word_score = AdditiveScore(hidden, width=width, init=init)
        self.sentence_score = AdditiveScore(sentence_hidden or hidden, width=width, init=init)

    def forward(self, states: Tensor, mask: Tensor) -> HierarchicalAttended:
        """Read the words' states (B,S,T,H) where the mask (B,S,T) is true.

        A sentence without words is masked at its own level.
        """
        where = type(self).__name__
        check_shape(where, "states", tensor=states, expected=("B", "S", "T", self.word_score.hidden))
        check_shape(where, "a mask", tensor=mask, expected=states.shape[:3])
        check_mask(where, mask)
        scores = self.word_score(states.flatten(0, 1)).unflatten(0, states.shape[:2])  # (B,S,T)
        words = read(scores, states, mask=mask, normalise=masked_softmax, where=where)
        present = mask.any(-1)  # (B,S)
        vectors = words.context if self.between is None else self.between(words.context, present)
        sizes = (*states.shape[:2], self.sentence_score.hidden)
        check_shape(where, "sentences' states", tensor=vectors, expected=sizes)
        over = self.sentence_score(vectors)
        return HierarchicalAttended(
            read(over, vectors, mask=present, normalise=masked_softmax, where=where), words
        )

    def extra_repr(self) -> str:
        return f"{self.word_score.hidden}, sentence_hidden={self.sentence_score.hidden}"
