"""The first way: the attention interface of transformers, which most families call with query, key, value.

Our function calls the family's own eager attention, so whatever a family does to its scores (soft caps,
sinks, biases) stays its own. Other weights are multiplied with the values that came.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from heedful.models.transformers.tapping import Call, Instead, Tap, kernel_of

KERNEL = "heedful"
Eager = Callable[..., tuple[Tensor, Tensor]]  # attention of a module: what it gives, and its weights


@dataclass
class _Pass:
    tap: Tap | None
    instead: Instead | None
    calls: int = 0


_CURRENT: ContextVar[_Pass | None] = ContextVar("the pass that is tapped", default=None)


class AttentionInterfaceWay:
    """Sees weights and values of every call, and may change the weights or the whole result."""

    name = "attention interface"
    sees_values = True

    @contextmanager
    def tapped(
        self, network: nn.Module, tap: Tap | None = None, *, instead: Instead | None = None
    ) -> Iterator[None]:
        """As in `Way`; `instead` may give the result of a call (B,L,R,D) before anything is computed."""
        _register()
        token = _CURRENT.set(_Pass(tap, instead))
        start = network.register_forward_pre_hook(_begin)
        try:
            with kernel_of(network, KERNEL):
                yield
        finally:
            start.remove()
            _CURRENT.reset(token)


def _begin(*_: Any) -> None:
    current = _CURRENT.get()
    if current is not None:
        current.calls = 0


def _register() -> None:
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, eager_mask

    AttentionInterface.register(KERNEL, _attend)
    AttentionMaskInterface.register(KERNEL, eager_mask)


def _attend(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **kwargs: Any
) -> tuple[Tensor, Tensor | None]:
    current = _CURRENT.get()
    assert current is not None, "this kernel is only switched on while a tap is in place"
    number, current.calls = current.calls, current.calls + 1
    if current.instead is not None:
        result = current.instead(number)
        if result is not None:
            return result, None
    output, weights = _eager_of(module)(module, query, key, value, attention_mask, **kwargs)
    if current.tap is None:
        return output, weights
    values = value
    if value.shape[1] != weights.shape[1]:  # several query heads share one head of values
        values = value.repeat_interleave(weights.shape[1] // value.shape[1], dim=1)
    other = current.tap(Call(number, weights, values, module))
    if other is None:
        return output, weights
    return (other.to(values.dtype) @ values).transpose(1, 2).contiguous(), other


def _eager_of(module: nn.Module) -> Eager:
    """The eager attention of the module's family, which stands in the file that defines its class."""
    for kind in type(module).__mro__:
        file = sys.modules.get(kind.__module__)
        found: Eager | None = getattr(file, "eager_attention_forward", None)
        if found is not None:
            return found
    raise LookupError(f"{type(module).__name__} has no eager attention of its own")
