"""Dot-product attention: a token's score is the product of its state with a vector, divided by a scale.

a_j = h_jᵀq / λ. With q a learned vector V it is Sun & Lu's (2020) a_j = h_jᵀV/λ; with a given query and λ =
1 it is Luong et al.'s (2015) dot; with λ = √H Vaswani et al.'s (2017) scaled dot product.
Axes: B instances, T tokens, H hidden width, Q queries.
"""

import math

from torch import Tensor, nn

from heedful.attention.initial import Init, new_weight, normal_init
from heedful.attention.shapes import check_pair, check_shape, checked_scale, pick_query
from heedful.errors import UserError


def dot_scores(queries: Tensor, keys: Tensor, *, scale: float = 1.0) -> Tensor:
    """Score keys (..., T, H) by queries (H) or (..., H) into (..., T), by (..., Q, H) into (..., Q, T)."""
    check_pair("dot_scores", queries=queries, keys=keys)
    # Divide where it makes numbers smaller, so half precision overflows only if the score does not fit.
    return products(queries / scale, keys) if scale > 1 else products(queries, keys) / scale


class DotScore(nn.Module):
    """Score each token by its product with the learned `context`, or with a given query of the same width."""

    def __init__(
        self, hidden: int, *, query: int | None = None, scale: float = 1.0, init: Init = normal_init
    ) -> None:
        super().__init__()
        if query not in (None, hidden):
            raise UserError(
                f"A dot product needs queries as wide as the states ({hidden}), but width {query} came: "
                "choose 'general' or 'additive' for other widths."
            )
        self.hidden, self.query, self.scale = hidden, query, checked_scale("DotScore", scale)
        self.context = new_weight(hidden, init=init) if query is None else None

    def forward(self, states: Tensor, query: Tensor | None = None) -> Tensor:
        """Turn states (B,T,H) into scores (B,T), or (B,Q,T) for several queries."""
        check_shape("DotScore", "states", tensor=states, expected=("B", "T", self.hidden))
        queries = pick_query("DotScore", query, context=self.context, width=self.query, batch=states.shape[0])
        return dot_scores(queries, states, scale=self.scale)

    def extra_repr(self) -> str:
        return f"{self.hidden}, query={self.query}, scale={self.scale:g}"


def scaled_dot(
    hidden: int, *, query: int | None = None, scale: float | None = None, init: Init = normal_init
) -> DotScore:
    """A `DotScore` whose scale is by default √H."""
    return DotScore(hidden, query=query, scale=math.sqrt(hidden) if scale is None else scale, init=init)


def products(queries: Tensor, keys: Tensor) -> Tensor:
    if queries.dim() == 1:
        return keys @ queries
    if queries.dim() < keys.dim():
        return (queries.unsqueeze(-2) @ keys.mT).squeeze(-2)
    return queries @ keys.mT
