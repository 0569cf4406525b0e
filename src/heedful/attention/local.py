"""Local attention (Luong et al., 2015): read only a window of slots around a centre p_t.

local-m, monotonic: p_t = t, and a_t(s) = softmax over the window |s − p_t| ≤ D of score(h_t, h_s).
local-p, predictive: p_t = S · sigmoid(V_pᵀ tanh(W_p h_t)), and the same softmax times a Gaussian,
    a_t(s) = align(h_t, h_s) · exp(−(s − p_t)² / 2σ²), σ = D/2,
through which alone p_t learns. These weights are not normalised again, as in the paper: over real tokens they
sum to at most 1, and to at least exp(−2) because a slot at the window's edge lies 2σ from the centre.
(The survey's scan has "lign" for align.)

Slots are counted from 1 and S is the number of real tokens, so pad at the end. A centre beyond the text is
moved to its nearest end, so that a window is never empty; the paper leaves this open. Places are float32 or
wider whatever the states are: bfloat16 cannot count beyond 256.
Axes: B instances, T tokens, H hidden width, Q queries, C width of a query, A width inside the prediction.
"""

import torch
from torch import Tensor, nn

from heedful.attention.attended import Attended, mask_like, weighted_sum
from heedful.attention.dot import dot_scores
from heedful.attention.initial import Init, new_weight, normal_init
from heedful.attention.normalise import masked_softmax
from heedful.attention.shapes import check_mask, check_query, check_shape, shown
from heedful.errors import UserError


def centred_window(centres: Tensor, mask: Tensor, *, reach: float) -> Tensor:
    """Which real tokens of a mask (..., T) lie within `reach` slots of the centres (...): (..., T).

    For centres (..., Q) of a mask (..., T) it is (..., Q, T).
    """
    check_mask("centred_window", mask)
    rows = mask.shape[:-1]
    if centres.shape[: len(rows)] != rows or centres.dim() - len(rows) not in (0, 1):
        raise UserError(
            f"centred_window needs centres of shape {shown(rows)} or {shown((*rows, 'Q'))} "
            f"for a mask of shape {shown(mask.shape)}, but {shown(centres.shape)} came."
        )
    near = distances(centres, mask.shape[-1]).abs() <= reach
    return near & (mask.unsqueeze(-2) if near.dim() > mask.dim() else mask)


def predicted_centres(queries: Tensor, lengths: Tensor, *, projection: Tensor, direction: Tensor) -> Tensor:
    """S · sigmoid(directionᵀ tanh(projection · query)), for queries (..., C) and lengths S (...).

    The projection is (A,C), the direction (A). Lengths (B) serve queries (B,Q,C) too.
    """
    where, rows = "predicted_centres", queries.shape[:-1]
    if queries.dim() < 2:
        raise UserError(f"{where} needs queries of shape (..., B, C), but {shown(queries.shape)} came.")
    check_shape(where, "a projection", tensor=projection, expected=("A", queries.shape[-1]))
    check_shape(where, "a direction", tensor=direction, expected=projection.shape[:1])
    check_shape(where, "lengths", tensor=lengths, expected=rows[: max(1, min(lengths.dim(), len(rows)))])
    asked = dot_scores(direction, (queries @ projection.mT).tanh())
    shares = asked.to(countable(asked)).sigmoid()
    return shares * (lengths.unsqueeze(-1) if lengths.dim() < shares.dim() else lengths)


def gaussian(centres: Tensor, length: int, *, deviation: float) -> Tensor:
    """exp(−(s − p)² / 2σ²) for slots s = 1 … T and centres p (...): (..., T)."""
    if not deviation > 0:
        raise UserError(f"gaussian needs a deviation above 0, but {deviation} came.")
    return (-(distances(centres, length) ** 2) / (2 * deviation**2)).exp()


class LocalMonotonic(nn.Module):
    """local-m: the query of step t reads the slots around slot t.

    Pad at the end: padding before a text takes slots, and a window that holds only padding has no weights.
    """

    def __init__(self, score: nn.Module, *, reach: int) -> None:
        super().__init__()
        self.score, self.reach = score, checked_reach("LocalMonotonic", reach)

    def forward(
        self,
        states: Tensor,
        mask: Tensor,
        *,
        query: Tensor,
        values: Tensor | None = None,
        first: int = 1,  # the step t of the first query
    ) -> Attended:
        """Read values (B,T,·), by default the states (B,T,H), by queries (B,C) or (B,Q,C), Q steps on end."""
        values = states if values is None else values
        check_places("LocalMonotonic", states=states, mask=mask, values=values)
        return read_window(
            self.score(states, query),
            values,
            mask=mask,
            centres=self.centres(query, mask, first=first),
            reach=self.reach,
        )

    def centres(self, query: Tensor, mask: Tensor, *, first: int = 1) -> Tensor:
        """The slot p_t = t of each query, at most S: (B) or (B,Q)."""
        check_mask("LocalMonotonic", mask)
        check_shape("LocalMonotonic", "a mask", tensor=mask, expected=(query.shape[0], "T"))
        if first < 1:
            raise UserError(f"LocalMonotonic counts steps from 1, but a first step of {first} came.")
        lengths = mask.sum(-1)
        if query.dim() == 2:
            return lengths.clamp(max=first).to(countable(query))
        steps = torch.arange(query.shape[1], device=query.device) + first
        return torch.minimum(steps, lengths.unsqueeze(-1)).to(countable(query))

    def extra_repr(self) -> str:
        return f"reach={self.reach}"


class LocalPredictive(nn.Module):
    """local-p: the query says where to read, and a Gaussian around that place favours what is near.

    Pad at the end: padding before a text takes slots, and a window that holds only padding has no weights.
    """

    def __init__(
        self,
        score: nn.Module,
        *,
        query: int,
        reach: int,  # D; σ is half of it
        width: int | None = None,  # A, by default C
        init: Init = normal_init,
    ) -> None:
        super().__init__()
        self.score, self.query, self.reach = score, query, checked_reach("LocalPredictive", reach)
        self.projection = new_weight(width or query, query, init=init)
        self.direction = new_weight(width or query, init=init)

    def forward(
        self, states: Tensor, mask: Tensor, *, query: Tensor, values: Tensor | None = None
    ) -> Attended:
        """Read values (B,T,·), by default the states (B,T,H), by queries (B,C) or (B,Q,C)."""
        values = states if values is None else values
        check_places("LocalPredictive", states=states, mask=mask, values=values)
        centres = self.centres(query, mask)
        return read_window(
            self.score(states, query),
            values,
            mask=mask,
            centres=centres,
            reach=self.reach,
            shape=gaussian(centres, mask.shape[-1], deviation=self.reach / 2),
        )

    def centres(self, query: Tensor, mask: Tensor) -> Tensor:
        """The place p_t, in 0 … S, that each query asks for: (B) or (B,Q)."""
        check_mask("LocalPredictive", mask)
        check_shape("LocalPredictive", "a mask", tensor=mask, expected=("B", "T"))
        check_query("LocalPredictive", query=query, width=self.query, batch=mask.shape[0])
        return predicted_centres(query, mask.sum(-1), projection=self.projection, direction=self.direction)

    def extra_repr(self) -> str:
        return f"query={self.query}, reach={self.reach}, width={self.projection.shape[0]}"


def read_window(
    scores: Tensor,
    values: Tensor,
    *,
    mask: Tensor,
    centres: Tensor,
    reach: float,
    shape: Tensor | None = None,
) -> Attended:
    """Softmax over the window, times the shape where one is given, and the values summed by that."""
    window = centred_window(centres, mask, reach=reach)
    weights = masked_softmax(scores, mask_like(scores, window, where="local attention"))
    weights = weights if shape is None else weights * shape.to(weights.dtype)
    return Attended(weighted_sum(weights, values), weights, scores)


def check_places(where: str, *, states: Tensor, mask: Tensor, values: Tensor) -> None:
    check_mask(where, mask)
    check_shape(where, "a mask", tensor=mask, expected=states.shape[:2])
    check_shape(where, "values", tensor=values, expected=(*states.shape[:2], "·"))


def distances(centres: Tensor, length: int) -> Tensor:
    slots = torch.arange(1, length + 1, device=centres.device, dtype=countable(centres))
    return slots - centres.unsqueeze(-1)


def countable(like: Tensor) -> torch.dtype:
    """The dtype of a tensor if that counts slots exactly, otherwise float32."""
    return torch.promote_types(like.dtype, torch.float32)


def checked_reach(where: str, reach: int) -> int:
    """Return the reach D if a window of it can hold a token wherever its centre lies."""
    if not reach >= 1:
        raise UserError(f"{where} needs a reach of at least 1 slot, but {reach} came.")
    return reach
