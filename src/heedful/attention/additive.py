"""Additive attention, also called concat: a small tanh network scores each token.

For a given query a_j = Vᵀ tanh(P h_j + R q + b) / λ (Bahdanau et al., 2015; and Luong et al.'s concat, since
W[h; q] = P h + R q). Without one a_j = Vᵀ tanh(P h_j + b) / λ: Sun & Lu's (2020) AD and, with λ = 1, Serrano
& Smith's (2019) u_jᵀc.
Axes: B instances, T tokens, H hidden width, Q queries, C width of a query, A width of the tanh layer.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.attention.dot import dot_scores
from heedful.attention.initial import Init, new_weight, normal_init
from heedful.attention.shapes import check_pair, check_query, check_shape, checked_scale


def additive_scores(queries: Tensor | None, keys: Tensor, *, context: Tensor, scale: float = 1.0) -> Tensor:
    """Score projected keys (..., T, A) by contextᵀ tanh(key + query) / scale, context (A).

    Projected queries are (A), (..., A) or (..., Q, A), or None for no query. Several queries take memory for
    (..., Q, T, A).
    """
    if queries is not None:
        check_pair("additive_scores", queries=queries, keys=keys)
        if queries.dim() == keys.dim():
            keys = keys.unsqueeze(-3)  # (..., 1, T, A)
        keys = keys + queries.unsqueeze(-2)
    return dot_scores(context, keys.tanh(), scale=scale)


class AdditiveScore(nn.Module):
    """Score each token by how well the learned `context` matches its tanh layer, which a query may shift."""

    def __init__(
        self,
        hidden: int,
        *,
        query: int | None = None,
        width: int | None = None,  # A, by default H
        scale: float = 1.0,
        bias: bool = True,
        init: Init = normal_init,
    ) -> None:
        super().__init__()
        across = width or hidden
        self.hidden, self.query, self.scale = hidden, query, checked_scale("AdditiveScore", scale)
        self.context = new_weight(across, init=init)
        self.projection = new_weight(across, hidden, init=init)
        self.query_projection = None if query is None else new_weight(across, query, init=init)
        self.bias = nn.Parameter(torch.zeros(across)) if bias else None

    def forward(self, states: Tensor, query: Tensor | None = None) -> Tensor:
        """Turn states (B,T,H) into scores (B,T), or (B,Q,T) for several queries."""
        check_shape("AdditiveScore", "states", tensor=states, expected=("B", "T", self.hidden))
        check_query("AdditiveScore", query=query, width=self.query, batch=states.shape[0])
        keys = F.linear(states, self.projection, self.bias)  # (B,T,A)
        queries = None if query is None or self.query_projection is None else query @ self.query_projection.mT
        return additive_scores(queries, keys, context=self.context, scale=self.scale)

    def extra_repr(self) -> str:
        width, bias = self.projection.shape[0], self.bias is not None
        return f"{self.hidden}, query={self.query}, width={width}, scale={self.scale:g}, bias={bias}"
