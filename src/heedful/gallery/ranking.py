"""How well one right item is ranked among candidates: hit rate and NDCG at ten."""

import torch
from torch import Tensor

TOP = 10


def ranks(scores: Tensor) -> Tensor:
    """The rank (U) of the first candidate by scores (U,C), 0 is best; it stands amid its equals."""
    right, others = scores[:, :1], scores[:, 1:]
    return (others > right).sum(1) + (others == right).sum(1) / 2


def hit_rate(found: Tensor) -> float:
    """The share of ranks (U) among the first ten."""
    return float((found < TOP).double().mean())


def gain(found: Tensor) -> float:
    """NDCG at ten: what is found counts 1 / log₂(2 + rank)."""
    return float(((found < TOP) / torch.log2(found + 2.0)).double().mean())
