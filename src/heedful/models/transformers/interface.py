"""The first way: the attention interface of transformers, which most families call with query, key, value.

Our function calls the family's own eager attention, so whatever a family does to its scores (soft caps,
sinks, biases) stays its own. Other weights are multiplied with the values that came. A pass may also be ended
at one row of its last attention (`Reached`), where nobody asks what the other rows would say.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from torch import Tensor, nn

from heedful.models.transformers.tapping import Call, Instead, Tap, kernel_of

KERNEL = "heedful"
FUSED = "heedful-fused"  # the same, with the masks that torch's fused attention takes
Attention = Callable[..., tuple[Tensor, Any]]  # of a module: what it gives, and its weights


class Reached(Exception):  # noqa: N818  (nothing is wrong: the pass has given what it was asked for)
    """The last attention of a pass was reached."""


@dataclass(eq=False)
class Row:
    """One row of a pass's last attention, and of others before it in the same layer."""

    last: int  # the number of the call
    inner: tuple[int, ...]
    row: int
    before: list[Tensor] = field(default_factory=list)  # what the others gave (B,R,D), pass after pass
    attended: list[Tensor] = field(default_factory=list)  # (B,R,D) of each pass


@dataclass
class _Pass:
    tap: Tap | None = None
    instead: Instead | None = None
    until: Row | None = None
    calls: int = 0


_BY_ROW = ("attention_mask", "position_bias")  # what a family adds to the scores (…,L,L)
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
        with _passing(network, _Pass(tap, instead), KERNEL):
            yield

    @contextmanager
    def until(self, network: nn.Module, row: Row, *, fused: bool) -> Iterator[None]:
        """While this lasts a pass goes on to this row and ends there, by `Reached`; before that attentions
        are computed whole."""
        with _passing(network, _Pass(until=row), FUSED if fused else KERNEL):
            yield


@contextmanager
def _passing(network: nn.Module, current: _Pass, kernel: str) -> Iterator[None]:
    _register()
    token = _CURRENT.set(current)
    start = network.register_forward_pre_hook(_begin)
    try:
        with kernel_of(network, kernel):
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
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import AttentionMaskInterface, eager_mask, sdpa_mask

    def attend(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
        return _attend(_eager_of(module), module, *args, **kwargs)

    AttentionInterface.register(KERNEL, attend)
    AttentionMaskInterface.register(KERNEL, eager_mask)
    AttentionInterface.register(FUSED, partial(_attend, sdpa_attention_forward))
    AttentionMaskInterface.register(FUSED, sdpa_mask)


def _attend(
    attend: Attention,
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **kwargs: Any,
) -> tuple[Tensor, Tensor | None]:
    current = _CURRENT.get()
    assert current is not None, "this kernel is only switched on while a tap is in place"
    number, current.calls = current.calls, current.calls + 1
    if current.instead is not None:
        result = current.instead(number)
        if result is not None:
            return result, None
    until = current.until
    if until is not None and number == until.last:
        length = query.shape[2]
        one = slice(until.row % length, until.row % length + 1)
        given = {"attention_mask": attention_mask, **kwargs}
        by_row = [name for name in _BY_ROW if given.get(name) is not None and given[name].shape[2] == length]
        given |= {name: given[name][:, :, one] for name in by_row}
        until.attended.append(attend(module, query[:, :, one], key, value, **given)[0][:, 0])
        raise Reached
    output, weights = attend(module, query, key, value, attention_mask, **kwargs)
    if until is not None and number in until.inner:
        until.before.append(output[:, until.row])
    if current.tap is None:
        return output, weights
    values = value
    if value.shape[1] != weights.shape[1]:  # several query heads share one head of values
        values = value.repeat_interleave(weights.shape[1] // value.shape[1], dim=1)
    other = current.tap(Call(number, weights, values, module))
    if other is None:
        return output, weights
    return (other.to(values.dtype) @ values).transpose(1, 2).contiguous(), other


def _eager_of(module: nn.Module) -> Attention:
    """The eager attention of the module's family, which stands in the file that defines its class."""
    for kind in type(module).__mro__:
        file = sys.modules.get(kind.__module__)
        found: Attention | None = getattr(file, "eager_attention_forward", None)
        if found is not None:
            return found
    raise LookupError(f"{type(module).__name__} has no eager attention of its own")
