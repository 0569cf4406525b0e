"""Location-based attention (Luong et al., 2015): a slot's score depends on where it is, not on what it holds.

For a given query a_j = p_jᵀq / λ, with one learned row p_j for each slot; without one a_j = p_j / λ, one
learned number for each slot. There is a longest text, and slots are counted from the row's first, so pad at
the end.
Axes: B instances, T tokens, Q queries, C width of a query, N the longest text.
"""

from torch import Tensor, nn

from heedful.attention.initial import Init, new_weight, normal_init
from heedful.attention.shapes import check_query, check_shape, checked_scale
from heedful.errors import UserError


def location_scores(queries: Tensor, length: int, *, slots: Tensor, scale: float = 1.0) -> Tensor:
    """Score the first `length` slots by queries (..., C) through learned slots (N,C): (..., T)."""
    check_shape("location_scores", "slots", tensor=slots, expected=("N", queries.shape[-1]))
    return queries @ first(slots, length, where="location_scores").mT / scale


class LocationScore(nn.Module):
    """Score each slot by a learned number, or by a given query of any width."""

    def __init__(
        self,
        hidden: int,
        *,
        longest: int,  # N, in tokens
        query: int | None = None,
        scale: float = 1.0,
        init: Init = normal_init,
    ) -> None:
        super().__init__()
        self.hidden, self.query, self.scale = hidden, query, checked_scale("LocationScore", scale)
        self.longest = longest
        self.slots = (
            new_weight(longest, init=init) if query is None else new_weight(longest, query, init=init)
        )

    def forward(self, states: Tensor, query: Tensor | None = None) -> Tensor:
        """Turn the length of states (B,T,H) into scores (B,T), or (B,Q,T) for several queries."""
        check_shape("LocationScore", "states", tensor=states, expected=("B", "T", self.hidden))
        check_query("LocationScore", query=query, width=self.query, batch=states.shape[0])
        batch, length, _ = states.shape
        if query is not None:
            return location_scores(query, length, slots=self.slots, scale=self.scale)
        return (first(self.slots, length, where="LocationScore") / self.scale).expand(batch, length)

    def extra_repr(self) -> str:
        return f"{self.hidden}, longest={self.longest}, query={self.query}, scale={self.scale:g}"


def first(slots: Tensor, length: int, *, where: str) -> Tensor:
    if length > slots.shape[0]:
        raise UserError(
            f"{where} needs texts of at most {slots.shape[0]} tokens, but one of {length} came: "
            "shorten the texts or build it with a larger longest=."
        )
    return slots[:length]
