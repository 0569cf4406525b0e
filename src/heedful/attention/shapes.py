"""Shape checks that say what was needed, what came, and where.

They read shapes and dtypes only, never values, so they cost nothing and `torch.export` sees through them.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from heedful.errors import UserError

Axis = int | str


def check_shape(where: str, what: str, *, tensor: Tensor, expected: Sequence[Axis]) -> None:
    """Refuse a tensor of another shape; an axis given by its letter may have any length."""
    fits = tensor.dim() == len(expected) and all(
        isinstance(needed, str) or needed == length
        for needed, length in zip(expected, tensor.shape, strict=True)
    )
    if not fits:
        raise UserError(f"{where} needs {what} of shape {shown(expected)}, but {shown(tensor.shape)} came.")


def check_mask(where: str, mask: Tensor) -> None:
    """Refuse a mask that is not boolean: `~` on the integers 0 and 1 would be silently wrong."""
    if mask.dtype != torch.bool:
        raise UserError(
            f"{where} needs a boolean mask, true on real tokens, but {mask.dtype} came: use mask.bool()."
        )


def check_ranks(where: str, *, queries: Tensor, keys: Tensor) -> None:
    """Refuse queries that are neither one vector, nor one nor several for each row of keys."""
    rank = keys.dim()
    leading = queries.shape[: rank - 2] if queries.dim() > 1 else ()
    fits = rank >= 2 and queries.dim() in (1, rank - 1, rank)
    if not fits or not all(
        q == k or q == 1 or k == 1 for q, k in zip(leading, keys.shape[: len(leading)], strict=True)
    ):
        raise UserError(
            f"{where} needs keys (..., T, H) with queries (H), (..., H) or (..., Q, H), "
            f"but keys {shown(keys.shape)} with queries {shown(queries.shape)} came."
        )


def check_pair(where: str, *, queries: Tensor, keys: Tensor) -> None:
    """As `check_ranks`, and both of the same width."""
    check_ranks(where, queries=queries, keys=keys)
    if queries.shape[-1] != keys.shape[-1]:
        raise UserError(
            f"{where} needs queries and keys of one width, "
            f"but queries {shown(queries.shape)} and keys {shown(keys.shape)} came."
        )


def pick_query(
    where: str, query: Tensor | None, *, context: Tensor | None, width: int | None, batch: int
) -> Tensor:
    """Return the given query, or the learned context of a mechanism that has one and was given no query."""
    check_query(where, query=query, width=width, batch=batch)
    chosen = context if query is None else query
    assert chosen is not None  # a mechanism with no width of queries has a context
    return chosen


def check_query(where: str, *, query: Tensor | None, width: int | None, batch: int) -> None:
    """A mechanism built for queries of some width must be given them; one with a learned context must not."""
    if width is None:
        if query is not None:
            raise UserError(
                f"{where} has a learned context and takes no query, but one of {shown(query.shape)} came: "
                f"build it with query={query.shape[-1]}."
            )
        return
    if query is None:
        raise UserError(f"{where} was built for queries of width {width}, but none came: pass query=.")
    axes: tuple[Axis, ...] = (batch, "Q", width) if query.dim() == 3 else (batch, width)
    check_shape(where, "a query", tensor=query, expected=axes)


def checked_scale(where: str, scale: float) -> float:
    """Return the scale λ if scores can be divided by it."""
    if not (math.isfinite(scale) and scale > 0):
        raise UserError(f"{where} needs a scale above 0 and finite, but {scale} came.")
    return float(scale)


def shown(shape: Sequence[Axis]) -> str:
    return f"({', '.join(str(axis) for axis in shape)})"
