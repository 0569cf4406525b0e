"""Products of linear maps by oneDNN instead of torch's own choice, where it is surely faster here.

For float32 on a processor torch takes MKL, which on AMD is half as fast as oneDNN, which torch brings too;
and nearly all the time of a pass is in such products. Which is faster is measured once in a process. A
network is led through the other library for one pass by a mode of torch functions, so nothing of it is
changed, and only where it has proved to give the same logits (`subject`).

Axes: N places, I width in, O width out.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

SURELY = 1.25  # times as fast, so that two processes on one machine choose alike
FEWEST = 16  # places, below which MKL's overhead is the smaller one
SMALLEST = 2**14  # entries of a weight: the maps of a smaller network take no time worth saving
TRIED = (256, 384, 384)  # N, I, O of the product that is timed: less than a millisecond


def linear(states: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """`states` (...,I) through a linear map by oneDNN."""
    found: Tensor = (_Linear.apply if torch.is_grad_enabled() else _product)(states, weight, bias)
    return found


def _product(states: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    # The operator reads a bias as if its numbers lay side by side, whatever its stride says.
    bias = None if bias is None else bias.contiguous()
    found: Tensor = torch.ops.mkldnn._linear_pointwise(states, weight, bias, "none", [], "")
    return found


class _Linear(torch.autograd.Function):
    """oneDNN's product has no way back of its own; this is it, and it can be gone back through again."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(states, weight)
        return _product(states, weight, bias)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        (slope,) = slopes
        states, weight = ctx.saved_tensors
        to_states, to_weight, to_bias = ctx.needs_input_grad
        flat = slope.flatten(0, -2)
        return (
            linear(slope, weight.T, None) if to_states else None,
            flat.T @ states.flatten(0, -2) if to_weight else None,
            flat.sum(0) if to_bias else None,
        )


class _Products(TorchFunctionMode):
    """Leads the linear maps of a pass through oneDNN."""

    def __torch_function__(
        self, function: Callable, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        if function is F.linear and not given:
            states, weight, *rest = args
            bias = rest[0] if rest else None
        elif function is torch.addmm and not given:  # GPT-2 and its relatives have their weights (I,O)
            bias, states, weight = args
            weight = weight.T
        else:
            return function(*args, **given)
        if not _worth_it(states, weight, bias):
            return function(*args, **given)
        return linear(states, weight, bias)


def _worth_it(states: Tensor, weight: Tensor, bias: Tensor | None) -> bool:
    tensors = [one for one in (states, weight, bias) if one is not None]
    return (
        weight.dim() == 2
        and weight.numel() >= SMALLEST
        and states.dim() > 1
        and states.numel() >= FEWEST * weight.shape[1]
        and (bias is None or bias.dim() == 1)
        and all(type(one) in (Tensor, nn.Parameter) and _plain(one) for one in tensors)
    )


def _plain(one: Tensor) -> bool:
    return one.dtype == torch.float32 and one.device.type == "cpu" and one.layout == torch.strided


@contextmanager
def by_onednn() -> Iterator[None]:
    """While this lasts linear maps go through oneDNN, where they are large enough."""
    with _Products():
        yield


def gains(network: nn.Module) -> bool:
    """Whether a network has linear maps that oneDNN computes surely faster on this machine."""
    large = any(one.dim() == 2 and one.numel() >= SMALLEST and _plain(one) for one in network.parameters())
    return large and _surely_faster()


@cache
def _surely_faster() -> bool:
    """Whether oneDNN is there, and its product of an ordinary size is surely faster than torch's."""
    if not torch.backends.mkldnn.is_available():
        return False
    places, width, out = TRIED
    states, weight = torch.ones(places, width), torch.ones(out, width)
    with torch.no_grad():
        try:
            _product(states, weight, None)
        except (RuntimeError, AttributeError):  # of a torch that is built without it
            return False
        own = _least(lambda: F.linear(states, weight))
        other = _least(lambda: _product(states, weight, None))
    return own >= SURELY * other


def _least(run: Callable[[], Tensor], *, rounds: int = 9) -> float:
    """The least seconds of some rounds: on a busy machine the least is what the product takes."""
    least = float("inf")
    for _ in range(rounds):
        begun = time.perf_counter()
        run()
        least = min(least, time.perf_counter() - begun)
    return least
