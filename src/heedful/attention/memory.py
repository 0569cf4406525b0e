"""Memory-based attention: a query addresses keys and reads their values, then asks again with what it read.

One hop: e_i = a(q, k_i), α = softmax(e), c = Σ α_i v_i. The next one asks q ← R_n(q + c), R_n learned: Miller
et al. (2016), a variant of Sukhbaatar et al. (2015), who ask q + c (or a matrix times q, plus c). So a later
hop can look for what an earlier one found. (The survey's scan gives one hop; its normalising sum runs over
another index than i.)
Axes: B instances, T memories, H width of queries, keys and values, N hops.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.export
from torch import Tensor, nn

from heedful.attention.attended import Attended, attend
from heedful.attention.dot import dot_scores
from heedful.attention.initial import Init, new_weight, normal_init
from heedful.attention.normalise import Normaliser, masked_softmax
from heedful.attention.shapes import Axis, check_mask, check_shape, shown
from heedful.errors import UserError


@dataclass(frozen=True)
class Recalled:
    """What a query became after all hops, and what each hop read and where."""

    answer: Tensor  # (B,H)
    contexts: Tensor  # (B,N,H)
    weights: Tensor  # (B,N,T)
    scores: Tensor  # (B,N,T); means nothing at masked memories


torch.export.register_dataclass(Recalled, serialized_type_name="heedful.attention.Recalled")


def recall(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor,
    *,
    matrices: Tensor,
    score: Callable[[Tensor, Tensor], Tensor] = dot_scores,
    normalise: Normaliser = masked_softmax,
) -> Recalled:
    """Address keys (B,T,H) by a query (B,H), read values (B,T,H), once for each of the matrices (N,H,H)."""
    check_memory("recall", query, keys, values, mask=mask, width="H")
    check_shape("recall", "matrices", tensor=matrices, expected=("N", query.shape[-1], query.shape[-1]))
    if len(matrices) < 1:
        raise UserError(f"recall needs a matrix for each hop, but {shown(matrices.shape)} came.")
    hops = []
    for matrix in matrices:
        hop = attend(query, keys, values, mask, score=score, normalise=normalise)
        query = (query + hop.context) @ matrix.mT
        hops.append(hop)
    return Recalled(query, *_stacked(hops))


def recall_adjacent(
    query: Tensor,
    memories: Sequence[Tensor],
    mask: Tensor,
    *,
    score: Callable[[Tensor, Tensor], Tensor] = dot_scores,
    normalise: Normaliser = masked_softmax,
) -> Recalled:
    """Sukhbaatar et al.'s adjacent hops: hop n has memories[n] as keys and memories[n + 1] as values.

    N + 1 memories (B,T,H) make N hops; each asks with q + c of the one before.
    """
    if len(memories) < 2:
        raise UserError(f"recall_adjacent needs two memories for one hop, but {len(memories)} came.")
    hops = []
    for keys, values in itertools.pairwise(memories):
        check_memory("recall_adjacent", query, keys, values, mask=mask, width="H")
        hop = attend(query, keys, values, mask, score=score, normalise=normalise)
        query = query + hop.context
        hops.append(hop)
    return Recalled(query, *_stacked(hops))


def _stacked(hops: Sequence[Attended]) -> tuple[Tensor, Tensor, Tensor]:
    """Contexts, weights and scores of all hops, each (B,N,·)."""
    return (
        torch.stack([hop.context for hop in hops], 1),
        torch.stack([hop.weights for hop in hops], 1),
        torch.stack([hop.scores for hop in hops], 1),
    )


class MemoryHops(nn.Module):
    """A memory that is read several times, each hop with its own learned matrix between it and the next."""

    def __init__(
        self,
        width: int,
        *,
        hops: int = 3,
        score: Callable[[Tensor, Tensor], Tensor] = dot_scores,
        normalise: Normaliser = masked_softmax,
        init: Init = normal_init,
    ) -> None:
        super().__init__()
        if hops < 1:
            raise UserError(f"MemoryHops needs at least one hop, but {hops} came.")
        self.width, self.hops, self.score, self.normalise = width, hops, score, normalise
        self.matrices = nn.Parameter(torch.stack([new_weight(width, width, init=init) for _ in range(hops)]))

    def forward(self, keys: Tensor, mask: Tensor, *, query: Tensor, values: Tensor | None = None) -> Recalled:
        """Ask a memory of keys (B,T,H) and values (B,T,H), by default the keys, with a query (B,H)."""
        values = keys if values is None else values
        check_memory("MemoryHops", query, keys, values, mask=mask, width=self.width)
        settings = {"score": self.score, "normalise": self.normalise}
        return recall(query, keys, values, mask, matrices=self.matrices, **settings)

    def extra_repr(self) -> str:
        return f"{self.width}, hops={self.hops}"


def check_memory(
    where: str, query: Tensor, keys: Tensor, values: Tensor, *, mask: Tensor, width: Axis
) -> None:
    check_shape(where, "keys", tensor=keys, expected=("B", "T", width))
    check_shape(where, "a query", tensor=query, expected=(keys.shape[0], keys.shape[2]))
    check_shape(where, "a mask", tensor=mask, expected=keys.shape[:2])
    check_mask(where, mask)
    check_shape(where, "values", tensor=values, expected=keys.shape)
