"""The last layer by itself: what its attention saw at the deciding position, and the rest of the network.

Only one row of the last attention reaches the decision, so a `Trace` of it is exact: its weights in R heads,
the values, and as the head all that comes after. The network is run again for that, with what stood before
the last layer put in its place:

- `LastLayer.from_attended` runs the deciding position alone, as a text of one piece: what its attention gives
  is put in, and everything around attention works on positions one by one. This costs one piece of one layer.
- `LastLayer.from_weights` runs the last layer on the whole text, with the row's weights put in. This serves
  where values are not seen, or where a layer does more than attend. Here a trace's values are the unit
  vectors, so that what is attended is the weights themselves.
- `LastLayer.logits` reads a text that nobody wants a trace of: the pass ends at the deciding row of the last
  attention, and the rest is run for that row alone. All other rows of the last layer are saved.

None is trusted before it has given the network's own logits; the first two also under other weights.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from heedful.models.transformers.interface import AttentionInterfaceWay, Reached, Row
from heedful.models.transformers.network import Runner
from heedful.models.transformers.probing import Entry, Inputs
from heedful.models.transformers.tapping import SWITCHING, Call

PIECES = 8192  # run at once by a head
ROUNDING = 2e-6  # of logits, relative to the largest
Some = TypeVar("Some")


@dataclass(frozen=True, eq=False)
class Seen:
    """What the last layer saw of G texts of equal length, at the deciding position."""

    weights: Tensor  # (G,R,L)
    values: Tensor | None  # (G,R,L,D)
    states: Tensor  # (G,L',H) what came into the layer, at every position
    before: tuple[Tensor, ...] = ()  # what attentions before the last one gave in the same layer (G,R,D)

    @property
    def bytes(self) -> int:
        held = (self.weights, self.states, *self.before, *(() if self.values is None else (self.values,)))
        return sum(one.nbytes for one in held)

    def each(self) -> "list[Seen]":
        """The texts one by one, in memory of their own."""
        return [
            Seen(
                self.weights[row, None].clone(),
                None if self.values is None else self.values[row, None].clone(),
                self.states[row, None].clone(),
                tuple(one[row, None].clone() for one in self.before),
            )
            for row in range(len(self.weights))
        ]

    @staticmethod
    def together(texts: "Sequence[Seen]") -> "Seen":
        """Texts of equal length that were seen before."""
        values = [one.values for one in texts if one.values is not None]
        return Seen(
            torch.cat([one.weights for one in texts]),
            torch.cat(values) if values else None,
            torch.cat([one.states for one in texts]),
            tuple(torch.cat(parts) for parts in zip(*(one.before for one in texts), strict=True)),
        )


@dataclass(frozen=True, eq=False)
class Layer:
    """The module that holds the last attention, and where in a pass it is called for it."""

    module: nn.Module
    call: int  # the last attention happens in this call of the module in a pass, from 0
    inner: tuple[int, ...]  # numbers of other attentions within that call
    skipped: tuple[tuple[nn.Module, int | None], ...] = ()  # layers before, that need not be run, and how
    # many things each gives: None for a tensor by itself, else the length of a tuple
    missed: int = 0  # attentions that are not called when those are not run


def find_layer(runner: Runner, entry: Entry, inputs: Inputs) -> Layer:
    """The innermost entry of a list of layers within which the last attention is called."""
    network = runner.network
    lists = [part for part in network.modules() if isinstance(part, nn.ModuleList)]
    members = {id(one): one for part in lists for one in part if not isinstance(one, nn.ModuleList)}
    running: list[tuple[nn.Module, int]] = []
    counts: dict[int, int] = dict.fromkeys(members, 0)
    stacks: list[list[tuple[nn.Module, int]]] = []
    gave: dict[int, int | None] = {}

    def enter(module: nn.Module, args: Any) -> None:
        running.append((module, counts[id(module)]))
        counts[id(module)] += 1

    def leave(module: nn.Module, args: Any, output: Any) -> None:
        running.pop()
        if isinstance(output, Tensor):
            gave[id(module)] = None
        elif isinstance(output, tuple) and all(one is None for one in output[1:]):
            gave[id(module)] = len(output)

    with ExitStack() as stack, torch.no_grad():
        for one in members.values():
            stack.callback(one.register_forward_pre_hook(enter).remove)
            stack.callback(one.register_forward_hook(leave).remove)
        stack.enter_context(entry.way.tapped(network, lambda call: stacks.append(list(running))))
        runner(inputs)
    if not stacks[-1]:
        raise LookupError("its attention is in no list of layers")
    module, number = stacks[-1][-1]
    inner = tuple(call for call, held in enumerate(stacks[:-1]) if (module, number) in held)
    outer = stacks[-1][0][0]
    siblings = next(list(part) for part in lists if any(one is outer for one in part))
    before = siblings[: next(place for place, one in enumerate(siblings) if one is outer)]
    plain = [one for one in before if counts[id(one)] == 1 and id(one) in gave]
    missed = sum(any(one is two for one, _ in held for two in plain) for held in stacks)
    return Layer(module, number, inner, tuple((one, gave[id(one)]) for one in plain), missed)


class LastLayer:
    """Reads and runs the last layer of a network; made by `find_last_layer`."""

    def __init__(self, runner: Runner, entry: Entry, layer: Layer, *, one_row: bool) -> None:
        self.runner, self.entry, self.layer, self.one_row = runner, entry, layer, one_row
        self.row = 0 if entry.position == "first" else -1
        self.gives_logits = False  # whether `logits` has proved to give those of the whole network

    def by(self, runner: Runner) -> "LastLayer":
        """The same layer of the same network, for another decision."""
        other = copy(self)
        other.runner = runner
        return other

    @torch.no_grad()
    def see(self, inputs: Inputs) -> Seen:
        """One pass over texts of equal length."""
        kept: dict[str, Any] = {"before": []}
        last = self.entry.calls - 1

        def look(call: Call) -> None:
            if call.number in self.layer.inner and call.values is not None:
                kept["before"].append((call.weights[:, :, self.row, None] @ call.values)[:, :, 0])
            if call.number == last:
                kept["weights"], kept["values"] = call.weights[:, :, self.row], call.values

        def keep(states: Tensor) -> Tensor:
            kept["states"] = states
            return states

        with self._put(keep), self.entry.way.tapped(self.runner.network, look):
            self.runner(inputs)
        return Seen(kept["weights"], kept["values"], kept["states"], tuple(kept["before"]))

    def logits(self, texts: Sequence[Inputs]) -> Tensor:
        """The logits (N,K) of texts in groups of equal length, group after group.

        Of the last layer the deciding row alone is computed, for all of them at once.
        """
        assert isinstance(self.entry.way, AttentionInterfaceWay)
        asked = Row(self.entry.calls - 1, self.layer.inner, self.row)
        states: list[Tensor] = []

        def keep(given: Tensor) -> Tensor:
            states.append(given[:, self.row])
            return given

        with SWITCHING:
            with self.entry.way.until(self.runner.network, asked, fused=self.runner.attends == "sdpa"):
                for inputs in texts:
                    with self._put(keep), suppress(Reached):
                        self.runner(inputs)
            inner = len(self.layer.inner)
            before = [torch.cat(asked.before[place::inner]) for place in range(inner)]
            return self.from_attended(
                torch.cat(asked.attended), torch.cat(states), before, self.dummy(texts[0])
            )

    def dummy(self, inputs: Inputs) -> dict[str, Tensor]:
        """A text of one piece (1,1), the one at the deciding position of the first of these texts."""
        place = self.row % inputs["input_ids"].shape[1]
        return {name: values[:1, place : place + 1] for name, values in inputs.items()}

    def from_attended(
        self, attended: Tensor, state: Tensor, before: Sequence[Tensor], dummy: Inputs
    ) -> Tensor:
        """The logits (N,K) of attended vectors (N,R,D) at the deciding position, whose state is (N,H)."""
        assert isinstance(self.entry.way, AttentionInterfaceWay)
        numbers = (self.entry.calls - 1, *self.layer.inner)
        given: dict[int, Tensor] = {}

        def instead(number: int) -> Tensor | None:
            found = given.get(number + self.layer.missed)
            return None if found is None else found[:, None]

        found = []
        with self._skipping(), self.entry.way.tapped(self.runner.network, instead=instead):
            for own, *some in zip(*(one.split(PIECES) for one in (state, attended, *before)), strict=True):
                given |= zip(numbers, some, strict=True)
                with self._put(lambda _, own=own: own[:, None]):
                    inputs = {name: values.expand(len(own), -1) for name, values in dummy.items()}
                    found.append(self.runner(inputs).logits)
        return torch.cat(found)

    def from_weights(self, weights: Tensor, states: Tensor, inputs: Inputs) -> Tensor:
        """The logits (N,K) of weights (N,R,L) at the deciding position, of texts whose states are (N,L,H)."""
        last = self.entry.calls - 1

        def put(call: Call) -> Tensor | None:
            if call.number + self.layer.missed != last:
                return None
            rows = torch.arange(call.weights.shape[2], device=weights.device)
            chosen = (rows == self.row % len(rows))[:, None]
            return torch.where(chosen, weights[:, :, None].to(call.weights.dtype), call.weights)

        with self._skipping(), self._put(lambda _: states), self.entry.way.tapped(self.runner.network, put):
            logits: Tensor = self.runner(inputs).logits
            return logits

    @contextmanager
    def _put(self, change: Any) -> Iterator[None]:
        """Give the layer other states, made of its own, in the call that matters."""
        calls = 0

        def enter(module: nn.Module, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict]:
            nonlocal calls
            number, calls = calls, calls + 1
            if number != self.layer.call:
                return args, kwargs
            if args:
                return (change(args[0]), *args[1:]), kwargs
            return args, {**kwargs, "hidden_states": change(kwargs["hidden_states"])}

        hook = self.layer.module.register_forward_pre_hook(enter, with_kwargs=True)
        try:
            yield
        finally:
            hook.remove()

    @contextmanager
    def _skipping(self) -> Iterator[None]:
        """Run nothing of the layers before: what they give would be thrown away."""
        # Somebody may have put a forward of his own on a layer, as accelerate does to spread a model out.
        own = [
            (module, vars(module)["forward"]) for module, _ in self.layer.skipped if "forward" in vars(module)
        ]
        try:
            for module, count in self.layer.skipped:
                module.forward = partial(_passing, count)  # on this object alone
            yield
        finally:
            for module, _ in self.layer.skipped:
                vars(module).pop("forward", None)
            for module, forward in own:
                module.forward = forward


def _passing(count: int | None, *args: Any, **kwargs: Any) -> Any:
    states = args[0] if args else kwargs["hidden_states"]
    return states if count is None else (states, *[None] * (count - 1))


def find_last_layer(runner: Runner, entry: Entry, probes: Sequence[Inputs]) -> LastLayer:
    """The last layer by itself, in the fastest way that is exact on the probes; LookupError says why not."""
    if entry.position not in ("first", "last"):
        raise LookupError("more than one position of its last attention decides")
    layer = find_layer(runner, entry, probes[0])
    rows = (True, False) if entry.way.sees_values else (False,)
    ways = [LastLayer(runner, entry, one, one_row=row) for row in rows for one in _fewer(layer)]
    for one in ways:
        if _holds(_exact_on, one, probes):
            # All together: a last layer that looks at the ids would take those of the first for all texts.
            one.gives_logits = one.one_row and _holds(_same_logits_on, one, [probes])
            return one
    raise LookupError("its last layer, run by itself, does not give the logits of the whole network")


def _fewer(layer: Layer) -> list[Layer]:
    """The layer with those before it skipped, and with all of them run."""
    return [layer, replace(layer, skipped=(), missed=0)] if layer.skipped else [layer]


@torch.no_grad()
def _holds(check: Callable[[LastLayer, Some], bool], last: LastLayer, probes: Sequence[Some]) -> bool:
    try:
        return all(check(last, some) for some in probes)
    # Families fail in their own ways when a part is run by itself.
    except (RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError, AssertionError):
        return False


def _same_logits_on(last: LastLayer, texts: Sequence[Inputs]) -> bool:
    """Whether a pass that ends at the deciding row gives the logits of a whole one."""
    if last.runner.attends not in ("eager", "sdpa"):
        return False
    plain = torch.cat([last.runner.logits(inputs) for inputs in texts])
    return bool((last.logits(texts) - plain).abs().max() <= ROUNDING * max(1.0, float(plain.abs().max())))


def _exact_on(last: LastLayer, inputs: Inputs) -> bool:
    """Whether the last layer by itself gives what the whole network gives, also under other weights."""
    seen = last.see(inputs)
    runner, network = last.runner, last.runner.network
    noise = torch.randn(seen.weights.shape, generator=torch.Generator().manual_seed(0)).to(seen.weights)
    other = (seen.weights.clamp(min=1e-30).log() + noise).softmax(-1)

    def put(call: Call) -> Tensor | None:
        if call.number != last.entry.calls - 1:
            return None
        changed = call.weights.clone()
        changed[:, :, last.row] = other
        return changed

    with last.entry.way.tapped(network, put):
        expected = runner(inputs).logits
    plain = runner(inputs).logits
    # Rounding is allowed, and a fiftieth of what other weights do to the logits.
    allowed = ROUNDING * max(1.0, float(plain.abs().max())) + float((expected - plain).abs().max()) / 50
    for weights, logits in ((seen.weights, plain), (other, expected)):
        if last.one_row:
            assert seen.values is not None
            attended = (weights[:, :, None] @ seen.values)[:, :, 0]
            found = last.from_attended(attended, seen.states[:, last.row], seen.before, last.dummy(inputs))
        else:
            found = last.from_weights(weights, seen.states, inputs)
        if not (found - logits).abs().max() <= allowed:
            return False
    return True
