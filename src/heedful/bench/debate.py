"""How fast the debate's two heavy computations are, each beside the ordinary way, as ratios in one run.

Kendall's τ-b of all instances at once beside a loop over `scipy.stats.kendalltau`; the exact adversary beside
the published gradient ascent, batched. One torch thread, least seconds of several rounds.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy import stats
from torch import nn

from heedful.bench.timing import one_thread, take_turns
from heedful.models.trace import Trace
from heedful.trials.adversary import Adversary, exact_adversary
from heedful.trials.ascent import ascent_adversary
from heedful.trials.kendall import kendall


@dataclass(frozen=True)
class TauSpeed:
    """τ-b with p-values of instances of one length: how many times faster than a loop, how far from it."""

    tokens: int
    instances: int
    loop_seconds: float
    seconds: float
    ratio: float
    largest_difference: float


@dataclass(frozen=True)
class AdversarySpeed:
    """The exact adversary beside the ascent on the same trace."""

    instances: int
    mean_tokens: float
    ascent_seconds: float
    seconds: float
    ratio: float
    mean_gain: float  # how much farther the exact weights are, in nats
    least_gain: float  # below 0 (beyond rounding) would be a mistake
    largest_excess: float  # of the exact adversary's change over ε: rounding only


def measure_tau(
    lengths: Sequence[int] = (20, 200, 400), *, instances: int = 1000, rounds: int = 5, seed: int = 0
) -> list[TauSpeed]:
    """Time τ-b and p-values of random scores, a third of them tied, at each length."""
    draw = np.random.default_rng(seed)
    found = []
    for tokens in lengths:
        a, b = draw.random((2, instances, tokens), dtype=np.float32)
        for part in (a, b):
            part[:, : tokens // 3] = part[:, : tokens // 3].round(1)
        first, second, mask = *map(torch.from_numpy, (a, b)), torch.ones(instances, tokens, dtype=torch.bool)
        taus: dict[str, np.ndarray] = {}

        def loop(a: np.ndarray = a, b: np.ndarray = b, taus: dict[str, np.ndarray] = taus) -> None:
            taus["loop"] = np.array([stats.kendalltau(x, y).statistic for x, y in zip(a, b, strict=True)])

        def at_once(scores: tuple = (first, second, mask), taus: dict[str, np.ndarray] = taus) -> None:
            taus["at once"] = kendall(*scores).tau.numpy()

        at_once()  # compiles, or reads what was compiled
        with one_thread():
            seconds = take_turns({"loop": loop, "at once": at_once}, rounds=rounds)
        difference = float(np.abs(taus["loop"] - taus["at once"]).max())
        ratio = seconds["loop"] / seconds["at once"]
        found.append(TauSpeed(tokens, instances, seconds["loop"], seconds["at once"], ratio, difference))
    return found


def measure_adversary(
    trace: Trace,
    epsilon: float = 0.01,
    *,
    restarts: int = 5,
    steps: int = 500,
    rounds: int = 5,
    ascent_rounds: int = 1,
    seed: int = 0,
) -> AdversarySpeed:
    """Time both adversaries on one trace, from its values on. The ascent takes minutes."""
    exact_adversary(trace, epsilon)  # compiles, or reads what was compiled
    with one_thread():
        climbed, ascent_seconds = _least(
            lambda fresh: ascent_adversary(fresh, epsilon, restarts=restarts, steps=steps, seed=seed),
            trace,
            ascent_rounds,
        )
        exact, seconds = _least(lambda fresh: exact_adversary(fresh, epsilon), trace, rounds)
    gain = exact.divergence - climbed.divergence.double()
    return AdversarySpeed(
        instances=len(trace),
        mean_tokens=float(trace.mask.sum(-1).double().mean()),
        ascent_seconds=ascent_seconds,
        seconds=seconds,
        ratio=ascent_seconds / seconds,
        mean_gain=float(gain.mean()),
        least_gain=float(gain.min()),
        largest_excess=float((exact.change - epsilon).max()),
    )


def made_trace(instances: int = 2000, *, width: int = 32, seed: int = 0) -> Trace:
    """A made-up trace with the lengths of short reviews (6 to 400 tokens, about 180 on average)."""
    draw = np.random.default_rng(seed)
    lengths = np.clip(np.exp(draw.normal(5.05, 0.55, size=instances)), 6, 400).astype(int)
    mask = torch.from_numpy(np.arange(lengths.max()) < lengths[:, None])
    scores = torch.from_numpy(draw.normal(0, 1.5, size=mask.shape).astype(np.float32))
    values = torch.from_numpy(draw.standard_normal((*mask.shape, width), dtype=np.float32))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        head = nn.Linear(width, 2).eval()
    return Trace(scores.masked_fill(~mask, -torch.inf).softmax(1), values, mask, head)


def _least(run: Callable[[Trace], Adversary], trace: Trace, rounds: int) -> tuple[Adversary, float]:
    """The last result and the least seconds; each round has a trace that has nothing computed yet."""
    least = float("inf")
    for _ in range(rounds):
        fresh = replace(trace)
        begun = time.perf_counter()
        result = run(fresh)
        least = min(least, time.perf_counter() - begun)
    return result, least
