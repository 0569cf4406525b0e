"""A model in the letters of Sun & Lu (2020): the parameters that their analysis is written in.

`dp` has a = eᵀV/λ and s = eᵀW; `dp-a` the same over h = M e (supplement D); `ad` has a = tanh(M e (+
b))ᵀV/λ over values e (supplement E). Each comes with one binary score or with K classes (supplement F), and
with or without a bias in the head, which is in no token's score.

`keys` are what V looks at (e, M e, tanh(M e + b)), `values` what the head reads (e, M e, e).
Axes: V words, E width of a word's vector, H width of the keys, K scores (1 for one binary score).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from heedful.attention import AdditiveScore, Attention, DotScore, masked_softmax
from heedful.errors import UserError
from heedful.models.building import Classifier
from heedful.models.classifier import FlatClassifier
from heedful.models.encoders import AffineEncoder, NoEncoder


@dataclass(frozen=True, eq=False)
class PaperForm:
    """The parameters by the paper's letters, without gradients; `table` may be only some words' rows."""

    family: str  # dp, dp-a or ad
    table: Tensor  # e (V, E)
    context: Tensor  # V (H,)
    head: Tensor  # Wᵀ (K, ·)
    scale: float  # λ
    matrix: Tensor | None = None  # M (H, E)
    bias: Tensor | None = None  # b (H,), of additive attention
    head_bias: Tensor | None = None  # (K,)
    words_move: bool = True  # False: the embedding is frozen, so nothing flows through it

    def take(self, ids: Tensor) -> "PaperForm":
        """The same model with the rows of these words alone."""
        return replace(self, table=self.table.index_select(0, ids))

    def copy(self) -> "PaperForm":
        """The same, held fast: training on does not move it."""
        held: dict[str, Any] = {
            name: part.clone() if isinstance(part, Tensor) else part
            for name, part in vars(self).items()
            if name in self.__dataclass_fields__
        }
        return PaperForm(**held)

    @cached_property
    def keys(self) -> Tensor:
        """What V looks at (V, H)."""
        if self.matrix is None:
            return self.table
        projected = F.linear(self.table, self.matrix, self.bias)
        return projected.tanh() if self.family == "ad" else projected

    @property
    def values(self) -> Tensor:
        """What the head reads (V, ·)."""
        return self.keys if self.family == "dp-a" else self.table

    def summed(self, values: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Σ over words of their values, weighed by (V, K), and of their keys, by (V,): (K, ·) and (H,)."""
        if self.keys is not self.values:
            return values.T @ self.values, keys @ self.keys
        # One product: going through the table is what costs.
        both = torch.cat([values, keys[:, None]], dim=1).T @ self.keys
        return both[:-1], both[-1]

    def likened(self, values: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Each word's values by these vectors (K, ·), and its keys by this one (H,): (V, K) and (V,)."""
        if self.keys is not self.values:
            return self.values @ values.T, self.keys @ keys
        both = self.keys @ torch.cat([values, keys[None]]).T
        return both[:, :-1], both[:, -1]

    @property
    def directions(self) -> Tensor:
        """W' = MᵀW: what the head reads of a word's vector (K, E)."""
        return self.head @ self.matrix if self.family == "dp-a" and self.matrix is not None else self.head

    @property
    def attention(self) -> Tensor:
        """a_e (V,)."""
        return self._scores[:, 0]

    @property
    def polarity(self) -> Tensor:
        """s_e (V, K)."""
        return self._scores[:, 1:]

    @cached_property
    def _scores(self) -> Tensor:
        """a_e and s_e side by side (V, 1 + K): one product reads the table once."""
        if self.family == "ad":
            attention = self.keys @ self.context / self.scale
            return torch.cat([attention[:, None], self.table @ self.directions.T], dim=1)
        return self.table @ torch.cat([self.look[None] / self.scale, self.directions]).T

    @property
    def look(self) -> Tensor:
        """V' = MᵀV (E,): where attention looks in the space of words, of `ad` to first order at 0."""
        return self.context if self.matrix is None else self.context @ self.matrix

    @property
    def slopes(self) -> Tensor:
        """∂a_e/∂e · λ: V', the same for all words (1, E); of `ad` MᵀD_eV, each word's own (V, E)."""
        if self.family != "ad":
            return self.look[None]
        assert self.matrix is not None
        return self.bent @ self.matrix

    @property
    def bent(self) -> Tensor:
        """D_e V of additive attention (V, H), with D_e = Diag(1 − tanh² x_e)."""
        return (1 - self.keys.square()) * self.context

    @property
    def alignment(self) -> Tensor:
        """VᵀW (K,); of `dp-a` V'ᵀW' (Eq. 63), of `ad` (MᵀV)ᵀW (Eq. 71)."""
        return self.directions @ self.look


def paper_form(model: Classifier) -> PaperForm:
    """The model in the paper's letters; refused where the analysis does not reach."""
    reason = why_not(model)
    if reason:
        raise UserError(
            f"The flow terms are those of dp, dp-a and ad, but {reason}: take its token scores instead."
        )
    assert isinstance(model, FlatClassifier)
    assert model.embedding is not None
    score = model.words.attention.score
    assert isinstance(score, DotScore | AdditiveScore)
    encoder = model.words.encoder
    family, matrix, bias = "dp", None, None
    if isinstance(encoder, AffineEncoder):
        family, matrix = "dp-a", encoder.project.weight.detach()
    if isinstance(score, AdditiveScore):
        family, matrix = "ad", score.projection.detach()
        bias = None if score.bias is None else score.bias.detach()
    assert score.context is not None
    return PaperForm(
        family=family,
        table=model.embedding.weight.detach(),
        context=score.context.detach(),
        head=model.head.weight.detach(),
        scale=float(score.scale),
        matrix=matrix,
        bias=bias,
        head_bias=None if model.head.bias is None else model.head.bias.detach(),
        words_move=model.embedding.weight.requires_grad,
    )


def why_not(model: Classifier) -> str:
    """Why a model has no paper form, as part of a sentence; empty if it has one."""
    if not isinstance(model, FlatClassifier):
        return "this model attends at two levels"
    encoder, attention = model.words.encoder, model.words.attention
    if not isinstance(encoder, NoEncoder | AffineEncoder):
        return f"this model's encoder is {model.settings.encoder!r}"
    if not isinstance(attention, Attention) or attention.normalise is not masked_softmax:
        return "this model's attention is not a softmax of learnt scores"
    if isinstance(attention.score, DotScore):
        return ""
    if isinstance(attention.score, AdditiveScore):
        return (
            "" if isinstance(encoder, NoEncoder) else "this model has both an encoder and additive attention"
        )
    return f"this model's attention is {model.settings.attention!r}"
