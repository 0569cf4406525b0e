"""The second way: catch the softmax itself, wherever a family computes it.

Every softmax over the last of four axes (B,R,L,L) is an attention, and so is one over three where texts and
heads are one axis (B·R,L,L). Values are not seen, because families multiply with them in many ways.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from heedful.models.transformers.tapping import Call, Tap, kernel_of

# What families call their number of heads.
HEADS = ("num_attention_heads", "encoder_attention_heads", "n_head", "n_heads", "num_heads")
_SOFTMAX = {torch.softmax, Tensor.softmax, F.softmax, torch.special.softmax}


class CaughtSoftmaxWay:
    """Sees the weights of every call, and may change them."""

    name = "caught softmax"
    sees_values = False

    @contextmanager
    def tapped(self, network: nn.Module, tap: Tap) -> Iterator[None]:
        catcher = _Catcher(tap, heads=_heads(network))
        start = network.register_forward_pre_hook(catcher.begin, with_kwargs=True)
        try:
            with kernel_of(network, "eager"), catcher:
                yield
        finally:
            start.remove()


class _Catcher(TorchFunctionMode):
    def __init__(self, tap: Tap, *, heads: int) -> None:
        super().__init__()
        self.tap, self.heads = tap, heads
        self.calls, self.texts, self.inside = 0, 0, False

    def begin(self, network: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
        self.calls, self.texts = 0, len(kwargs["input_ids"])

    def __torch_function__(
        self, function: Callable, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        found = function(*args, **(kwargs or {}))
        # F.softmax calls Tensor.softmax inside, where this mode is off: each softmax is seen once.
        if function not in _SOFTMAX or self.inside or not self._is_attention(found, args, kwargs or {}):
            return found
        number, self.calls = self.calls, self.calls + 1
        self.inside = True
        try:
            weights = found if found.dim() == 4 else found.unflatten(0, (self.texts, self.heads))
            other = self.tap(Call(number, weights, None))
        finally:
            self.inside = False
        return found if other is None else other.to(found.dtype).reshape(found.shape)

    def _is_attention(self, found: Tensor, args: tuple, kwargs: dict[str, Any]) -> bool:
        axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
        if axis not in (-1, found.dim() - 1):
            return False
        return found.dim() == 4 or (found.dim() == 3 and len(found) == self.texts * self.heads)


def _heads(network: nn.Module) -> int:
    config = getattr(network, "config", None)
    return next((int(getattr(config, name)) for name in HEADS if hasattr(config, name)), 0)
