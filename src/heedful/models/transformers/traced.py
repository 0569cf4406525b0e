"""The `Trace` of a network's last layer, for texts of any lengths together.

A piece that belongs to several words has a slot for each, with an equal share of its weight, so erasing one
word takes its share. Where a family's weights add up to less than 1 (attention sinks), a slot that is never
erased and whose value is 0 has the rest.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from heedful.models.trace import Trace
from heedful.models.transformers.last_layer import PIECES, LastLayer, Seen
from heedful.models.transformers.pieces import Group
from heedful.models.transformers.remembered import Remembered

if TYPE_CHECKING:
    from heedful.models.transformers.any_layer import AnyLayer

SUNK = 1e-3  # weights of a row that lack more than this of 1 have gone to a sink


def trace_of(
    last: "LastLayer | AnyLayer", parts: Sequence[Group], texts: int, *, kept: Remembered | None = None
) -> Trace:
    """What the last layer, or another, saw of B texts, given in groups of equal length."""
    seen = [last.see(group.inputs) if kept is None else kept.seen(group, last.see) for group in parts]
    sinks = any(bool((one.weights.sum(-1) < 1 - SUNK).any()) for one in seen)
    slots = {
        int(row): cut.slots
        for group in parts
        for row, cut in zip(group.rows.tolist(), group.cuts, strict=True)
    }
    width = max(len(piece) for piece, _, _ in slots.values()) + sinks
    heads, like = seen[0].weights.shape[1], seen[0].weights
    weights = like.new_zeros(texts, heads, width)
    items = torch.full((texts, width), -1, device=like.device)
    mask = torch.zeros(texts, width, dtype=torch.bool, device=like.device)
    values = _empty_values(last, parts, seen, width, texts)
    for group, one in zip(parts, seen, strict=True):
        for place, row in enumerate(group.rows.tolist()):
            piece, word, share = slots[row]
            count = len(piece)
            spread = torch.from_numpy(share).to(like)
            weights[row, :, :count] = one.weights[place][:, piece] * spread
            items[row, :count] = torch.from_numpy(word).to(like.device)
            mask[row, : count + sinks] = True
            if one.values is not None and last.one_row:
                values[row, :, :count] = one.values[place][:, piece]
            else:
                values[row, 0, np.arange(count), piece] = 1
            if sinks:
                weights[row, :, count] = (1 - weights[row, :, :count].sum(-1)).clamp(min=0)
    weights = weights / weights.sum(-1, keepdim=True)  # rounding
    rows = weights.shape
    if isinstance(last, LastLayer) and last.one_row:
        head, state = _row_head(last, parts, seen, texts)
    else:
        head, state = _layer_head(last, parts, seen, texts)
        values = values.expand(*rows, -1)
    return Trace(
        weights,
        values,
        mask[:, None].expand(rows),
        head=head,
        items=items[:, None].expand(rows).contiguous(),
        state=state,
    )


def _empty_values(
    last: "LastLayer | AnyLayer", parts: Sequence[Group], seen: Sequence[Seen], width: int, texts: int
) -> Tensor:
    """Room for the values of heads (B,R,S,D), or for unit vectors that all heads share (B,1,S,L)."""
    if last.one_row:
        given = seen[0].values
        assert given is not None
        return given.new_zeros(texts, given.shape[1], width, given.shape[-1])
    longest = max(group.length for group in parts)
    return seen[0].weights.new_zeros(texts, 1, width, longest)


def _row_head(
    last: LastLayer, parts: Sequence[Group], seen: Sequence[Seen], texts: int
) -> tuple[Callable[..., Tensor], Tensor]:
    """The rest of the network from attended vectors (N,R,D); the state (B,·) is what the residual carries."""
    shapes = [one.shape[1:] for one in seen[0].before]
    sizes = [seen[0].states.shape[-1], *(shape.numel() for shape in shapes)]
    state = seen[0].states.new_zeros(texts, sum(sizes))
    for group, one in zip(parts, seen, strict=True):
        carried = [one.states[:, last.row], *(before.flatten(1) for before in one.before)]
        state[group.rows] = torch.cat(carried, dim=1)
    dummy = last.dummy(parts[0].inputs)

    def head(attended: Tensor, state: Tensor) -> Tensor:
        own, *before = state.split(sizes, dim=1)
        inner = [flat.unflatten(1, shape) for flat, shape in zip(before, shapes, strict=True)]
        return last.from_attended(attended, own, inner, dummy)

    return head, state


def _layer_head(
    last: "LastLayer | AnyLayer", parts: Sequence[Group], seen: Sequence[Seen], texts: int
) -> tuple[Callable[..., Tensor], Tensor]:
    """The rest of the network from weights (N,R,L); the state (B,1) is the number of the text.

    The texts' states stay here: a trace's state is copied for every variant of a text.
    """
    where = {
        int(row): (part, place)
        for part, group in enumerate(parts)
        for place, row in enumerate(group.rows.tolist())
    }

    def head(attended: Tensor, state: Tensor) -> Tensor:
        found: list[Tensor] = []
        order: list[Tensor] = []
        numbers = [where[int(row)] for row in state[:, 0].tolist()]
        for part, (group, one) in enumerate(zip(parts, seen, strict=True)):
            own = [(n, place) for n, (of, place) in enumerate(numbers) if of == part]
            for begin in range(0, len(own), max(1, PIECES // group.length)):
                some = own[begin : begin + max(1, PIECES // group.length)]
                at = torch.tensor([n for n, _ in some], device=attended.device)
                places = torch.tensor([place for _, place in some], device=attended.device)
                inputs = {name: values[places] for name, values in group.inputs.items()}
                weights = attended[at][..., : group.length]
                found.append(last.from_weights(weights, one.states[places], inputs))
                order.append(at)
        return torch.cat(found)[torch.cat(order).argsort()]

    return head, torch.arange(texts, device=seen[0].weights.device)[:, None]
