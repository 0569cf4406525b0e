"""Which way leads into a network, and which position decides: tried on a few texts, never guessed.

A way is trusted when, on texts of three lengths, the network gives the same logits through it; every
attention that the network shows is called; its own weights put back change nothing; and in one of them there
is a piece that, erased from every call, moves the logits of that pass by more than rounding. A text whose
pieces are all unknown to a tokenizer may have the same value everywhere, and then none moves anything.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch
from torch import Tensor, nn

from heedful.models.transformers.interface import AttentionInterfaceWay
from heedful.models.transformers.network import Runner
from heedful.models.transformers.softmax import CaughtSoftmaxWay
from heedful.models.transformers.tapping import Call, Way, kernel_of

Inputs = Mapping[str, Tensor]
Position = Literal["first", "last", "all", "other"]
SAME = 1e-4  # how far logits may differ, relative to the largest, and still be the same
ROUNDING = 2e-6  # how far one kernel's own rounding moves logits, relative to the largest
WAYS: tuple[Way, ...] = (AttentionInterfaceWay(), CaughtSoftmaxWay())
LOOK = "output_attentions"
_INSTALLED = "_output_capturing_hooks_installed"  # what transformers writes on a network that it has hooked


class Untrusted(Exception):  # noqa: N818  (it reads as what is the matter)
    """Why a way into a network is not trusted."""


@dataclass(frozen=True)
class Entry:
    """The way into a network."""

    way: Way
    calls: int  # attentions in a pass
    position: Position


def find_entry(runner: Runner, probes: Sequence[Inputs]) -> tuple[Entry | None, dict[str, str]]:
    """The first way that is trusted, and why those before it are not."""
    reasons: dict[str, str] = {}
    for way in WAYS:
        try:
            found = [_probe(runner, way, inputs) for inputs in probes]
            calls = {count for count, _ in found}
            if not any(moves for _, moves in found):
                raise Untrusted("erasing a piece moves nothing")
            if len(calls) > 1:
                raise Untrusted("texts of other lengths have other numbers of attentions")
            (count,) = calls
            return Entry(way, count, find_position(runner, way, count, probes)), reasons
        except Untrusted as reason:
            reasons[way.name] = str(reason)
        # A foreign network may fail with anything when it is led another way; that is an answer too.
        except Exception as fault:  # noqa: BLE001
            reasons[way.name] = f"{type(fault).__name__}: {(str(fault).splitlines() or [''])[0][:120]}"
    return None, reasons


@torch.no_grad()
def _probe(runner: Runner, way: Way, inputs: Inputs) -> tuple[int, bool]:
    """The number of attentions in a pass, and whether erasing moves anything; a way that changes what is read
    is refused."""
    plain = runner(inputs).logits
    batch, length = inputs["input_ids"].shape
    seen: list[Tensor] = []

    def look(call: Call) -> None:
        seen.append(call.weights)

    with way.tapped(runner.network, look):
        _refuse_moved(runner(inputs).logits, plain, "looking changes the logits")
    if not seen:
        raise Untrusted("no attention was seen")
    if any(weights.dim() != 4 or len(weights) != batch for weights in seen):
        raise Untrusted("attention has another shape than texts × heads × positions × positions")
    if seen[-1].shape[-1] != length:
        raise Untrusted("the last attention is not over the pieces of the text")
    shown = len(shown_attentions(runner, inputs))
    if shown > len(seen):
        raise Untrusted(f"{len(seen)} attentions were seen of the {shown} that the network shows")

    with way.tapped(runner.network, lambda call: call.weights):
        own = runner(inputs).logits
    _refuse_moved(own, plain, "its own weights put back change the logits")

    # Read by the same kernel, so that what two kernels round otherwise is not taken for what erasing does.
    rounding = ROUNDING * float(own.abs().max())
    # A confident model may not feel one piece more or less, so others are tried.
    for place in (length // 2, *range(length)):
        with way.tapped(runner.network, partial(_without, place, length)):
            if bool(((runner(inputs).logits - own).abs() > rounding).any()):
                return len(seen), True
    return len(seen), False


def _without(place: int, length: int, call: Call) -> Tensor:
    over_pieces = call.weights.shape[-1] == length
    return erase_key(call.weights, place) if over_pieces else call.weights


def find_position(runner: Runner, way: Way, calls: int, probes: Sequence[Inputs]) -> Position:
    """Whose row of the last attention reaches the logits, by the gradient with respect to its weights."""
    rows = [_deciding(runner, way, calls, inputs) for inputs in probes]
    patterns: dict[Position, list[Tensor]] = {
        "first": [torch.arange(len(row)) == 0 for row in rows],
        "last": [torch.arange(len(row)) == len(row) - 1 for row in rows],
        "all": [torch.ones(len(row), dtype=torch.bool) for row in rows],
    }
    for position, pattern in patterns.items():
        if all(torch.equal(row, one) for row, one in zip(rows, pattern, strict=True)):
            return position
    return "other"


def _deciding(runner: Runner, way: Way, calls: int, inputs: Inputs) -> Tensor:
    """Which rows (L,) of the last attention have a gradient."""
    kept: list[Tensor] = []

    def keep(call: Call) -> Tensor | None:
        if call.number != calls - 1:
            return None
        kept.append(call.weights.detach().requires_grad_())
        return kept[-1]

    with torch.enable_grad(), way.tapped(runner.network, keep):
        logits = runner(inputs).logits
        told = (logits * torch.linspace(1, 2, logits.shape[-1]).to(logits)).sum()
        (slope,) = torch.autograd.grad(told, kept[0])
    reach = slope.abs().amax((0, 1, 3))
    return (reach > 1e-7 * reach.max()).cpu()


def shown_attentions(runner: Runner, inputs: Inputs) -> list[Tensor]:
    """The attentions (B,R,L,L) that the network itself gives, the last one last; none if it does not."""
    try:
        with kernel_of(runner.network, "eager"), _no_hooks_left(runner.network):
            read = runner(inputs, output_attentions=True)
    except (TypeError, ValueError, RuntimeError, AttributeError, KeyError, IndexError):
        return []
    names = ("encoder_attentions", "decoder_attentions", "cross_attentions", "attentions")
    return [
        weights
        for name in names
        for weights in (getattr(read, name, None) or ())
        if isinstance(weights, Tensor) and weights.dim() == 4
    ]


@contextmanager
def _no_hooks_left(network: nn.Module) -> Iterator[None]:
    """Take away what transformers hooks into a network that is asked for attention, and would leave there."""
    parts = list(network.modules())
    before = [(set(part._forward_hooks), _INSTALLED in vars(part)) for part in parts]
    try:
        yield
    finally:
        for part, (hooks, installed) in zip(parts, before, strict=True):
            for added in set(part._forward_hooks) - hooks:
                del part._forward_hooks[added]
            if not installed:
                vars(part).pop(_INSTALLED, None)


def erase_key(weights: Tensor, key: int) -> Tensor:
    """Weights (...,L) without one position, renormalised; a row without weight left becomes 0."""
    left = weights.clone()
    left[..., key] = 0
    total = left.sum(-1, keepdim=True)
    return torch.where(total > 0, left / total.where(total > 0, 1), 0)


def _refuse_moved(logits: Tensor, plain: Tensor, fault: str) -> None:
    if not same_logits(logits, plain):
        raise Untrusted(fault)


def same_logits(logits: Tensor, plain: Tensor) -> bool:
    """Whether logits are the same but for rounding."""
    allowed = SAME * max(1.0, float(plain.abs().max()))
    return bool((logits - plain).abs().max() <= allowed)
