"""Nested attention (Ji et al., 2017): attention over words, and inside each word over its characters.

Words: a_k = φ₁(d)ᵀ φ₂(h_k), α = softmax(a). Characters of word k: b_kj = φ₃(s)ᵀ φ₄(x_kj), β_k = softmax(b_k).
Each φ is linear, then tanh; d is the word decoder's state and s the character decoder's. A character weighs
α_k β_kj, and all of a sentence together 1. The paper's hard form reads the characters of the word with the
largest α alone.
(The survey's notes have α = u / Σ u, without the exponential: that could be negative. It is softmax.)
Axes: B sentences, T words, J characters of a word, H width of a word's state, X of a character's, Q
characters asked for, C width of a word's query, D of a character's, A inside.
"""

from dataclasses import dataclass

import torch
import torch.export
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.attention.attended import Attended, read
from heedful.attention.dot import dot_scores
from heedful.attention.initial import Init, new_weight, xavier_init
from heedful.attention.normalise import masked_softmax
from heedful.attention.shapes import check_mask, check_query, check_shape


@dataclass(frozen=True)
class NestedAttended:
    """What was read of a sentence's words, and of their characters."""

    words: Attended  # context (B,H), weights and scores (B,T)
    characters: Attended  # context (B,Q,X), weights and scores (B,Q,T,J)


torch.export.register_dataclass(NestedAttended, serialized_type_name="heedful.attention.NestedAttended")


def nest(outer: Tensor, inner: Tensor, *, hard: bool = False) -> Tensor:
    """Weights of characters, from those of words (B,T) and those inside each word (B,Q,T,J): α_k β_kj.

    Hard: the word with the largest weight counts 1, the others 0.
    """
    check_shape("nest", "weights of words", tensor=outer, expected=("B", "T"))
    sizes = (outer.shape[0], "Q", outer.shape[1], "J")
    check_shape("nest", "weights of characters", tensor=inner, expected=sizes)
    if hard:
        # One place more than there are words, of weight 0: so a sentence of no words has a largest too.
        first = F.pad(outer, (0, 1)).argmax(-1, keepdim=True)
        largest = torch.arange(outer.shape[-1], device=outer.device) == first
        outer = (largest & (outer > 0)).to(outer.dtype)  # a row without words stays at 0
    return outer[:, None, :, None] * inner


class TanhDotScore(nn.Module):
    """Score each token by φ₁(query)ᵀ φ₂(state): a dot product of two small tanh layers."""

    def __init__(
        self, hidden: int, *, query: int, width: int | None = None, init: Init = xavier_init
    ) -> None:
        super().__init__()
        across = width or hidden
        self.hidden, self.query = hidden, query
        self.projection, self.bias = new_weight(across, hidden, init=init), nn.Parameter(torch.zeros(across))
        self.query_projection = new_weight(across, query, init=init)
        self.query_bias = nn.Parameter(torch.zeros(across))

    def forward(self, states: Tensor, query: Tensor | None = None) -> Tensor:
        """Turn states (B,T,H) into scores (B,T), or (B,Q,T) for several queries."""
        check_shape("TanhDotScore", "states", tensor=states, expected=("B", "T", self.hidden))
        check_query("TanhDotScore", query=query, width=self.query, batch=states.shape[0])
        assert query is not None
        keys = F.linear(states, self.projection, self.bias).tanh()
        return dot_scores(F.linear(query, self.query_projection, self.query_bias).tanh(), keys)

    def extra_repr(self) -> str:
        return f"{self.hidden}, query={self.query}, width={self.projection.shape[0]}"


class NestedAttention(nn.Module):
    """Attend to words by one query, and to the characters inside them by others."""

    def __init__(
        self,
        hidden: int,
        characters: int,
        *,
        query: int,
        character_query: int,
        width: int | None = None,  # A, by default H
        hard: bool = False,
        init: Init = xavier_init,
    ) -> None:
        super().__init__()
        across = width or hidden
        self.hard, self.characters = hard, characters
        self.word_score = TanhDotScore(hidden, query=query, width=across, init=init)
        self.character_score = TanhDotScore(characters, query=character_query, width=across, init=init)

    def forward(
        self,
        words: Tensor,
        mask: Tensor,
        *,
        characters: Tensor,
        character_mask: Tensor,
        query: Tensor,
        character_query: Tensor,
    ) -> NestedAttended:
        """Read words (B,T,H) by a query (B,C), and their characters (B,T,J,X) by queries (B,Q,D).

        A word without characters is left out: it counts as masked.
        """
        where = type(self).__name__
        check_shape(where, "words", tensor=words, expected=("B", "T", self.word_score.hidden))
        check_shape(where, "a mask", tensor=mask, expected=words.shape[:2])
        check_mask(where, mask)
        check_shape(where, "characters", tensor=characters, expected=(*words.shape[:2], "J", self.characters))
        check_shape(where, "a character_mask", tensor=character_mask, expected=characters.shape[:3])
        check_mask(where, character_mask)
        check_shape(where, "a query", tensor=query, expected=(words.shape[0], self.word_score.query))
        check_shape(
            where,
            "a character_query",
            tensor=character_query,
            expected=(words.shape[0], "Q", self.character_score.query),
        )
        real = character_mask & mask.unsqueeze(-1)  # (B,T,J)
        outer = self.attend_words(words, mask & real.any(-1), query)
        inner = self.character_score(characters.flatten(1, 2), character_query)  # (B,Q,T·J)
        scores = inner.unflatten(-1, characters.shape[1:3])  # (B,Q,T,J)
        weights = nest(outer.weights, masked_softmax(scores, real.unsqueeze(1)), hard=self.hard)
        context = weights.flatten(2) @ characters.flatten(1, 2)  # (B,Q,X)
        return NestedAttended(outer, Attended(context, weights, scores))

    def attend_words(self, words: Tensor, mask: Tensor, query: Tensor) -> Attended:
        """The outer level alone: words (B,T,H) by a query (B,C), or by several (B,Q,C)."""
        return read(
            self.word_score(words, query),
            words,
            mask=mask,
            normalise=masked_softmax,
            where=type(self).__name__,
        )

    def extra_repr(self) -> str:
        return f"hard={self.hard}"
