"""How fast erasure is, beside the loops that it replaces: ratios of one run, taking turns, on one thread.

The usual loop erases one item, renormalises, and runs the weighted sum and the head for all instances that
have not flipped, until none is left. The lean one does a step for all instances in one `bmm`, with no copies.
A loop's time depends on when the last instance flips, so trace and head are fixed by the seed; the usual
loop's also on when the others flip, so that it may beat the lean one. Both are reported. With one thread the
processor's time is what counts: waiting for a turn on a busy machine is nobody's fault, and hits long runs
most.

Axes: B instances, T slots, H width, K classes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from time import process_time
from unittest import mock

import torch
from torch import Tensor, nn

from heedful.bench.found import Found, Table, numbers_of
from heedful.bench.timing import take_turns
from heedful.errors import MissingExtra
from heedful.models.trace import Trace, decisions
from heedful.training.devices import one_thread
from heedful.trials import compiled
from heedful.trials.erasure.erased import leave_one_out
from heedful.trials.erasure.flips import flip_sizes
from heedful.trials.erasure.smallest import smallest_flips
from heedful.trials.rankings.layer_rankings import order_of

RANKINGS = ("attention", "gradient", "product", "signed", "random")


@dataclass(frozen=True)
class FlipTimes:
    """The least seconds of each way to find the flip sizes of one ranking, and whether all found the same."""

    instances: int
    longest: int
    steps: int  # of the loops: how many items went before the last instance flipped
    usual: float
    lean: float
    ours: float
    uncompiled: float  # ours without numba
    one_ranking: float  # ours with the sorting of the ranking
    five_and_minimum: float  # five rankings, and the exact smallest sets
    differing: int  # instances on which any two ways differ

    @property
    def times_lean(self) -> float:
        """How many times as fast as the lean loop."""
        return self.lean / self.ours

    @property
    def times_usual(self) -> float:
        """How many times as fast as the usual loop."""
        return self.usual / self.ours

    @property
    def uncompiled_times_lean(self) -> float:
        """How many times as fast as the lean loop without numba."""
        return self.lean / self.uncompiled

    @property
    def whole_to_one(self) -> float:
        """Five rankings and the exact minimum, in units of one ranking."""
        return self.five_and_minimum / self.one_ranking


@dataclass(frozen=True)
class Growth:
    """The least seconds of one ranking and the exact minimum at each length, which doubles."""

    lengths: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """The last over the first."""
        return self.seconds[-1] / self.seconds[0]


@dataclass(frozen=True)
class LeaveOneOutTimes:
    """The least seconds for all single erasures at the layer, and how far the two results differ."""

    ours: float
    captum: float
    largest_difference: float

    @property
    def ratio(self) -> float:
        """How many times as fast as Captum."""
        return self.captum / self.ours


def random_trace(
    *,
    instances: int = 500,
    shortest: int = 150,
    longest: int = 400,
    width: int = 100,
    classes: int = 10,
    seed: int = 0,
) -> Trace:
    """Seeded texts whose tokens share some of what their text says, as an encoder makes them."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    lengths = torch.randint(shortest, longest + 1, (instances, 1), generator=generator)
    mask = torch.arange(longest) < lengths
    weights = (1.5 * normal(instances, longest)).masked_fill(~mask, -torch.inf).softmax(-1)
    values = normal(instances, longest, width) + 0.5 * normal(instances, 1, width)
    head = nn.Linear(width, classes)
    with torch.no_grad():
        head.weight.copy_(normal(classes, width) / width**0.5)
        head.bias.copy_(0.1 * normal(classes))
    return Trace(weights, values, mask, head.eval().requires_grad_(False))


def usual_loop(trace: Trace, order: Tensor, *, tick: Callable[[], None] = lambda: None) -> Tensor:
    """Flip sizes by the usual loop: at each step, after which it ticks, only what has not flipped."""
    sizes = torch.full((len(trace),), -1)
    counts, decided = trace.item_counts, decisions(trace.logits())
    weights, values = trace.weights.clone(), trace.values
    rows = torch.arange(len(trace))
    for gone in range(1, order.shape[1] + 1):
        weights[torch.arange(len(rows)), order[rows, gone - 1]] = 0
        total = weights.sum(1, keepdim=True)
        attended = (torch.where(total > 0, weights / total, 0)[..., None] * values).sum(1)
        flipped = decisions(trace.head(attended)) != decided[rows]
        sizes[rows[flipped]] = gone
        stay = ~flipped & (counts[rows] > gone)
        if not stay.all():
            rows, weights, values = rows[stay], weights[stay], values[stay]
        tick()
        if not len(rows):
            break
    return sizes


def lean_loop(trace: Trace, order: Tensor, *, tick: Callable[[], None] = lambda: None) -> Tensor:
    """Flip sizes by one `bmm` a step over all instances; it ticks after each."""
    sizes = torch.full((len(trace),), -1)
    counts, decided = trace.item_counts, decisions(trace.logits())
    weights, rows = trace.weights.clone(), torch.arange(len(trace))
    for gone in range(1, order.shape[1] + 1):
        weights[rows, order[:, gone - 1]] = 0
        total = weights.sum(1, keepdim=True).clamp(min=torch.finfo(weights.dtype).tiny)
        attended = torch.bmm((weights / total)[:, None], trace.values)[:, 0]
        waiting = (sizes < 0) & (counts >= gone)
        sizes[waiting & (decisions(trace.head(attended)) != decided)] = gone
        left = ((sizes < 0) & (counts > gone)).any()
        tick()
        if not left:
            break
    return sizes


def measure_flips(trace: Trace | None = None, *, rounds: int = 5, loop_rounds: int = 3) -> FlipTimes:
    """Time one ranking by the loops and by ours; then five rankings and the exact minimum.

    A loop takes seconds, ours milliseconds, which find a quiet moment more easily. So that the loops are not
    wronged, each of their steps is timed, and its least time over the rounds counts.
    """
    trace = random_trace() if trace is None else trace
    order = order_of("attention", trace)
    found: dict[str, Tensor] = {}

    def keep(name: str, way: Callable[[], Tensor]) -> Callable[[], None]:
        def run() -> None:
            found[name] = way()

        return run

    def without_numba() -> Tensor:
        with mock.patch.object(compiled, "LEAST", float("inf")):
            return flip_sizes(_fresh(trace), order)

    def everything() -> None:
        _fresh(trace)
        for name in RANKINGS:
            flip_sizes(trace, order_of(name, trace))
        smallest_flips(trace)

    quick = {
        "ours": keep("ours", lambda: flip_sizes(_fresh(trace), order)),
        "uncompiled": keep("uncompiled", without_numba),
        "one_ranking": keep("one_ranking", lambda: flip_sizes(trace, order_of("attention", _fresh(trace)))),
        "five_and_minimum": everything,
    }
    steps: dict[str, list[float]] = {}
    with one_thread(), torch.no_grad():
        everything()  # compiles
        times = take_turns(quick, rounds=rounds, clock=process_time)
        for _ in range(loop_rounds):
            for name, loop in (("usual", usual_loop), ("lean", lean_loop)):
                found[name], seconds = _by_step(loop, trace, order)
                steps[name] = [min(pair) for pair in zip(seconds, steps.get(name, seconds), strict=True)]
                again = take_turns(quick, rounds=rounds, clock=process_time)
                times = {name: min(seconds, again[name]) for name, seconds in times.items()}
    sizes = torch.stack(list(found.values()))
    differing = int((sizes != sizes[0]).any(0).sum())
    times |= {name: sum(seconds) for name, seconds in steps.items()}
    return FlipTimes(
        len(trace), int(trace.item_counts.max()), len(steps["lean"]), differing=differing, **times
    )


def measure_growth(lengths: tuple[int, ...] = (500, 1000, 2000, 4000, 8000), *, rounds: int = 5) -> Growth:
    """Time one ranking and the exact minimum on texts of each length."""
    traces = {length: random_trace(instances=16, shortest=length, longest=length) for length in lengths}

    def run(trace: Trace) -> None:
        flip_sizes(trace, order_of("attention", _fresh(trace)))
        smallest_flips(trace)

    with one_thread(), torch.no_grad(), mock.patch.object(compiled, "LEAST", 0):  # one way at all lengths
        run(traces[lengths[0]])  # compiles
        ways = {str(length): (lambda trace=trace: run(trace)) for length, trace in traces.items()}
        times = take_turns(ways, rounds=rounds, clock=process_time)
    return Growth(tuple(lengths), tuple(times[str(length)] for length in lengths))


def measure_leave_one_out(trace: Trace | None = None, *, rounds: int = 3) -> LeaveOneOutTimes:
    """Time all single erasures at the layer: ours, and Captum's FeatureAblation of the same weights."""
    try:
        from captum.attr import FeatureAblation
    except ModuleNotFoundError:
        raise MissingExtra("The comparison with Captum", "peers") from None
    trace = random_trace() if trace is None else trace

    def renormalised(weights: Tensor) -> Tensor:
        total = weights.sum(1, keepdim=True).clamp(min=torch.finfo(weights.dtype).tiny)
        return trace.logits(weights / total)

    found: dict[str, Tensor] = {}

    def ours() -> None:
        found["ours"] = leave_one_out(_fresh(trace))

    def captum() -> None:
        found["captum"] = FeatureAblation(renormalised).attribute(trace.weights, target=decided)

    with one_thread(), torch.no_grad():
        before = trace.logits()
        decided = decisions(before)
        ours()  # compiles
        times = take_turns({"ours": ours}, rounds=rounds, clock=process_time)
        both = take_turns({"captum": captum, "ours": ours}, rounds=1, clock=process_time)
        times = {"ours": min(times["ours"], both["ours"]), "captum": both["captum"]}
    each = decided[:, None]
    fell = (
        before.gather(1, each)
        - found["ours"].gather(2, each[..., None].expand(-1, trace.present.shape[1], 1))[..., 0]
    )
    apart = (fell - found["captum"][:, : fell.shape[1]]).abs().where(trace.present, 0)
    return LeaveOneOutTimes(times["ours"], times["captum"], float(apart.max()))


def _by_step(loop: Callable[..., Tensor], trace: Trace, order: Tensor) -> tuple[Tensor, list[float]]:
    """The flip sizes of a loop, and the seconds of each of its steps."""
    ticks = [process_time()]
    sizes = loop(trace, order, tick=lambda: ticks.append(process_time()))
    return sizes, [after - before for before, after in pairwise(ticks)]


def _fresh(trace: Trace) -> Trace:
    """The trace as it was made: what it computed for earlier questions is forgotten."""
    for name in ("token_logits", "present"):
        vars(trace).pop(name, None)
    return trace


def flips(trace: Trace, *, rounds: int, loop_rounds: int) -> Found:
    """Sizes of flips beside loops over erasures."""
    times = measure_flips(trace, rounds=rounds, loop_rounds=loop_rounds)
    ways = {
        "usual loop": times.usual,
        "lean loop": times.lean,
        "heedful without numba": times.uncompiled,
        "heedful": times.ours,
    }
    table = Table(
        f"Flip sizes of one ranking, {times.instances} texts of up to {times.longest} words, "
        f"{times.steps} steps (aim: at least 120 × the lean loop)",
        ["way", "ms", "× the lean loop"],
        [[way, f"{1000 * took:.2f}", f"{times.lean / took:.1f}"] for way, took in ways.items()],
    )
    told = (
        f"Texts on which two ways differ: {times.differing}. Five rankings and the exact minimum take "
        f"{times.whole_to_one:.1f} × one ranking (aim: at most 5)."
    )
    ratios = ("times_lean", "times_usual", "uncompiled_times_lean", "whole_to_one")
    return Found(numbers_of(times, *ratios), (table, told))


def growth(lengths: tuple[int, ...], *, rounds: int) -> Found:
    """How the time grows with the length of the texts."""
    found = measure_growth(lengths, rounds=rounds)
    first = found.seconds[0]
    table = Table(
        "One ranking and the exact minimum (aim: at most 30 × from the first length to 16 times it)",
        ["words of a text", "ms", "× the first", "× the one before"],
        [
            [f"{tokens:,}", f"{1000 * took:.2f}", f"{took / first:.2f}", f"{took / before:.2f}"]
            for tokens, took, before in zip(
                found.lengths, found.seconds, (first, *found.seconds), strict=False
            )
        ],
        left=0,
    )
    return Found(numbers_of(found, "ratio"), (table,))


def left_out(trace: Trace, *, rounds: int) -> Found:
    """Leaving out each word beside Captum."""
    times = measure_leave_one_out(trace, rounds=rounds)
    told = (
        f"Leaving out each word at the layer: {1000 * times.ours:.2f} ms, Captum's FeatureAblation "
        f"{1000 * times.captum:.0f} ms: {times.ratio:.0f} × (aim: at least 50), "
        f"up to {times.largest_difference:.1g} apart."
    )
    return Found(numbers_of(times, "ratio"), (told,))
