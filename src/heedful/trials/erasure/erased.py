"""The decision function without some items: logits of any erasure, in closed form where the head is linear.

Axes: P variants of each instance, B instances, N items, K classes (2 for one score, which is read as the
logits (0, s)).
"""

import numpy as np
import torch
from torch import Tensor

from heedful.models.trace import Trace, decisions
from heedful.trials.compiled import kernel
from heedful.trials.erasure.forwards import (
    BUDGET,
    check_head,
    check_runs,
    row_chunks,
    two_sided,
    variant_bytes,
)
from heedful.trials.erasure.linear_votes import (
    Bools,
    Floats,
    Votes,
    added,
    bias_of,
    chunks,
    in_numpy,
    token_logits,
)


def decided(trace: Trace) -> Tensor:
    """The decided class (B,) with nothing erased, the first of equals."""
    if trace.linear is None:
        return decisions(whole_logits(trace))
    return torch.from_numpy(np.concatenate([votes.decided for _, votes in chunks(trace)])).to(
        trace.weights.device
    )


def whole_logits(trace: Trace) -> Tensor:
    """The logits (B,K) with nothing erased: in double precision for a linear head over one row of weights."""
    if trace.linear is None:
        check_head(trace)
        with torch.no_grad():
            return two_sided(trace.logits())
    parts = [votes.logits(votes.total, votes.mass.sum(1) + votes.kept_mass) for _, votes in chunks(trace)]
    return torch.from_numpy(np.concatenate(parts)).to(trace.weights.device)


def logits_without(trace: Trace, erased: Tensor, *, budget: int = BUDGET) -> Tensor:
    """The logits (P,B,K) without the items where `erased` (P,B,N) is true."""
    if trace.linear is None:
        check_head(trace)
        at_once = max(1, budget // variant_bytes(trace))
        with torch.no_grad():
            return torch.cat([two_sided(trace.logits(trace.erase(part))) for part in erased.split(at_once)])
    gone = in_numpy(erased)
    parts = [
        np.stack([_without(votes, variant) for variant in gone[:, rows]]) for rows, votes in chunks(trace)
    ]
    return torch.from_numpy(np.concatenate(parts, axis=1)).to(trace.weights.device)


def leave_one_out(trace: Trace, *, erased: Tensor | None = None, budget: int = BUDGET) -> Tensor:
    """The logits (B,N,K) without each single item (and without those already `erased` (B,N)).

    An item that an instance does not have, or that is erased already, takes nothing away.

    Example: `heedful.leave_one_out(trace).argmax(-1)`
    """
    if trace.linear is None:
        check_runs(trace)
        gone = torch.zeros_like(trace.present) if erased is None else erased
        return torch.cat(
            [_each_run(part, gone[rows], budget) for rows, part in row_chunks(trace, budget=budget)]
        )
    compiled = compiled_leave_one_out(trace) if erased is None else None
    if compiled is not None:
        return compiled
    away = None if erased is None else in_numpy(erased)
    parts = [_each_out(votes, None if away is None else away[rows]) for rows, votes in chunks(trace)]
    return torch.from_numpy(np.concatenate(parts)).to(trace.weights.device)


def compiled_leave_one_out(trace: Trace) -> Tensor | None:
    """The same in one compiled loop; None without numba, for a small trace, and for other items."""
    bias = bias_of(trace)
    loops = kernel(trace.weights.numel() * len(bias))
    if loops is None or not trace.slots_are_items:
        return None
    without = np.empty((*trace.present.shape, len(bias)))
    weights, logits = (in_numpy(tensor.contiguous()) for tensor in (trace.weights, token_logits(trace)))
    loops.each_out(weights, logits, bias, without)
    return torch.from_numpy(without).to(trace.weights.device)


def _without(votes: Votes, gone: Bools) -> Floats:
    left = added(votes.votes * ~gone[..., None]) + votes.kept_votes
    return votes.logits(left, np.where(gone, 0, votes.mass).sum(1) + votes.kept_mass)


def _each_out(votes: Votes, gone: Bools | None) -> Floats:
    # What comes before plus what comes after: the total minus one item would lose digits where that item has
    # nearly all.
    cast, mass = votes.votes, votes.mass
    if gone is not None:
        cast, mass = cast * ~gone[..., None], mass * ~gone
    left, mass = _others(cast), _others(mass)
    left += votes.kept_votes[:, None]
    return votes.logits(left, mass + votes.kept_mass[:, None])


def _others(terms: Floats) -> Floats:
    """The sum over axis 1 of all other terms."""
    others = np.zeros_like(terms)
    np.add.accumulate(terms[:, :-1], axis=1, out=others[:, 1:])
    others[:, :-1] += np.add.accumulate(terms[:, :0:-1], axis=1)[:, ::-1]
    return others


def _each_run(trace: Trace, gone: Tensor, budget: int) -> Tensor:
    items = torch.arange(gone.shape[1], device=gone.device)
    at_once = max(1, budget // variant_bytes(trace))
    parts = [
        logits_without(trace, gone | (some[:, None, None] == items), budget=budget)
        for some in items.split(at_once)
    ]
    return torch.cat(parts).transpose(0, 1)  # (B,N,K)
