"""`Trace`: what one attention layer saw and gave, which is all that the trials at that layer need.

Axes: B instances, R rows of weights in an instance (attention heads, or sentences in a hierarchical model;
one row where the axis is missing), T slots, N items, H width, K classes.

An item is what a person would erase: a word, or a sentence. It may have several slots (sub-words, or one in
each head). Erasing it puts 0 on all its slots and renormalises each row; a row with nothing left attends to
the zero vector (Serrano & Smith, 2019).
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.errors import UserError

# How far the weights of a row may be from a sum of 1: the rounding of the precision they were computed in.
# Double precision is not asked for more than single, because weights are often widened after the fact.
_TOLERANCE = {torch.float64: 1e-5, torch.float32: 1e-5, torch.float16: 5e-3, torch.bfloat16: 4e-2}

MOST_SPARE = 2**16  # an item's number may be this, however few slots there are


@dataclass(frozen=True, eq=False)
class Trace:
    """The weights, values and head of one attention layer for B instances.

    `weights` are (B,T) or (B,R,T), `values` have one more axis H, `mask` is true on real slots. `head` turns
    the attended vectors (B,H) or (B,R,H) into logits (B,K), or (B,1) for one score; when `state` (B,...) is
    given it is called with it as its second argument. `items` says which item each slot belongs to, −1 for
    slots that are never erased (padding, [CLS]); left out, every real slot is an item of its own. Arrays and
    lists become tensors.
    """

    weights: Tensor
    values: Tensor
    mask: Tensor
    head: Callable[..., Tensor]
    items: Tensor = None  # type: ignore[assignment]  # made below: a reader always finds a tensor
    state: Tensor | None = None
    first: int = 0  # the number of the first instance in its corpus, to which chance belongs

    def __post_init__(self) -> None:
        for name in ("weights", "values", "mask", "items", "state"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, as_tensor(f"The {name} of a trace", getattr(self, name)))
        _check_shapes(self.weights, self.values, self.mask)
        if self.items is None:
            slots = torch.arange(self.mask.shape[-1], device=self.mask.device)
            object.__setattr__(self, "items", torch.where(self.mask, slots, -1))
            vars(self)["slots_are_items"] = self.mask.dim() == 2  # known, so it need not be looked for
        _check_items(self.items, self.mask)
        _check_item_numbers(self.items)
        _check_weights(self.weights, self.mask)
        _check_values(self.values)
        _check_head(self.linear, self.values)
        if self.state is not None and len(self.state) != len(self):
            raise UserError(
                f"The state of a trace needs {len(self)} instances, but it has {len(self.state)}."
            )

    def __len__(self) -> int:
        return len(self.weights)

    def numbered(self, first: int) -> "Trace":
        """The same trace, with what is known of it, whose first instance has this number."""
        if first == self.first:
            return self
        found = copy.copy(self)
        object.__setattr__(found, "first", first)
        return found

    @cached_property
    def present(self) -> Tensor:
        """Which item numbers each instance has (B,N); N is one more than the largest."""
        flat = self.items.flatten(1)  # (B, R·T)
        count = int(flat.max()) + 1 if flat.numel() else 0
        seen = torch.zeros(len(self), count + 1, dtype=torch.bool, device=flat.device)
        # The last column collects the slots that belong to no item.
        return seen.scatter_(1, torch.where(flat < 0, count, flat), True)[:, :count]

    @cached_property
    def slots_are_items(self) -> bool:
        """Whether every real slot is an item of its own, with its own number, in one row of weights."""
        slots = torch.arange(self.mask.shape[-1], device=self.mask.device)
        return self.mask.dim() == 2 and torch.equal(self.items == slots, self.mask)  # padding has −1

    @property
    def item_counts(self) -> Tensor:
        """How many items each instance has (B,)."""
        return self.present.sum(1)

    @property
    def linear(self) -> nn.Linear | None:
        """The linear head, where its closed forms apply: one row of weights and no state. Else None."""
        if self.weights.dim() != 2 or self.state is not None:
            return None
        return _linear_of(self.head)

    @cached_property
    def token_logits(self) -> Tensor:
        """What each slot says by itself (B,T,K), without the bias: for a linear head only."""
        if self.linear is None:
            raise UserError(
                "Token logits need a linear head over one row of weights; this trace has another head."
            )
        return self.values @ self.linear.weight.T

    def attend(self, weights: Tensor | None = None) -> Tensor:
        """The attended vectors (B,H) or (B,R,H) under these weights, or under the trace's own.

        Weights may have more axes in front, (P,B,T) for P variants of each instance; so has the result then.
        """
        weights = self.weights if weights is None else weights
        if weights.shape[-self.weights.dim() :] != self.weights.shape:
            raise ValueError(
                f"weights must end in {tuple(self.weights.shape)}, but are {tuple(weights.shape)}"
            )
        if self.weights.dim() == 2:
            return torch.einsum("...bt,bth->...bh", weights, self.values)
        return torch.einsum("...brt,brth->...brh", weights, self.values)

    def logits(self, weights: Tensor | None = None) -> Tensor:
        """The logits (B,K) under these weights, or under the trace's own; (P,B,K) for P variants."""
        attended = self.attend(weights)
        variants = attended.shape[: attended.dim() - self.weights.dim()]
        flat = attended.reshape(
            -1, *attended.shape[len(variants) + 1 :]
        )  # variants and instances in one axis
        if self.state is None:
            logits: Tensor = self.head(flat)
        else:
            copies = variants.numel()
            logits = self.head(flat, self.state.repeat(copies, *[1] * (self.state.dim() - 1)))
        if logits.dim() != 2 or len(logits) != len(flat):
            raise ValueError(f"the head must give logits ({len(flat)}, K), but gave {tuple(logits.shape)}")
        return logits.reshape(*variants, len(self), logits.shape[1])

    def erase(self, erased: Tensor) -> Tensor:
        """The weights without the items where `erased` (B,N) is true, each row renormalised.

        Rows that lose nothing stay as they are, to the last bit; rows without weight left become 0. `erased`
        is over item numbers and may have more columns than there are items, and more axes in front (P,B,N),
        as the result then has.
        """
        count = self.present.shape[1]
        if erased.dtype != torch.bool or erased.shape[-1] < count or erased.shape[-2] != len(self):
            came = f"{erased.dtype} {tuple(erased.shape)}"
            raise ValueError(f"erased must be bool and end in ({len(self)}, {count}), but is {came}")
        # Slots that belong to no item look at one more column, which is never erased.
        column = torch.where(self.items < 0, erased.shape[-1], self.items).flatten(1)  # (B, R·T)
        gone = F.pad(erased, (0, 1)).gather(-1, column.expand(*erased.shape[:-1], -1))
        gone = gone.unflatten(-1, self.items.shape[1:])  # (..., B, T) or (..., B, R, T)
        left = self.weights.masked_fill(gone, 0)
        total = left.sum(-1, keepdim=True)
        renormalised = torch.where(total > 0, left / total.where(total > 0, 1), 0)
        return torch.where(gone.any(-1, keepdim=True), renormalised, self.weights)

    def take(self, rows: Tensor) -> "Trace":
        """The instances with these numbers (or where this (B,) bool tensor is true), in this order."""
        state = None if self.state is None else self.state[rows]
        return replace(
            self,
            weights=self.weights[rows],
            values=self.values[rows],
            mask=self.mask[rows],
            items=self.items[rows],
            state=state,
        )


def decisions(logits: Tensor) -> Tensor:
    """The decided class: the first largest of (...,K) logits; of (...,1) scores 1 above 0, else 0."""
    if logits.shape[-1] == 1:
        return (logits[..., 0] > 0).long()
    return logits.argmax(-1)


def probabilities(logits: Tensor) -> Tensor:
    """Class probabilities (...,K) of logits (...,K), and (...,2) of scores (...,1)."""
    if logits.shape[-1] == 1:
        return torch.cat([-logits, logits], dim=-1).sigmoid()
    return logits.softmax(-1)


def as_tensor(what: str, given: object) -> Tensor:
    """A tensor as it is, and an array or lists of numbers as a tensor; anything else is refused."""
    try:
        return torch.as_tensor(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UserError(
            f"{what} must be given as a tensor, an array, or lists of one length, "
            f"but a {type(given).__name__} came that cannot become a tensor."
        ) from error


def _linear_of(head: object) -> nn.Linear | None:
    if isinstance(head, nn.Sequential):
        # What does nothing in evaluation may stand around the one linear layer.
        idle = (nn.Identity,) if head.training else (nn.Identity, nn.Dropout)
        working = [layer for layer in head if not isinstance(layer, idle)]
        head = working[0] if len(working) == 1 else None
    return head if isinstance(head, nn.Linear) else None


def _check_shapes(weights: Tensor, values: Tensor, mask: Tensor) -> None:
    if weights.dim() not in (2, 3) or values.shape[:-1] != weights.shape or mask.shape != weights.shape:
        raise UserError(
            "A trace needs weights (B,T) or (B,R,T), a mask of the same shape and values with one axis more, "
            f"but they are {tuple(weights.shape)}, {tuple(mask.shape)} and {tuple(values.shape)}."
        )
    if mask.dtype != torch.bool or weights.dtype not in _TOLERANCE or values.dtype != weights.dtype:
        raise UserError(
            "A trace needs a bool mask, and weights and values of one floating type, "
            f"but they are {mask.dtype}, {weights.dtype} and {values.dtype}."
        )


def _check_items(items: Tensor, mask: Tensor) -> None:
    if items.shape != mask.shape or items.dtype != torch.long:
        raise UserError(
            f"The items of a trace must be long and {tuple(mask.shape)} like its weights, "
            f"but they are {items.dtype} {tuple(items.shape)}."
        )
    _refuse_rows(
        (items < -1) | (items >= 0) & ~mask, "has an item on padding, or one below -1: padding has -1"
    )


def _check_item_numbers(items: Tensor) -> None:
    # Everything about items is a table with a column for each number up to the largest.
    largest = int(items.max()) if items.numel() else -1
    most = max(MOST_SPARE, 4 * items[0].numel()) if len(items) else MOST_SPARE
    if largest >= most:
        raise UserError(
            f"The items of a trace are numbered from 0, and one of {items[0].numel():,} slots a row has the "
            f"number {largest:,}: number them again, without gaps."
        )


def _check_weights(weights: Tensor, mask: Tensor) -> None:
    empty = ~mask.flatten(1).any(1)
    _refuse_rows(empty[:, None], "has no token at all: leave such texts out")
    _refuse_rows(~weights.isfinite(), "has a weight that is NaN or infinite")
    _refuse_rows(weights < 0, "has a negative weight")
    _refuse_rows((weights > 0) & ~mask, "has weight on padding, where the mask is false")
    total = weights.sum(-1, dtype=torch.float64)
    _refuse_rows(
        mask.any(-1) & ((total - 1).abs() > _TOLERANCE[weights.dtype]),
        "has weights that do not sum to 1: normalise them",
    )


def _check_values(values: Tensor) -> None:
    # A sum is one pass without a second tensor of this size; only what looks bad is looked at value by value.
    if not values.sum().isfinite():
        _refuse_rows(~values.isfinite(), "has a value that is NaN or infinite")


def _check_head(head: nn.Linear | None, values: Tensor) -> None:
    if head is None:
        return
    if not all(parameter.isfinite().all() for parameter in head.parameters()):
        raise UserError("The linear head of this trace has a weight or bias that is NaN or infinite.")
    needed, came = (head.in_features, head.weight.dtype), (values.shape[-1], values.dtype)
    if needed != came:
        raise UserError(
            f"The linear head of this trace needs values of width {needed[0]} and type {needed[1]}, "
            f"but they are of width {came[0]} and type {came[1]}."
        )


def _refuse_rows(bad: Tensor, fault: str) -> None:
    """Raise, naming the first instance where `bad` (B,...) is true anywhere."""
    if bad.any():
        row, *place = bad.nonzero()[0].tolist()
        where = f" (at {', '.join(map(str, place))})" if place and bad.shape[1:] != (1,) else ""
        raise UserError(f"Row {row} of the trace{where} {fault}.")
