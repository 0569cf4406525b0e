"""Scores of a transformer's pieces as scores of words.

Axes: B texts, G texts of equal length, T words, L pieces.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from heedful.data.batches import Batch
from heedful.models.transformers.pieces import Group


def by_word(found: Sequence[tuple[Group, Tensor]], batch: Batch) -> Tensor:
    """Scores (G,L) of the pieces of each group as scores (B,T) of words, which have their share of pieces.

    Texts of no group were too long to be looked at: theirs are unknown.
    """
    scores = torch.full(batch.mask.shape, torch.nan, dtype=torch.float64, device=batch.mask.device)
    for group, pieces in found:
        belongs = group.belongs(batch.mask.shape[1]).double()
        scores[group.rows] = (belongs @ pieces.double()[..., None])[..., 0]
    return scores.masked_fill(~batch.mask, 0)
