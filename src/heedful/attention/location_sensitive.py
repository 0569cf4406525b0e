"""Location-sensitive attention (Chorowski et al., 2015): a score that knows where attention was before.

f_i = F ∗ α_{i−1}: filters over the weights of the step before, one vector of features a token. Then, by what
is given, one of the survey's three kinds:

    content     e_ij = vᵀ tanh(W s_{i−1} + V h_j + b)
    location    e_ij = vᵀ tanh(V h_j + U f_ij + b)
    hybrid      e_ij = vᵀ tanh(W s_{i−1} + V h_j + U f_ij + b)

Of two tokens that hold the same, content cannot tell which is next; location can. (In the survey's scan the
sentence on how b starts is garbled: it starts at 0 here.)
Axes: B instances, T tokens, H hidden width, C width of the query s, A width of the tanh layer, K filters.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.attention.additive import additive_scores
from heedful.attention.attended import Attended, read
from heedful.attention.initial import Init, new_weight, xavier_init
from heedful.attention.normalise import masked_softmax
from heedful.attention.shapes import check_mask, check_query, check_shape, shown
from heedful.errors import UserError


def location_features(previous: Tensor, filters: Tensor) -> Tensor:
    """Slide filters (K,W), W odd, over weights (B,T): features (B,T,K), each filter centred on its token.

    Beyond the text there is no weight. Filters are learned, so they are not mirrored as in a textbook's ∗.
    """
    check_shape("location_features", "weights", tensor=previous, expected=("B", "T"))
    check_shape("location_features", "filters", tensor=filters, expected=("K", "W"))
    if filters.shape[1] % 2 == 0:
        raise UserError(f"location_features needs filters of odd width, but {shown(filters.shape)} came.")
    # One place more than there are tokens, cut off again: so a text of no tokens has features too, none.
    padded = F.pad(previous.unsqueeze(1), (filters.shape[1] // 2, filters.shape[1] // 2 + 1))
    return F.conv1d(padded, filters.unsqueeze(1)).mT[:, : previous.shape[1]]


class LocationSensitiveAttention(nn.Module):
    """Attend by content (a query is given), by location (previous weights are), or by both."""

    def __init__(
        self,
        hidden: int,
        *,
        query: int | None,  # C; None for location alone
        filters: int,  # K; 0 for content alone
        window: int = 15,  # W, in tokens, odd
        width: int | None = None,  # A, by default H
        init: Init = xavier_init,
    ) -> None:
        super().__init__()
        if filters < 0:
            raise UserError(f"LocationSensitiveAttention needs 0 or more filters, but {filters} came.")
        if query is None and not filters:
            raise UserError("LocationSensitiveAttention needs a query, filters or both, but neither came.")
        if window < 1 or window % 2 == 0:
            raise UserError(f"LocationSensitiveAttention needs an odd window, but {window} came.")
        across = width or hidden
        self.hidden, self.query = hidden, query
        self.context = new_weight(across, init=init)
        self.projection = new_weight(across, hidden, init=init)
        self.query_projection = None if query is None else new_weight(across, query, init=init)
        self.filters = new_weight(filters, window, init=init) if filters else None
        self.filter_projection = new_weight(across, filters, init=init) if filters else None
        self.bias = nn.Parameter(torch.zeros(across))

    def forward(
        self,
        states: Tensor,
        mask: Tensor,
        *,
        query: Tensor | None = None,
        previous: Tensor | None = None,
    ) -> Attended:
        """Read states (B,T,H), asked by a query (B,C) and knowing the step before's weights (B,T)."""
        check_shape("LocationSensitiveAttention", "states", tensor=states, expected=("B", "T", self.hidden))
        check_shape("LocationSensitiveAttention", "a mask", tensor=mask, expected=states.shape[:2])
        check_mask("LocationSensitiveAttention", mask)
        self._check_asked(states, query, previous)
        keys = F.linear(states, self.projection, self.bias)  # (B,T,A)
        if previous is not None and self.filters is not None and self.filter_projection is not None:
            before = previous.masked_fill(~mask, 0)  # what lies beyond a text is not seen by its last tokens
            keys = keys + location_features(before, self.filters) @ self.filter_projection.mT
        asked = None if query is None or self.query_projection is None else query @ self.query_projection.mT
        scores = additive_scores(asked, keys, context=self.context)
        return read(scores, states, mask=mask, normalise=masked_softmax, where="LocationSensitiveAttention")

    def _check_asked(self, states: Tensor, query: Tensor | None, previous: Tensor | None) -> None:
        where = "LocationSensitiveAttention"
        if query is not None and query.dim() == 3:
            raise UserError(f"{where} takes one query at a time, (B, C), but {shown(query.shape)} came.")
        check_query(where, query=query, width=self.query, batch=states.shape[0])
        if (previous is None) != (self.filters is None):
            known = (
                "was built without filters and takes no" if self.filters is None else "has filters and needs"
            )
            came = "they" if previous is not None else "none"
            raise UserError(f"{where} {known} previous weights, but {came} came.")
        if previous is not None:
            check_shape(where, "previous weights", tensor=previous, expected=states.shape[:2])

    def extra_repr(self) -> str:
        width, filters = len(self.context), 0 if self.filters is None else len(self.filters)
        return f"{self.hidden}, query={self.query}, filters={filters}, width={width}"
