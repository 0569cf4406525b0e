"""What attention gives, and attention for given queries, keys and values.

Axes: T tokens, Q queries, C and H widths, `...` any leading axes. Queries and weights of rank one less than
the keys have no axis Q: one query a row.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch.export
from torch import Tensor

from heedful.attention.dot import dot_scores
from heedful.attention.normalise import Normaliser, masked_softmax
from heedful.attention.shapes import check_mask, shown
from heedful.errors import UserError


@dataclass(frozen=True)
class Attended:
    """What attention read, how much of each token, and the scores from which that came."""

    context: Tensor  # (..., H) or (..., Q, H)
    weights: Tensor  # (..., T) or (..., Q, T)
    scores: Tensor  # like weights; means nothing at masked positions


# So that a mechanism can be exported, saved and loaded, and its result mapped over like a tuple of tensors.
torch.export.register_dataclass(Attended, serialized_type_name="heedful.attention.Attended")


def attend(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor,
    *,
    score: Callable[[Tensor, Tensor], Tensor] = dot_scores,
    normalise: Normaliser = masked_softmax,
) -> Attended:
    """Read values (..., T, ·) where keys (..., T, H) match the queries (..., C) or (..., Q, C).

    The mask is (..., T), the same for every query, or (..., Q, T); leading axes of length 1 are broadcast.
    """
    return read(score(queries, keys), values, mask=mask, normalise=normalise, where="attend")


def weighted_sum(weights: Tensor, values: Tensor) -> Tensor:
    """Sum values (..., T, H) by weights (..., T) into (..., H), or by (..., Q, T) into (..., Q, H)."""
    if weights.dim() == values.dim():
        return weights @ values
    return (weights.unsqueeze(-2) @ values).squeeze(-2)


def read(scores: Tensor, values: Tensor, *, mask: Tensor, normalise: Normaliser, where: str) -> Attended:
    """Normalise the scores over real tokens and sum the values by them."""
    if values.dim() < 2 or values.shape[-2] != scores.shape[-1] or scores.dim() - values.dim() not in (-1, 0):
        raise UserError(
            f"{where} needs values (..., T, ·) for scores of shape {shown(scores.shape)}, "
            f"but {shown(values.shape)} came."
        )
    weights = normalise(scores, mask_like(scores, mask, where=where))
    return Attended(weighted_sum(weights, values), weights, scores)


def mask_like(scores: Tensor, mask: Tensor, *, where: str) -> Tensor:
    """Give the mask an axis Q where only the scores have one; refuse one that does not fit the scores."""
    check_mask(where, mask)
    lifted = mask.unsqueeze(-2) if mask.dim() == scores.dim() - 1 else mask
    belongs = lifted.dim() == scores.dim() and lifted.shape[-1] == scores.shape[-1]
    if not belongs or not all(
        m == s or m == 1 for m, s in zip(lifted.shape[:-1], scores.shape[:-1], strict=True)
    ):
        raise UserError(
            f"{where} needs a mask for scores of shape {shown(scores.shape)}, but {shown(mask.shape)} came."
        )
    return lifted
