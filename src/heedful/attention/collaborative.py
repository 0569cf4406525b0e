"""Attentive collaborative filtering (Chen et al., 2017): which items of a user's history, and what in them.

Component level, inside an item: b_lm = w₂ᵀ φ(W₂ᵤ u + W₂ₓ x_lm + b₂), β_l = softmax(b_l), x̄_l = Σ_m β_lm x_lm.
Item level, over the history: a_l = w₁ᵀ φ(W₁ᵤ u + W₁ᵥ v_l + W₁ₚ p_l + W₁ₓ x̄_l + b₁), α = softmax(a), and what
is read is Σ_l α_l p_l. φ is ReLU. The paper adds a number c₁ to every a and c₂ to every b; softmax
forgets it, so it is left out. (The survey's notes have a instead of b in the denominator of β; it is b.)
Axes: B users, L items of a history, M components of an item, D width of users and items, X width of a
component, A width inside.
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
from heedful.attention.shapes import check_mask, check_pair, check_shape


@dataclass(frozen=True)
class CollaborativeAttended:
    """What was read of a history, and of each item in it."""

    items: Attended  # context (B,D), weights and scores (B,L)
    components: Attended  # context x̄ (B,L,X), weights and scores (B,L,M)


torch.export.register_dataclass(
    CollaborativeAttended, serialized_type_name="heedful.attention.CollaborativeAttended"
)


def relu_scores(queries: Tensor, keys: Tensor, *, context: Tensor) -> Tensor:
    """Score projected keys (..., T, A) by contextᵀ max(0, key + query), projected queries (..., A)."""
    check_pair("relu_scores", queries=queries, keys=keys)
    return dot_scores(context, (keys + queries.unsqueeze(-2)).relu())


class CollaborativeAttention(nn.Module):
    """Attention over the items of a history, which looks into each by attention over its components."""

    def __init__(
        self, hidden: int, components: int, *, width: int | None = None, init: Init = xavier_init
    ) -> None:
        """`hidden` is D, `components` X and `width` A, which is by default D."""
        super().__init__()
        across = width or hidden
        self.hidden, self.components = hidden, components
        self.component_user = new_weight(across, hidden, init=init)
        self.component_projection = new_weight(across, components, init=init)
        self.component_bias = nn.Parameter(torch.zeros(across))
        self.component_context = new_weight(across, init=init)
        self.item_user = new_weight(across, hidden, init=init)
        self.item_projection = new_weight(across, hidden, init=init)
        self.history_projection = new_weight(across, hidden, init=init)
        self.content_projection = new_weight(across, components, init=init)
        self.item_bias = nn.Parameter(torch.zeros(across))
        self.item_context = new_weight(across, init=init)

    def forward(
        self,
        user: Tensor,
        items: Tensor,
        *,
        history: Tensor,
        components: Tensor,
        mask: Tensor,
        component_mask: Tensor,
    ) -> CollaborativeAttended:
        """Read the vectors `history` p (B,L,D) of the items that the mask (B,L) has.

        The user is (B,D), `items` are v (B,L,D), `components` x (B,L,M,X) with their mask (B,L,M). An item
        without components has x̄ = 0.
        """
        where = type(self).__name__
        check_shape(where, "a user", tensor=user, expected=("B", self.hidden))
        check_shape(where, "items", tensor=items, expected=(user.shape[0], "L", self.hidden))
        check_shape(where, "a history", tensor=history, expected=items.shape)
        check_shape(where, "components", tensor=components, expected=(*items.shape[:2], "M", self.components))
        check_shape(where, "a mask", tensor=mask, expected=items.shape[:2])
        check_shape(where, "a component_mask", tensor=component_mask, expected=components.shape[:3])
        check_mask(where, component_mask)
        inner = self.attend_components(user, components, component_mask)
        keys = (
            F.linear(items, self.item_projection, self.item_bias)
            + F.linear(history, self.history_projection)
            + F.linear(inner.context, self.content_projection)
        )  # (B,L,A)
        scores = relu_scores(user @ self.item_user.mT, keys, context=self.item_context)
        outer = read(scores, history, mask=mask, normalise=masked_softmax, where=where)
        return CollaborativeAttended(outer, inner)

    def attend_components(self, user: Tensor, components: Tensor, mask: Tensor) -> Attended:
        """Read each item's components (B,L,M,X) for this user (B,D)."""
        keys = F.linear(components, self.component_projection, self.component_bias)  # (B,L,M,A)
        queries = (user @ self.component_user.mT).unsqueeze(1)  # (B,1,A): the same for every item
        scores = relu_scores(queries, keys, context=self.component_context)
        return read(scores, components, mask=mask, normalise=masked_softmax, where=type(self).__name__)

    def extra_repr(self) -> str:
        return f"{self.hidden}, components={self.components}, width={len(self.item_context)}"
