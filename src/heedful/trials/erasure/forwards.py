"""Erasing by running the head again: the way for every head, in batches under a memory budget.

Axes: B instances, K classes.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn.modules.dropout import _DropoutNd

from heedful.errors import UserError
from heedful.models.trace import Trace

BUDGET = 2**28  # bytes of work space, besides what the head itself takes
MOST_RUNS = 2**31  # items × slots of an instance whose head is run without each item: about a minute


def two_sided(logits: Tensor) -> Tensor:
    """Logits (...,K) as they are, and scores (...,1) as the two logits (0, s)."""
    return torch.cat([torch.zeros_like(logits), logits], -1) if logits.shape[-1] == 1 else logits


def row_chunks(trace: Trace, *, budget: int = BUDGET) -> Iterator[tuple[slice, Trace]]:
    """The trace, as many instances at a time as leave room for at least eight variants of each."""
    size = max(1, budget * len(trace) // max(1, 8 * variant_bytes(trace)))
    if size >= len(trace):
        yield slice(0, len(trace)), trace
        return
    numbers = torch.arange(len(trace), device=trace.weights.device)
    for start in range(0, len(trace), size):
        yield slice(start, start + size), trace.take(numbers[start : start + size])


def variant_bytes(trace: Trace) -> int:
    """About the bytes of one variant of all instances: five tensors like the weights, two attended ones."""
    attended = trace.values.numel() // max(1, trace.values.shape[-2])
    return max(1, (5 * trace.weights.numel() + 2 * attended) * trace.weights.element_size())


def check_head(trace: Trace) -> None:
    """Refuse a head whose dropout is on, or whose answers are no numbers: nothing could be compared."""
    if isinstance(trace.head, nn.Module):
        for layer in trace.head.modules():
            if isinstance(layer, _DropoutNd) and layer.training and layer.p > 0:
                raise UserError(
                    "The head of this trace has dropout switched on: call head.eval() before the trial."
                )
    with torch.no_grad():
        bad = ~trace.logits().isfinite().all(1)
    if bad.any():
        row = int(bad.nonzero()[0])
        raise UserError(f"The head of this trace gives logits that are NaN or infinite for row {row}.")


def check_runs(trace: Trace) -> None:
    """Refuse instances of so many items that to run the head once for each would take minutes."""
    items = int(trace.item_counts.max()) if len(trace) else 0
    if items * trace.mask.shape[1:].numel() > MOST_RUNS:
        raise UserError(
            f"A head that is not linear is run once for each of {items:,} items, which would take minutes an "
            "instance: shorten the texts, or number slots as fewer items."
        )
