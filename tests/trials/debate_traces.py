"""Small traces of random instances, with lengths of every size from one token on."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from heedful.models.trace import Trace


def make_trace(
    *,
    instances: int = 17,
    slots: int = 13,
    width: int = 5,
    classes: int = 2,
    spread: float = 2.0,
    strength: float = 1.0,
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
    head: Callable[[Tensor], Tensor] | None = None,
) -> Trace:
    """`spread` is how uneven the weights are (0: uniform), `strength` how much single tokens say."""
    draw = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=draw, dtype=torch.float64)

    lengths = torch.randint(1, slots + 1, (instances,), generator=draw)
    lengths[: min(3, instances)] = torch.tensor([1, 2, slots])[:instances]
    mask = torch.arange(slots) < lengths[:, None]
    # Padding does not have to come last.
    mask = mask.gather(1, torch.rand(mask.shape, generator=draw).argsort(dim=1))
    weights = (spread * normal(instances, slots)).masked_fill(~mask, -torch.inf).softmax(1)
    values = normal(instances, slots, width)
    if head is None:
        linear = nn.Linear(width, classes, dtype=torch.float64)
        with torch.no_grad():
            linear.weight.copy_(strength * normal(classes, width))
            linear.bias.copy_(0.3 * normal(classes))
        head = linear.to(dtype).eval()
    return Trace(weights.to(dtype), values.to(dtype), mask, head)
