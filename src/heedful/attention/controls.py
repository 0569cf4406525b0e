"""Controls: what remains if attention is uniform, taken from elsewhere, or moved to the wrong tokens.

Uniform and frozen weights ask whether attention is needed (Wiegreffe & Pinter, 2019, §3.1). Shuffled weights
keep how concentrated attention is and lose where it looks. Axes: B instances, T tokens, Q queries.

As modules they stand where an `Attention` stands: forward(states, mask, query=, values=) -> Attended.
"""

import torch
from torch import Generator, Tensor, nn

from heedful.attention.attended import Attended, mask_like, weighted_sum
from heedful.attention.shapes import check_mask, check_shape
from heedful.errors import UserError


def uniform_weights(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """The same weight for every real token of a row: 1 / their number. Mask (..., T)."""
    check_mask("uniform_weights", mask)
    return mask.to(dtype) / mask.sum(-1, keepdim=True).clamp(min=1).to(dtype)


def frozen_weights(weights: Tensor, mask: Tensor) -> Tensor:
    """The given weights (..., T) or (..., Q, T) without gradient, 0 at masked tokens, not renormalised."""
    return weights.detach().masked_fill(~mask_like(weights, mask, where="frozen_weights"), 0)


def shuffled_weights(weights: Tensor, mask: Tensor, *, generator: Generator) -> Tensor:
    """Permute each row's weights among its real tokens, each permutation as likely. Mask as in `attend`."""
    real = mask_like(weights, mask, where="shuffled_weights").expand_as(weights)
    lots = torch.randint(
        torch.iinfo(torch.int64).max, weights.shape, generator=generator, device=generator.device
    )
    return permute_real(weights, real, lots=lots.to(weights.device))


class UniformAttention(nn.Module):
    """Every real token counts the same. Scores are 0; a query only says how many rows of weights to give."""

    def forward(
        self, states: Tensor, mask: Tensor, *, query: Tensor | None = None, values: Tensor | None = None
    ) -> Attended:
        """Average the values (B,T,·), by default the states (B,T,H), over real tokens."""
        check_shape("UniformAttention", "states", tensor=states, expected=("B", "T", "H"))
        check_shape("UniformAttention", "a mask", tensor=mask, expected=states.shape[:2])
        weights = uniform_weights(mask, states.dtype)
        if query is not None and query.dim() == 3:
            weights = weights.unsqueeze(1).repeat(1, query.shape[1], 1)
        context = weighted_sum(weights, states if values is None else values)
        return Attended(context, weights, torch.zeros_like(weights))


class FrozenAttention(nn.Module):
    """Weights from elsewhere, such as another run, given in place of the query: (B,T) or (B,Q,T)."""

    def forward(
        self, states: Tensor, mask: Tensor, *, query: Tensor | None = None, values: Tensor | None = None
    ) -> Attended:
        """Sum the values (B,T,·), by default the states (B,T,H), by the given weights, also its scores."""
        check_shape("FrozenAttention", "states", tensor=states, expected=("B", "T", "H"))
        check_shape("FrozenAttention", "a mask", tensor=mask, expected=states.shape[:2])
        if query is None:
            raise UserError(
                "FrozenAttention needs the weights to use, but none came: pass them, (B, T), as query=."
            )
        batch, length = mask.shape
        axes = (batch, length) if query.dim() == 2 else (batch, "Q", length)
        check_shape("FrozenAttention", "weights (as query=)", tensor=query, expected=axes)
        weights = frozen_weights(query.to(states.dtype), mask)
        return Attended(weighted_sum(weights, states if values is None else values), weights, weights)


class ShuffledAttention(nn.Module):
    """A mechanism whose weights (and scores) go to other real tokens of the same row.

    The permutation is drawn from the seed and the number of real tokens, and nothing else: texts of one
    length share it. So an instance gets the same weights alone, in any batch, with any padding, and after
    `torch.export`. Where independent shuffles are needed, as for an interval, call `shuffled_weights`.
    """

    def __init__(self, mechanism: nn.Module, *, seed: int = 0) -> None:
        super().__init__()
        self.mechanism, self.seed = mechanism, seed

    def forward(
        self, states: Tensor, mask: Tensor, *, query: Tensor | None = None, values: Tensor | None = None
    ) -> Attended:
        """Attend as the mechanism does, then sum the values by its weights in another order."""
        attended = self.mechanism(states, mask, query=query, values=values)
        real = mask_like(attended.weights, mask, where="ShuffledAttention").expand_as(attended.weights)
        lots = lots_by_length(real, self.seed)
        weights = permute_real(attended.weights, real, lots=lots)
        scores = permute_real(attended.scores, real, lots=lots)
        return Attended(weighted_sum(weights, states if values is None else values), weights, scores)

    def extra_repr(self) -> str:
        return f"seed={self.seed}"


def permute_real(rows: Tensor, real: Tensor, *, lots: Tensor) -> Tensor:
    """Move entries among the real places of each row (..., T), into the order of their lots."""
    last = torch.iinfo(torch.int64).max
    places = real.logical_not().long().argsort(dim=-1, stable=True)
    order = lots.masked_fill(~real, last).argsort(dim=-1, stable=True)
    return rows.scatter(-1, places, rows.gather(-1, order))


def lots_by_length(real: Tensor, seed: int) -> Tensor:
    """A lot for a place (..., T), from the seed, the row's count of real tokens and its rank."""
    row = mixed(real.sum(-1, keepdim=True) + mixed(torch.tensor(seed, device=real.device)))
    return mixed(row + real.long().cumsum(-1))


def mixed(numbers: Tensor) -> Tensor:
    """Scatter 64-bit integers one to one, as SplitMix64 ends (Steele et al., 2014); overflow wraps."""
    numbers = (numbers ^ (numbers >> 30 & (1 << 34) - 1)) * -0x40A7B892E31B1A47
    numbers = (numbers ^ (numbers >> 27 & (1 << 37) - 1)) * -0x6B2FB644ECCEEE15
    return numbers ^ (numbers >> 31 & (1 << 33) - 1)
