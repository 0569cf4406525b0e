"""Scores and encoders of the user's own: classes that stand in a model's settings by their name.

    class MyScore(nn.Module):                  # MyScore(H): states (B,T,H) → scores (B,T)
    class MyEncoder(nn.Module):                # MyEncoder(E): words (B,T,E), mask (B,T) → states (B,T,H)

    heedful.train(corpus, attention=MyScore, encoder=MyEncoder)

A score may take the mask too, as `forward(states, mask)`. What looks at one word at a time says so with
`mixes_tokens = False`; otherwise it is taken to mix them, and nothing is read off a closed form. Settings and
folders hold the name alone, "module:Class". No code is ever imported because a folder asks for it: a class is
found again if the caller hands it over (`take_part`) or allows its module (`allow_module`).

Axes: B texts, T words, E width of what comes in, H width of the states.
"""

import importlib
import inspect
import os
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from heedful.attention.choices import SCORES
from heedful.errors import UserError
from heedful.models.settings import ALLOWED, ENCODERS

if TYPE_CHECKING:
    from heedful.models.settings import ModelSettings


def take_part(part: Any, name: str | None = None) -> str:
    """Make a class of the user's known under its name, or the one it was saved by; given for the settings."""
    if not (isinstance(part, type) and issubclass(part, nn.Module)):
        raise UserError(f"A part of your own is a class of torch.nn.Module, but this is {part!r}.")
    name = name or f"{part.__module__}:{part.__qualname__}"
    SCORES[name] = lambda hidden, *, scale=None, init=None: OwnScore(part, hidden, scale=scale)
    ENCODERS[name] = lambda settings, width: OwnEncoder(part, width, settings)
    return name


def allow_module(module: str) -> None:
    """Let parts be imported from this module, here and in worker processes; the folder of work counts too."""
    if not module:
        raise UserError("A module that is allowed needs a name: --allow-module MODULE.")
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        raise UserError(f"The module {module!r} that is allowed cannot be imported: {error}.") from None
    known = [name for name in os.environ.get(ALLOWED, "").split(os.pathsep) if name]
    os.environ[ALLOWED] = os.pathsep.join(dict.fromkeys([*known, module]))
    for part in vars(found).values():
        if isinstance(part, type) and issubclass(part, nn.Module) and part.__module__ == module:
            take_part(part)


def allow_inherited() -> None:
    """In a worker process: allow what the process that started it allowed."""
    for module in os.environ.get(ALLOWED, "").split(os.pathsep):
        if module:
            allow_module(module)


class OwnScore(nn.Module):
    """A score of the user's, checked; divided by λ where one is set."""

    takes_mask: bool

    def __init__(self, part: type[nn.Module], hidden: int, *, scale: float | None = None) -> None:
        super().__init__()
        self.part = _made(part, hidden)
        self.scale = scale
        self.takes_mask = len(inspect.signature(self.part.forward).parameters) > 1
        self.mixes_tokens = bool(getattr(self.part, "mixes_tokens", True))

    def forward(self, states: Tensor, mask: Tensor | None = None) -> Tensor:
        """Turn states (B,T,H) into scores (B,T); without a mask every token is real."""
        mask = torch.ones(states.shape[:2], dtype=torch.bool, device=states.device) if mask is None else mask
        scores: Tensor = self.part(states, mask) if self.takes_mask else self.part(states)
        _check(self.part, scores, states.shape[:2], "scores (B,T)")
        return scores if self.scale is None else scores / self.scale


class OwnEncoder(nn.Module):
    """An encoder of the user's, checked; its width is the one it says, or the one it is seen to give."""

    def __init__(self, part: type[nn.Module], width: int, settings: "ModelSettings") -> None:
        super().__init__()
        takes = inspect.signature(part).parameters
        self.part = _made(part, width, **({"hidden": settings.hidden} if "hidden" in takes else {}))
        self.mixes_tokens = bool(getattr(self.part, "mixes_tokens", True))
        with torch.no_grad():
            seen = self.part(torch.zeros(1, 2, width), torch.ones(1, 2, dtype=torch.bool))
        if not isinstance(seen, Tensor) or seen.dim() != 3:
            raise _wrong(self.part, seen, "states (B,T,H)")
        self.width = int(seen.shape[-1])

    def forward(self, embedded: Tensor, mask: Tensor) -> Tensor:
        """Turn words (B,T,E) into states (B,T,H)."""
        states: Tensor = self.part(embedded, mask)
        _check(self.part, states, (*embedded.shape[:2], self.width), "states (B,T,H)")
        return states


def _made(part: type[nn.Module], width: int, **more: Any) -> nn.Module:
    try:
        return part(width, **more)
    except TypeError as error:
        raise UserError(
            f"{part.__qualname__} must be made from one width, as {part.__qualname__}({width}): {error}."
        ) from None


def _check(part: nn.Module, given: Any, shape: tuple[int, ...], what: str) -> None:
    if not isinstance(given, Tensor) or tuple(given.shape) != tuple(shape):
        raise _wrong(part, given, f"{what} of the shape {tuple(shape)}")


def _wrong(part: nn.Module, given: Any, what: str) -> UserError:
    came = tuple(given.shape) if isinstance(given, Tensor) else type(given).__name__
    return UserError(f"{type(part).__qualname__} must give {what}, but gave {came}.")
