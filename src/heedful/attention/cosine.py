"""Cosine attention, content-based addressing (Graves et al., 2014): direction counts, length does not.

a_j = cos(h_j, q) / λ. Graves' key strength β is 1/λ.
Axes: B instances, T tokens, H hidden width, Q queries.
"""

import torch
from torch import Tensor, nn

from heedful.attention.dot import dot_scores
from heedful.attention.initial import Init, new_weight, normal_init
from heedful.attention.shapes import check_pair, check_shape, checked_scale, pick_query
from heedful.errors import UserError

SHORTEST = 1e-12  # vectors with no entry above this count as shorter than 1; a zero vector scores 0


def cosine_scores(queries: Tensor, keys: Tensor, *, scale: float = 1.0) -> Tensor:
    """Score keys (..., T, H) by their cosine with queries (H), (..., H) or (..., Q, H)."""
    check_pair("cosine_scores", queries=queries, keys=keys)
    return dot_scores(unit(queries), unit(keys), scale=scale).to(keys.dtype)


class CosineScore(nn.Module):
    """Score each token by its cosine with the learned `context`, or with a given query of the same width."""

    def __init__(
        self, hidden: int, *, query: int | None = None, scale: float = 1.0, init: Init = normal_init
    ) -> None:
        super().__init__()
        if query not in (None, hidden):
            raise UserError(
                f"A cosine needs queries as wide as the states ({hidden}), but width {query} came: "
                "choose 'general' or 'additive' for other widths."
            )
        self.hidden, self.query, self.scale = hidden, query, checked_scale("CosineScore", scale)
        self.context = new_weight(hidden, init=init) if query is None else None

    def forward(self, states: Tensor, query: Tensor | None = None) -> Tensor:
        """Turn states (B,T,H) into scores (B,T), or (B,Q,T) for several queries."""
        check_shape("CosineScore", "states", tensor=states, expected=("B", "T", self.hidden))
        queries = pick_query(
            "CosineScore", query, context=self.context, width=self.query, batch=states.shape[0]
        )
        return cosine_scores(queries, states, scale=self.scale)

    def extra_repr(self) -> str:
        return f"{self.hidden}, query={self.query}, scale={self.scale:g}"


def unit(vectors: Tensor) -> Tensor:
    """Vectors of length 1 in at least single precision; a zero vector stays zero and its gradient finite."""
    wide = vectors.float() if vectors.dtype.itemsize < 4 else vectors
    # Squares overflow or vanish before the vectors do, so the largest entry is brought to 1 first.
    largest = wide.detach().abs().amax(-1, keepdim=True).clamp(min=SHORTEST)
    near = wide / largest
    unit: Tensor = near / torch.linalg.vector_norm(near, dim=-1, keepdim=True).clamp(min=1)
    return unit
