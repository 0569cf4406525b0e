"""How many items must go, in the order of a ranking, before the decision flips (Serrano & Smith, 2019, 5.1).

A linear head over one row of weights takes the closed form: the votes in the order of the ranking, summed
from the far end, give the decision after every prefix at once. (Subtracting prefix sums from the total would
lose digits where little is left.) Any other head is run again for every prefix. Both ways count an erasure of
everything, by the zero vector.

Axes: P prefixes, B instances, N items, K classes.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from heedful.errors import UserError
from heedful.models.trace import Trace, as_tensor, decisions
from heedful.trials.compiled import kernel
from heedful.trials.erasure.forwards import BUDGET, check_head, check_runs, row_chunks, variant_bytes
from heedful.trials.erasure.linear_votes import (
    Bools,
    Floats,
    Longs,
    Votes,
    bias_of,
    chunks,
    in_numpy,
    token_logits,
)
from heedful.trials.to_frames import Framed


@dataclass(frozen=True, eq=False)
class SmallSets(Framed):
    """For each instance a set of items whose erasure changes the outcome, and what it changes it to."""

    sizes: Tensor  # (B,) −1 where no set does
    items: tuple[Tensor, ...]  # the item numbers of each set, ascending
    to_class: Tensor  # (B,) the class that decides without them, −1 where no set does
    kind: Literal["exact", "upper bound"]

    @property
    def exact(self) -> bool:
        """Whether no smaller set exists; false for what a search found, which is an upper bound."""
        return self.kind == "exact"

    def __len__(self) -> int:
        return len(self.sizes)


def split_rows(taken: Tensor) -> tuple[Tensor, ...]:
    """The columns where taken (B,N) is true, one index tensor a row."""
    rows: tuple[Tensor, ...] = taken.nonzero()[:, 1].split(taken.sum(1).tolist())
    return rows


def flip_sizes(trace: Trace, order: ArrayLike | Tensor, *, budget: int = BUDGET) -> Tensor:
    """The number (B,) of items erased when the decision first flips, −1 where it never does.

    `order` has item numbers, most important first; in each row the entries after its items are not read.
    `budget` is the work space in bytes of a head that is not linear.
    """
    order = as_tensor("The order of items", order)
    if trace.linear is None:
        return stepwise_flips(trace, order, budget=budget)
    sizes = compiled_flips(trace, order)
    return suffix_flips(trace, order) if sizes is None else sizes


def compiled_flips(trace: Trace, order: Tensor) -> Tensor | None:
    """The closed form in one compiled loop; None without numba, for a small trace, and for other items."""
    bias = bias_of(trace)
    loops = kernel(trace.weights.numel() * len(bias))
    if loops is None or not trace.slots_are_items:
        return None
    _check_shape(order, trace)
    sizes = np.empty(len(trace), dtype=np.int64)
    tensors = (trace.weights, token_logits(trace), order, trace.mask)
    weights, logits, order_, present = (in_numpy(tensor.contiguous()) for tensor in tensors)
    loops.first_flips(weights, logits, bias, order_, present, sizes)
    _refuse_wrong(sizes == -2)
    return torch.from_numpy(sizes).to(order.device)


def suffix_flips(trace: Trace, order: Tensor) -> Tensor:
    """The closed form in NumPy: for every linear head over one row of weights, whatever its items."""
    if trace.present.shape[1] == 0:
        return _never(trace)
    ranks, counts = in_numpy(check_order(order, trace)), in_numpy(trace.item_counts)
    sizes = [_first(_lost(votes, ranks[rows]), counts[rows]) for rows, votes in chunks(trace)]
    return torch.from_numpy(np.concatenate(sizes)).to(order.device)


def stepwise_flips(trace: Trace, order: Tensor, *, budget: int = BUDGET) -> Tensor:
    """The head run again for every prefix, many at a time, on the instances that have not flipped yet."""
    check_head(trace)
    check_runs(trace)
    if trace.present.shape[1] == 0:
        return _never(trace)
    order = check_order(order, trace)
    places = torch.arange(order.shape[1], device=order.device).expand_as(order)
    rank = order.new_zeros(trace.present.shape).scatter_(1, order, places)  # (B,N) the place of each item
    with torch.no_grad():
        return torch.cat(
            [_stepwise(part, rank[rows], budget) for rows, part in row_chunks(trace, budget=budget)]
        )


def near_ties(trace: Trace, order: ArrayLike | Tensor, *, relative: float | None = None) -> Tensor:
    """Where (B,) rounding may have decided: at first or up to the flip a rival came near the decided class.

    Near is within `relative` of the votes left for the two classes, without their signs. `relative` is a
    hundred roundings of the trace's precision by default. For a linear head over one row of weights.
    """
    order = as_tensor("The order of items", order)
    if trace.linear is None:
        raise UserError("Near-ties need a linear head over one row of weights; this trace has another head.")
    if not len(trace):
        return torch.zeros(0, dtype=torch.bool, device=order.device)
    relative = 100 * torch.finfo(trace.weights.dtype).eps if relative is None else relative
    ranks, counts = in_numpy(check_order(order, trace)), in_numpy(trace.item_counts)
    near = [_near(votes, ranks[rows], counts[rows], relative) for rows, votes in chunks(trace)]
    return torch.from_numpy(np.concatenate(near)).to(order.device)


def check_order(order: Tensor, trace: Trace) -> Tensor:
    """The order (B,N) of all items of each instance; refused, naming the row, where it is anything else.

    Entries after the items of an instance now point at an item that it does not have, whose erasure changes
    nothing.
    """
    _check_shape(order, trace)
    count = trace.present.shape[1]
    order = order[:, :count].to(trace.weights.device)
    read = torch.arange(order.shape[1], device=order.device) < trace.item_counts[:, None]
    order = order.where(read, trace.present.long().argmin(1)[:, None])
    known = (order >= 0) & (order < count)
    seen = torch.zeros_like(trace.present).scatter_(1, order.clamp(0, count - 1), True)
    _refuse_wrong(in_numpy(~known.all(1) | (trace.present & ~seen).any(1)))
    return order


def _check_shape(order: Tensor, trace: Trace) -> None:
    if order.dim() != 2 or len(order) != len(trace) or order.dtype != torch.long:
        raise UserError(
            f"An order of this trace needs long item numbers {tuple(trace.present.shape)}, "
            f"the most important first, but is {order.dtype} {tuple(order.shape)}."
        )


def _never(trace: Trace) -> Tensor:
    """The sizes of a trace without any item that could be erased."""
    return torch.full((len(trace),), -1, device=trace.weights.device)


def _refuse_wrong(wrong: Bools) -> None:
    if wrong.any():
        raise UserError(
            f"Row {int(wrong.argmax())} of the order does not name each item of its instance once."
        )


def _left(votes: Votes, order: Longs) -> tuple[Floats, Floats]:
    """The votes (B,N,K) and the mass (B,N) left when 1 … N items are gone."""
    rows = np.arange(len(order))[:, None] * votes.votes.shape[1]
    ranked = votes.votes.reshape(-1, len(votes.bias)).take(order + rows, axis=0)  # whole rows, which is fast
    left = _after(ranked) + votes.kept_votes[:, None]
    return left, _after(np.take_along_axis(votes.mass, order, 1)) + votes.kept_mass[:, None]


def _after(ranked: Floats) -> Floats:
    """The sum over what comes after each place of axis 1, from the far end."""
    after = np.zeros_like(ranked)
    np.add.accumulate(ranked[:, :0:-1], axis=1, out=after[:, -2::-1])
    return after


def _lost(votes: Votes, order: Longs) -> Bools:
    """Whether another class decides (B,N) when 1 … N items are gone."""
    lost: Bools = votes.winner(*_left(votes, order)) != votes.decided[:, None]
    return lost


def _first(hits: Bools, counts: Longs) -> Longs:
    """One more than the first true column of hits (B,N), −1 without one; `counts` (B,) columns are read."""
    hits = hits & (np.arange(hits.shape[1]) < counts[:, None])
    return np.where(hits.any(1), hits.argmax(1) + 1, -1)


def _near(votes: Votes, order: Longs, counts: Longs, relative: float) -> Bools:
    sizes = _first(_lost(votes, order), counts)
    left, mass = _left(votes, order)
    unsigned = Votes(votes.mass, abs(votes.votes), votes.kept_mass, abs(votes.kept_votes), votes.bias)
    scale, decided = _left(unsigned, order)[0], votes.decided[:, None, None]
    gap, scale = (x - sign * np.take_along_axis(x, decided, 2) for x, sign in ((left, 1), (scale, -1)))
    close: Bools = (abs(gap) <= relative * scale) & (mass > 0)[..., None]
    np.put_along_axis(close, np.broadcast_to(decided, (*close.shape[:2], 1)), False, 2)
    later = _first(np.logical_or.reduce(close, axis=2), np.where(sizes < 0, counts, sizes)) > 0
    return later | _near_at_first(votes, unsigned, relative)


def _near_at_first(votes: Votes, unsigned: Votes, relative: float) -> Bools:
    """Whether (B,) a rival comes near the decided class before anything is gone."""
    decided = votes.decided[:, None]
    gap = votes.total - np.take_along_axis(votes.total, decided, 1)
    scale = unsigned.total + np.take_along_axis(unsigned.total, decided, 1)
    close: Bools = abs(gap) <= relative * scale
    np.put_along_axis(close, decided, False, 1)
    any_close: Bools = np.logical_or.reduce(close, axis=1)
    return any_close


def _stepwise(trace: Trace, rank: Tensor, budget: int) -> Tensor:
    decided, counts = decisions(trace.logits()), trace.item_counts
    sizes = torch.full_like(counts, -1)
    waiting = torch.arange(len(trace), device=rank.device)
    gone, steps = 1, 4
    while len(waiting):
        steps = min(2 * steps, max(1, budget // variant_bytes(trace)))
        numbers = torch.arange(gone, gone + steps, device=rank.device)
        logits = trace.logits(trace.erase(rank < numbers[:, None, None]))  # (P,B,K)
        hits = (decisions(logits) != decided) & (numbers[:, None] <= counts)
        found = hits.any(0)
        sizes[waiting[found]] = gone + hits[:, found].long().argmax(0)
        gone += steps
        stay = ~found & (counts >= gone)
        if not stay.all():
            waiting, rank, decided, counts = waiting[stay], rank[stay], decided[stay], counts[stay]
            trace = trace.take(stay)
    return sizes
