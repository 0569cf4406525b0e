"""How parameters start.

`normal_init` is Sun & Lu's (2020): the context vector V ~ N(0, 1); matrices uniform within ±1/√(fan in).
`usual_init` is PyTorch's own, of a linear layer: all uniform within ±1/√(fan in).
`xavier_init` is Serrano & Smith's (2019), by Glorot & Bengio: uniform within ±√(6/(fan in + fan out)).
Axes: a vector is read as a matrix with one output; matrices are (out, in).
"""

import math
from collections.abc import Callable

import torch
from torch import Generator, Tensor, nn

Init = Callable[[Tensor], object]


def normal_init(weight: Tensor, generator: Generator | None = None) -> None:
    """Fill a vector from N(0, 1), a matrix uniformly within ±1/√(fan in)."""
    if weight.dim() == 1:
        nn.init.normal_(weight, generator=generator)
    else:
        usual_init(weight, generator)


def usual_init(weight: Tensor, generator: Generator | None = None) -> None:
    """Fill a vector or a matrix uniformly within ±1/√(fan in)."""
    bound = weight.shape[-1] ** -0.5
    nn.init.uniform_(weight, -bound, bound, generator=generator)


def xavier_init(weight: Tensor, generator: Generator | None = None) -> None:
    """Fill a vector or a matrix uniformly within ±√(6 / (fan in + fan out))."""
    fan_out = 1 if weight.dim() == 1 else weight.shape[0]
    bound = math.sqrt(6 / (weight.shape[-1] + fan_out))
    nn.init.uniform_(weight, -bound, bound, generator=generator)


def new_weight(*shape: int, init: Init) -> nn.Parameter:
    weight = nn.Parameter(torch.empty(shape))
    init(weight)
    return weight


INITS: dict[str, Callable[..., None]] = {
    "normal": normal_init,
    "usual": usual_init,
    "xavier": xavier_init,
}
