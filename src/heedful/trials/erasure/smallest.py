"""The exact smallest set of items whose erasure changes the decision: for a linear head, one row of weights.

Serrano & Smith (2019, section 5.1) call this gold standard computationally prohibitive; with their own linear
head it is a sort. A rival k decides before the decided class c once the margin Σ_{i∉S} m_i, m_i = vote_ic −
vote_ik, is below 0 (or 0, if k comes first). The margin is additive, so taking away the largest m_i first
leaves the least for every size; and the smallest of these sets over all rivals is the smallest there is.
Items without weight change nothing and are never taken; taking all items that have weight leaves the zero
vector, whose decision is that of the bias.

Sums are in double precision; two sums that differ by less than its rounding (about 1e-16 of their terms) may
fall either way.

Axes: B instances, N items, K classes, R rivals looked at.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from heedful.errors import UserError
from heedful.models.trace import Trace
from heedful.trials.compiled import kernel
from heedful.trials.erasure.flips import SmallSets, split_rows
from heedful.trials.erasure.linear_votes import (
    Bools,
    Floats,
    Longs,
    Votes,
    added,
    bias_of,
    chunks,
    in_numpy,
    token_logits,
)
from heedful.trials.erasure.search import beam_flips

_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Overtakes(SmallSets):
    """Smallest sets after which a chosen rival stands before the decided class."""

    leads: Tensor  # (B,) whether the rival then stands before all other classes too, which is not implied


def smallest_flips(trace: Trace) -> SmallSets:
    """For every instance the smallest set whose erasure changes the decision: exact, in O(K N log N).

    That is for a linear head over one row of weights. For any other trace nothing exact is known: it gets
    what `beam_flips` finds with its usual settings, and its `kind` says that this is an upper bound.

    Of several smallest sets it is one for the class that came second if it has one, else for the first class
    that has; and of equal items the first.

    Example: `heedful.smallest_flips(trace).to_frame()`
    """
    if trace.linear is None:
        return beam_flips(trace)
    found = compiled_smallest(trace)
    return SmallSets(
        *_joined([_flips(votes) for _, votes in chunks(trace)] if found is None else [found]), "exact"
    )


def smallest_overtakes(trace: Trace, rival: int | Tensor) -> Overtakes:
    """For every instance the smallest set after which the class `rival`, or one of (B,), beats the decided.

    Exact. Where the rival is the decided class the set is empty. `to_class` is what then decides: often, but
    not always, the rival.
    """
    if trace.linear is None:
        raise UserError(
            "The smallest sets for a chosen rival need a linear head over one row of weights, which this "
            "trace does not have: smallest_flips gives an upper bound for the first class that takes over."
        )
    rivals = _rivals(trace, rival)
    found = [_overtakes(votes, rivals[rows].numpy()) for rows, votes in chunks(trace)]
    sizes, items, to_class = _joined(found)
    return Overtakes(sizes, items, to_class, "exact", (to_class == rivals) & (sizes >= 0))


def compiled_smallest(trace: Trace) -> "Found | None":
    """The same in one compiled loop; None without numba, for a small trace, and for other items."""
    bias = bias_of(trace)
    loops = kernel(trace.weights.numel() * len(bias))
    if loops is None or not trace.slots_are_items:
        return None
    sizes, to_class = np.empty((2, len(trace)), dtype=np.int64)
    taken = np.zeros(trace.weights.shape, dtype=np.bool_)
    weights, logits = (in_numpy(tensor.contiguous()) for tensor in (trace.weights, token_logits(trace)))
    loops.smallest(weights, logits, bias, sizes, taken, to_class)
    return sizes, taken, to_class


Found = tuple[Longs, Bools, Longs]  # sizes (B,), taken (B,N), to_class (B,)


def _joined(found: list[Found]) -> tuple[Tensor, tuple[Tensor, ...], Tensor]:
    sizes, taken, to_class = (torch.from_numpy(np.concatenate(parts)) for parts in zip(*found, strict=True))
    return sizes, split_rows(taken), to_class


def _flips(votes: Votes) -> Found:
    if votes.mass.shape[1] == 0:
        return _no_sets(votes)
    classes = np.arange(len(votes.bias))
    least, last = _least(
        votes, votes.votes.transpose(0, 2, 1), votes.kept_votes, classes < votes.decided[:, None]
    )
    rows, others = np.arange(len(least)), votes.total.copy()
    least[rows, votes.decided], others[rows, votes.decided] = _NEVER, -np.inf
    rival, second = least.argmin(1), others.argmax(1)
    rival = np.where(least[rows, second] == least[rows, rival], second, rival)
    zero = votes.decided != votes.unattended
    sizes, taken = _taken(votes, rival, least[rows, rival], last[rows, rival], zero)
    left, mass = _left(votes, taken)
    left[rows, votes.decided] = -np.inf  # it is beaten: the class that decides is another one
    return sizes, taken, np.where(sizes < 0, -1, votes.winner(left, mass))


def _overtakes(votes: Votes, rivals: Longs) -> Found:
    if votes.mass.shape[1] == 0:
        return _no_sets(votes)
    rows, first = np.arange(len(rivals)), rivals < votes.decided
    cast = votes.votes[rows, :, rivals][:, None]  # (B,1,N)
    least, last = _least(votes, cast, votes.kept_votes[rows, rivals][:, None], first[:, None])
    own, other = votes.bias[votes.decided], votes.bias[rivals]
    sizes, taken = _taken(votes, rivals, least[:, 0], last[:, 0], (other > own) | ((other == own) & first))
    same = rivals == votes.decided
    sizes, taken = np.where(same, 0, sizes), taken & ~same[:, None]
    return sizes, taken, np.where(sizes < 0, -1, votes.winner(*_left(votes, taken)))


def _least(votes: Votes, rivals: Floats, kept: Floats, first: Bools) -> tuple[Longs, Floats]:
    """How many items (B,R) must go before rivals with votes (B,R,N) win, and the margin of the last to go.

    `kept` (B,R) are the rivals' votes that stay; a rival that comes first (B,R) wins a tie.
    """
    rows = np.arange(len(votes.votes))
    attended = votes.mass > 0
    own = votes.votes[rows, :, votes.decided] + np.where(
        attended, 0, np.inf
    )  # (B,N) without weight comes last
    margins = np.subtract(own[:, None], rivals, order="C")
    margins.sort(-1)
    kept = votes.kept_votes[rows, votes.decided][:, None] - kept
    count = attended.sum(1)[:, None]
    # left[..., j] is the margin while the j + 1 smallest stay; it falls, then rises.
    left = margins.cumsum(-1)
    left += kept[..., None]
    bound = np.where(first, np.nextafter(0.0, 1.0), 0.0)  # below the least positive number is 0 or less
    low = left < bound[..., None]
    low &= np.arange(left.shape[-1]) < count[..., None] - 1  # at least one goes
    stay = np.where(low.any(-1), low.shape[-1] - low[..., ::-1].argmax(-1), 0)
    # With none left at all the margin decides only over what is never erased; without that, the zero vector
    # does.
    won = (stay > 0) | ((kept < bound) & (votes.kept_mass > 0)[:, None] & (count > 0))
    least = np.where(won, count - stay, _NEVER)
    return least, np.take_along_axis(margins, np.minimum(stay, margins.shape[-1] - 1)[..., None], -1)[..., 0]


def _taken(votes: Votes, rival: Longs, least: Longs, last: Floats, zero: Bools) -> tuple[Longs, Bools]:
    """The sizes (B,) of the smallest sets, and the sets (B,N): the largest margins, or all that have weight.

    `zero` says where the zero vector would do, which takes everything that has weight.
    """
    rows, attended = np.arange(len(rival)), votes.mass > 0
    margins = votes.votes[rows, :, votes.decided] - votes.votes[rows, :, rival]
    above, level = (margins > last[:, None]) & attended, (margins == last[:, None]) & attended
    # Of equal margins the first items go.
    taken = above | (level & (level.cumsum(1) <= (least - above.sum(1))[:, None]))
    everything = attended.sum(1)
    zero = zero & (votes.kept_mass == 0) & (everything < least)
    taken[zero] = attended[zero]
    sizes = np.where(zero, everything, least)
    taken[sizes == _NEVER] = False
    return np.where(sizes == _NEVER, -1, sizes), taken


def _left(votes: Votes, taken: Bools) -> tuple[Floats, Floats]:
    """The votes (B,K) and the mass (B,) without the items where taken (B,N) is true."""
    left = added(votes.votes * ~taken[..., None]) + votes.kept_votes
    return left, np.where(taken, 0, votes.mass).sum(1) + votes.kept_mass


def _no_sets(votes: Votes) -> Found:
    """Where there is no item that could be erased."""
    never = np.full(len(votes.mass), -1)
    return never, votes.mass > 0, never


def _rivals(trace: Trace, rival: int | Tensor) -> Tensor:
    """The rival of each instance (B,), refused where it is no class of the head."""
    rivals, classes = torch.as_tensor(rival).cpu(), len(bias_of(trace))
    if rivals.dtype not in (torch.int64, torch.int32) or rivals.shape not in ((), (len(trace),)):
        raise UserError(
            f"A rival is a class number, or one for each of the {len(trace)} instances, "
            f"but {rivals.dtype} {tuple(rivals.shape)} came."
        )
    rivals = rivals.long().expand(len(trace))
    wrong = (rivals < 0) | (rivals >= classes)
    if wrong.any():
        row = int(wrong.nonzero()[0])
        raise UserError(
            f"Row {row} has the rival {int(rivals[row])}, "
            f"but the classes of this head are 0 to {classes - 1}."
        )
    return rivals
