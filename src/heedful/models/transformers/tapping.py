"""What is seen and changed while a network reads: every attention of a pass, in the order of the calls.

A `Tap` is a function of a `Call` that may look, and may give other weights, which are then used in the place
of the network's own. Calls are numbered from 0 in each pass, because layers that share their parameters, and
decoders, have no layer number to go by. The ways (`interface`, `softmax`) put a tap into a network for one
pass and take it out again, also after an error.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor, nn


@dataclass(frozen=True, eq=False)
class Call:
    """One attention of a pass."""

    number: int
    weights: Tensor  # (B,R,L,L) from each position to each
    values: Tensor | None  # (B,R,L,D), where the way sees them
    module: Any = None  # that attends, where the way knows it


Tap = Callable[[Call], Tensor | None]  # other weights, or None to leave them as they are
Instead = Callable[[int], Tensor | None]  # what call number n gives (B,L,R,D), so that nothing is computed


class Way(Protocol):
    """A way into a network's attention."""

    name: str
    sees_values: bool

    def tapped(self, network: nn.Module, tap: Tap) -> AbstractContextManager[None]:
        """While this lasts, passes of the network go through the tap; their calls are numbered from 0."""


SWITCHING = threading.RLock()  # a network is switched as a whole, so two threads must not do it at once


@contextmanager
def kernel_of(network: nn.Module, name: str) -> Iterator[None]:
    """While this lasts, the network attends by the implementation of this name."""
    with SWITCHING:
        before = [(config, config._attn_implementation_internal) for config in _configs(network)]
        try:
            for config, _ in before:
                config._attn_implementation_internal = name
            yield
        finally:
            for config, own in before:
                config._attn_implementation_internal = own


def _configs(network: nn.Module) -> list[Any]:
    """Every configuration that a part of the network looks at, once."""
    found: dict[int, Any] = {}
    # What a part has of its own: a module takes long to say that it has no attribute of a name, and this is
    # asked twice a pass.
    waiting: list[Any] = [vars(part)["config"] for part in _parts(network) if "config" in vars(part)]
    while waiting:
        config = waiting.pop()
        if id(config) in found or not hasattr(config, "_attn_implementation_internal"):
            continue
        found[id(config)] = config
        waiting += [getattr(config, name, None) for name in getattr(config, "sub_configs", {})]
    return list(found.values())


def _parts(network: nn.Module) -> Iterator[nn.Module]:
    """The network and all its parts, each once."""
    waiting, met = [network], {network}
    while waiting:
        part = waiting.pop()
        yield part
        new = {one for one in part._modules.values() if one is not None} - met
        met |= new
        waiting += new
