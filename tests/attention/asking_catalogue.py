"""The mechanisms that are called in their own way, in one table: a new one gets all promises by adding a row.

Each is called with named tensors whose first axis is B; `tokens` says which axis of which tensor is T.
Sizes are different primes: B 3, T 7, H 5, C 13, A 11, N 2. The rows hold 7, 4 and 0 items.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Generator, Tensor, nn

from heedful.attention import AncestorAttention, LocationSensitiveAttention, MemoryHops, Pointer

T, H, C, A, N = 7, 5, 13, 11, 2
LENGTHS = (7, 4, 0)


@dataclass(frozen=True)
class Asking:
    name: str
    build: Callable[[], nn.Module]
    shapes: Mapping[str, tuple[int | str, ...]]  # of each input after B; "T" is the number of items
    amplify: Callable[[nn.Module, float], None]  # make the scores so many times larger

    def __str__(self) -> str:
        return self.name

    def inputs(
        self, seed: int = 0, *, lengths: tuple[int, ...] = LENGTHS, items: int = T
    ) -> dict[str, Tensor]:
        generator = Generator().manual_seed(seed)
        given = {
            name: torch.randn(
                len(lengths), *(items if axis == "T" else int(axis) for axis in shape), generator=generator
            )
            for name, shape in self.shapes.items()
        }
        return given | {"mask": torch.arange(items) < torch.tensor(lengths)[:, None]}

    def axes(self) -> dict[str, int]:
        """The axis of items of each input that has one."""
        own = {name: 1 + shape.index("T") for name, shape in self.shapes.items() if "T" in shape}
        return own | {"mask": 1}

    def cut(self, inputs: dict[str, Tensor], row: int, items: int) -> dict[str, Tensor]:
        """One row alone, with its first items only."""
        axes = self.axes()
        one = {name: tensor[row : row + 1] for name, tensor in inputs.items()}
        return {
            name: tensor.narrow(axes[name], 0, items) if name in axes else tensor
            for name, tensor in one.items()
        }


def seeded(build: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
    def start() -> nn.Module:
        with torch.random.fork_rng():
            torch.manual_seed(1)
            return build()

    return start


def amplify(name: str) -> Callable[[nn.Module, float], None]:
    """Multiply one parameter, that the scores are proportional to."""

    def louder(module: nn.Module, size: float) -> None:
        with torch.no_grad():
            module.get_parameter(name).mul_(size)

    return louder


CATALOGUE = [
    Asking(
        "memory",
        seeded(lambda: MemoryHops(H, hops=N)),
        {"keys": ("T", H), "query": (H,), "values": ("T", H)},
        amplify("matrices"),
    ),
    Asking(
        "pointer",
        seeded(lambda: Pointer(H, query=C, width=A)),
        {"states": ("T", H), "query": (C,)},
        amplify("score.context"),
    ),
    Asking(
        "pointer, several steps",
        seeded(lambda: Pointer(H, query=C, width=A)),
        {"states": ("T", H), "query": (N, C)},
        amplify("score.context"),
    ),
    Asking(
        "ancestors",
        seeded(lambda: AncestorAttention(H, width=A)),
        {"states": ("T", H)},
        amplify("score.context"),
    ),
    Asking(
        "content",
        seeded(lambda: LocationSensitiveAttention(H, query=C, filters=0, width=A)),
        {"states": ("T", H), "query": (C,)},
        amplify("context"),
    ),
    Asking(
        "location",
        seeded(lambda: LocationSensitiveAttention(H, query=None, filters=N, window=3, width=A)),
        {"states": ("T", H), "previous": ("T",)},
        amplify("context"),
    ),
    Asking(
        "hybrid",
        seeded(lambda: LocationSensitiveAttention(H, query=C, filters=N, window=3, width=A)),
        {"states": ("T", H), "query": (C,), "previous": ("T",)},
        amplify("context"),
    ),
]
