"""General (bilinear) attention (Luong et al., 2015): a matrix between the query and each state.

a_j = qᵀ M h_j / λ. Query and states may have different widths.
Axes: B instances, T tokens, H hidden width, Q queries, C width of a query.
"""

from torch import Tensor, nn

from heedful.attention.dot import dot_scores
from heedful.attention.initial import Init, new_weight, normal_init
from heedful.attention.shapes import check_ranks, check_shape, checked_scale, pick_query


def general_scores(queries: Tensor, keys: Tensor, *, matrix: Tensor, scale: float = 1.0) -> Tensor:
    """Score keys (..., T, H) by queries (C), (..., C) or (..., Q, C) through a matrix (C,H)."""
    check_ranks("general_scores", queries=queries, keys=keys)
    expected = (queries.shape[-1], keys.shape[-1])
    check_shape("general_scores", "a matrix", tensor=matrix, expected=expected)
    return dot_scores(queries @ matrix, keys, scale=scale)


class GeneralScore(nn.Module):
    """Score each token bilinearly with the learned `context` (C), or with a given query of any width."""

    def __init__(
        self,
        hidden: int,
        *,
        query: int | None = None,
        width: int | None = None,  # C of the learned context, by default H
        scale: float = 1.0,
        init: Init = normal_init,
    ) -> None:
        super().__init__()
        self.hidden, self.query, self.scale = hidden, query, checked_scale("GeneralScore", scale)
        across = query or width or hidden
        self.context = new_weight(across, init=init) if query is None else None
        self.matrix = new_weight(across, hidden, init=init)

    def forward(self, states: Tensor, query: Tensor | None = None) -> Tensor:
        """Turn states (B,T,H) into scores (B,T), or (B,Q,T) for several queries."""
        check_shape("GeneralScore", "states", tensor=states, expected=("B", "T", self.hidden))
        queries = pick_query(
            "GeneralScore", query, context=self.context, width=self.query, batch=states.shape[0]
        )
        return general_scores(queries, states, matrix=self.matrix, scale=self.scale)

    def extra_repr(self) -> str:
        return f"{self.hidden}, query={self.query}, width={self.matrix.shape[0]}, scale={self.scale:g}"
