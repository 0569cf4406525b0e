"""Traces for the tests of erasure: random ones, and ones whose sums are exact, so that ties are ties."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from heedful.models.trace import Trace


def linear(weight: Tensor, bias: Tensor | None = None) -> nn.Linear:
    head = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None, dtype=weight.dtype)
    with torch.no_grad():
        head.weight.copy_(weight)
        if bias is not None:
            head.bias.copy_(bias)
    return head


def random_trace(
    *, instances=23, longest=13, width=5, classes=3, seed=0, dtype=torch.float64, bias=0.5, items="slots"
) -> Trace:
    """Lengths from 1 to `longest`; `items` are "slots", "words" (of several slots) or "kept" (some stay)."""
    g = torch.Generator().manual_seed(seed)
    mask = torch.arange(longest) < torch.randint(1, longest + 1, (instances, 1), generator=g)
    weights = (
        torch.randn(instances, longest, generator=g, dtype=dtype).masked_fill(~mask, -torch.inf).softmax(-1)
    )
    values = torch.randn(instances, longest, width, generator=g, dtype=dtype)
    head = linear(
        torch.randn(classes, width, generator=g, dtype=dtype),
        bias * torch.randn(classes, generator=g, dtype=dtype),
    )
    return Trace(weights, values, mask, head, _items(items, mask, g))


def exact_trace(*, instances=29, longest=7, classes=3, seed=0, items="slots", all_weight_in=2**6) -> Trace:
    """Whole-number values and weights of whole 64ths, some 0: all sums are exact, so ties are ties."""
    g = torch.Generator().manual_seed(seed)
    mask = torch.arange(longest) < torch.randint(1, longest + 1, (instances, 1), generator=g)
    parts = torch.randint(0, 4, (instances, longest), generator=g) * mask
    parts[:, 0] += all_weight_in - parts.sum(1)
    # The heavy remainder stands anywhere, not always first.
    parts = torch.stack(
        [
            torch.cat([row[:n][torch.randperm(n, generator=g)], row[n:]])
            for row, n in zip(parts, mask.sum(1), strict=True)
        ]
    )
    values = torch.randint(-3, 4, (instances, longest, 3), generator=g).double()
    head = linear(
        torch.randint(-2, 3, (classes, 3), generator=g).double(),
        torch.randint(-3, 4, (classes,), generator=g).double(),
    )
    return Trace(parts.double() / all_weight_in, values, mask, head, _items(items, mask, g))


def exact_winner(trace: Trace, row: int, gone: set[int]) -> int:
    """Who decides an `exact_trace` without these items, in whole numbers and by the definition."""
    parts = [round(64 * weight) for weight in trace.weights[row].tolist()]
    logits = (trace.values[row] @ trace.head.weight.T).long().tolist()
    bias = trace.head.bias.long().tolist()
    if len(bias) == 1:
        bias, logits = [0, *bias], [[0, *own] for own in logits]
    left = [t for t, item in enumerate(trace.items[row].tolist()) if item not in gone or item < 0]
    total = sum(parts[t] for t in left)
    sums = [sum(parts[t] * (logits[t][k] + b) for t in left) for k, b in enumerate(bias)] if total else bias
    return sums.index(max(sums))


def through_the_head(trace: Trace) -> Trace:
    """The same trace with its head hidden in a function, so that no closed form applies."""
    return replace(trace, head=lambda attended: trace.head(attended))


def stacked(trace: Trace, rows: int = 3, *, seed: int = 0) -> Trace:
    """A trace of several attention heads over the same tokens, with a head that is not linear."""
    g = torch.Generator().manual_seed(seed)
    b, t, h = trace.values.shape
    scores = torch.randn(b, rows, t, generator=g, dtype=trace.weights.dtype)
    mask = trace.mask[:, None].expand(b, rows, t).contiguous()
    values = torch.randn(b, rows, t, h, generator=g, dtype=trace.weights.dtype)
    inner = linear(torch.randn(5, rows * h, generator=g, dtype=trace.weights.dtype))
    outer = linear(
        torch.randn(3, 5, generator=g, dtype=trace.weights.dtype), torch.randn(3, generator=g).double()
    )

    def head(attended: Tensor) -> Tensor:
        return outer(inner(attended.flatten(1)).tanh())

    items = trace.items[:, None].expand(b, rows, t).contiguous()
    return Trace(scores.masked_fill(~mask, -torch.inf).softmax(-1), values, mask, head, items)


def some_order(trace: Trace, seed: int = 0) -> Tensor:
    """A random order of the items, as wide as the slots."""
    g = torch.Generator().manual_seed(seed)
    present = torch.zeros(trace.weights.shape[0], trace.weights.shape[-1], dtype=torch.bool)
    present[:, : trace.present.shape[1]] = trace.present
    return torch.rand(present.shape, generator=g).masked_fill(~present, 2).argsort(1)


def step_by_step(trace: Trace, order: Tensor) -> list[int]:
    """Flip sizes by erasing one item after another in the plainest way."""
    from heedful.models.trace import decisions

    sizes = []
    for b in range(len(trace)):
        one = trace.take(torch.tensor([b]))
        before, size = decisions(one.logits()), -1
        gone = torch.zeros(1, trace.weights.shape[-1], dtype=torch.bool)
        for step in range(int(one.item_counts)):
            gone[0, order[b, step]] = True
            if decisions(one.logits(one.erase(gone))) != before:
                size = step + 1
                break
        sizes.append(size)
    return sizes


def _items(kind: str, mask: Tensor, g: torch.Generator) -> Tensor | None:
    if kind == "slots":
        return None
    # Words of several slots, in no order and with numbers that may be missing; "kept" has −1 among them.
    least = -1 if kind == "kept" else 0
    return torch.where(mask, torch.randint(least, 5, mask.shape, generator=g), -1)
