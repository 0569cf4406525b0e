"""Small sets found by searching, where no closed form is exact: upper bounds, and called so.

A beam search for decision flips of any head, and a greedy search for a set that moves the output by a
threshold, which looks beyond the argmax (Serrano & Smith, section 6). Either finds a set that does it; a
smaller one may exist.

Axes: W sets in the beam, B instances, N items, K classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from heedful.errors import UserError, choose_from
from heedful.models.trace import Trace, decisions, probabilities
from heedful.trials.erasure.erased import decided, leave_one_out, logits_without, whole_logits
from heedful.trials.erasure.flips import SmallSets, flip_sizes, split_rows
from heedful.trials.erasure.forwards import BUDGET
from heedful.trials.rankings.layer_rankings import order_of
from heedful.trials.weights.divergence import DIVERGENCES

MOST_WORK = 2**29  # W × N² of one step of the beam: about two minutes an instance


@dataclass(frozen=True, eq=False)
class Shifts(SmallSets):
    """Small sets that move the output distribution by a threshold."""

    moved: Tensor  # (B,) how far the output has moved: where no set was found, as far as the search came


def beam_flips(
    trace: Trace,
    *,
    width: int = 8,
    depth: int = 8,
    rankings: Sequence[str] = ("attention", "gradient", "product"),
    seed: int = 0,
    budget: int = BUDGET,
) -> SmallSets:
    """For every instance a small set whose erasure changes the decision: an upper bound, for any head.

    The prefixes of these rankings are tried first; then all sets that a beam of `width` reaches with at most
    `depth` items, as long as they could be smaller. The beam keeps the sets that leave the decided class the
    least lead.
    """
    if width < 1 or depth < 1:
        raise UserError(
            f"A beam search needs a width and a depth of at least 1, and got {width} and {depth}."
        )
    items = int(trace.item_counts.max()) if len(trace) else 0
    if width * items**2 > MOST_WORK:
        raise UserError(
            f"A beam of {width} sets over {items:,} items would take minutes and gigabytes an instance: ask "
            f"for a width of at most {MOST_WORK // items**2}, or for flip_sizes of one ranking."
            if items**2 <= MOST_WORK
            else f"A beam search over {items:,} items would take minutes and gigabytes an instance: ask for "
            "flip_sizes of one ranking."
        )
    best = torch.zeros_like(trace.present)
    sizes = torch.full_like(trace.item_counts, -1)
    for name in rankings:
        order = order_of(name, trace, seed=seed)
        found = flip_sizes(trace, order, budget=budget)
        better = (found > 0) & ((sizes < 0) | (found < sizes))
        sizes = found.where(better, sizes)
        places = torch.empty_like(order).scatter_(
            1, order, torch.arange(order.shape[1], device=order.device).expand_as(order)
        )
        best = torch.where(better[:, None], (places < sizes[:, None]) & trace.present, best)
    smaller = torch.where(sizes > 0, sizes - 1, depth).clamp(max=depth)
    numbers = torch.arange(len(trace), device=sizes.device)
    for some in numbers.split(max(1, budget // (width * max(1, items) * max(1, best.shape[1])))):
        part = trace.take(some)
        for place, taken in _beams(part, width, smaller[some], budget).items():
            row = int(some[place])
            best[row] = False
            best[row, : len(taken)] = taken
            sizes[row] = int(taken.sum())
    to_class = decisions(logits_without(trace, best[None], budget=budget)[0]).where(sizes > 0, -1)
    return SmallSets(sizes, split_rows(best), to_class, "upper bound")


def small_shifts(trace: Trace, threshold: float, *, measure: str = "js", budget: int = BUDGET) -> Shifts:
    """For every instance a small set whose erasure moves the output by at least a threshold: an upper bound.

    Greedy: at each step the item goes that moves the output furthest. `measure` is "js" (nats) or "tvd".
    `to_class` is what decides without the set: often the same class as before.
    """
    distance = DIVERGENCES[choose_from("measure", measure, DIVERGENCES)]
    if threshold <= 0:
        raise UserError(f"A shift needs a threshold above 0, and got {threshold}.")
    before = probabilities(whole_logits(trace))
    gone = torch.zeros_like(trace.present)
    moved = before.new_zeros(len(trace))
    waiting = torch.arange(len(trace), device=gone.device)
    while len(waiting):
        part = trace if len(waiting) == len(trace) else trace.take(waiting)
        count = part.present.shape[1]
        without = probabilities(leave_one_out(part, erased=gone[waiting, :count], budget=budget))  # (B,N,K)
        far = distance(before[waiting][:, None], without).masked_fill(
            ~part.present | gone[waiting, :count], -1
        )
        far, item = far.max(1)
        gone[waiting, item], moved[waiting] = True, far
        left = (part.item_counts > gone[waiting].sum(1)) & (far < threshold)
        waiting = waiting[left]
    reached = moved >= threshold
    taken = gone & reached[:, None]
    to_class = decisions(logits_without(trace, taken[None], budget=budget)[0]).where(reached, -1)
    return Shifts(gone.sum(1).where(reached, -1), split_rows(taken), to_class, "upper bound", moved)


def _beams(trace: Trace, width: int, most: Tensor, budget: int) -> dict[int, Tensor]:
    """Sets (N,) of at most `most` (B,) items that flip the decision, by instance, where one is found.

    The beams of all instances grow together, so that the head runs once a step.
    """
    winners, present = decided(trace), trace.present
    left = torch.minimum(most, trace.item_counts).tolist()
    beams = {row: torch.zeros_like(present[:1]) for row in range(len(trace)) if left[row] > 0}
    found: dict[int, Tensor] = {}
    step = 0
    while beams:
        step += 1
        sets = {row: _grown(beam, present[row]) for row, beam in beams.items()}
        longest = max(map(len, sets.values()))
        erased = present.new_zeros(longest, len(sets), present.shape[1])
        for place, own in enumerate(sets.values()):
            erased[: len(own), place] = own
        part = trace.take(torch.tensor(list(sets), device=present.device))
        logits = logits_without(part, erased, budget=budget)
        beams = {}
        for place, (row, own) in enumerate(sets.items()):
            said = logits[: len(own), place]
            flipped = decisions(said) != winners[row]
            if flipped.any():
                found[row] = own[flipped.long().argmax()]
            elif step < left[row]:
                others = said.clone()
                others[:, winners[row]] = -torch.inf
                lead = said[:, winners[row]] - others.max(1).values
                beams[row] = own[lead.topk(min(width, len(own)), largest=False).indices]
    return found


def _grown(sets: Tensor, present: Tensor) -> Tensor:
    """These sets (W,N), each with any one item more."""
    grown = sets[:, None] | torch.diag(present)[present]  # (W,n,N)
    different: Tensor = grown[grown.sum(2) > sets.sum(1)[:, None]].unique(dim=0)
    return different
