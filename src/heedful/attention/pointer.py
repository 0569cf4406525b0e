"""Pointing (Vinyals et al., 2015): attention whose weights are the answer, so choices grow with the input.

u_j = vᵀ tanh(W₁ e_j + W₂ d), p = softmax(u) over the items that may be pointed at. The paper's other decoder
goes on with the blend d' = Σ p_j e_j and must name its choice from a fixed dictionary; here that blend is the
`context`. (The survey writes a_j for p_j.)
Axes: B instances, T items, H width of an item, Q steps, C width of a query, A width of the tanh layer.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.attention.additive import AdditiveScore
from heedful.attention.attended import Attended, mask_like, read
from heedful.attention.initial import Init, normal_init
from heedful.attention.normalise import finite, masked_softmax
from heedful.attention.shapes import check_shape
from heedful.errors import UserError


class Pointer(nn.Module):
    """Point at one of the items; not at what the mask closes, such as an item already chosen."""

    def __init__(
        self,
        hidden: int,
        *,
        query: int,  # C
        width: int | None = None,  # A, by default H
        init: Init = normal_init,
    ) -> None:
        super().__init__()
        self.score = AdditiveScore(hidden, query=query, width=width, bias=False, init=init)

    def forward(self, states: Tensor, mask: Tensor, *, query: Tensor) -> Attended:
        """Point from queries (B,C) or (B,Q,C) at states (B,T,H) where the mask (B,T) or (B,Q,T) is true."""
        scores = self.score(states, query)
        return read(scores, states, mask=mask, normalise=masked_softmax, where="Pointer")


def pointing_loss(scores: Tensor, mask: Tensor, *, targets: Tensor) -> Tensor:
    """−log p of the targets (...), for scores (..., T), over items where the mask is true; 0 for targets < 0.

    A target that the mask closes costs ∞.
    Computed from scores, not from weights: a weight that has become 0 would have no gradient.
    """
    check_shape("pointing_loss", "targets", tensor=targets, expected=scores.shape[:-1])
    check_targets(targets, items=scores.shape[-1])
    real = mask_like(scores, mask, where="pointing_loss")
    counted = targets >= 0
    # A step that does not count may have nothing open: leave it all open, so that no ∞ − ∞ arises.
    logs = finite(scores).masked_fill(~(real | ~counted[..., None]), -torch.inf).log_softmax(-1)
    # One item more, that no target is: so there is something to gather even without items.
    return (
        -F.pad(logs, (0, 1)).gather(-1, targets.clamp(min=0).long()[..., None]).squeeze(-1).where(counted, 0)
    )


def check_targets(targets: Tensor, *, items: int) -> None:
    if targets.is_floating_point() or targets.dtype == torch.bool:
        raise UserError(f"pointing_loss needs targets in whole numbers, but {targets.dtype} came.")
    if targets.numel() and int(targets.max()) >= items:
        raise UserError(
            f"pointing_loss needs targets below the number of items, {items}, but {int(targets.max())} came."
        )
