"""How fast the debate's two heavy computations are, each beside the ordinary way, as ratios in one run.

Kendall's τ-b of all instances at once beside a loop over `scipy.stats.kendalltau`; the exact adversary beside
the published gradient ascent, batched, on test reviews of IMDB under a trained `dp`. One torch thread, least
seconds of several rounds, of the processor: the ascent runs for minutes, and would be hit most by waiting for
a turn on a busy machine.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import stats
from torch import nn

from heedful.bench.found import Found, Table, numbers_of
from heedful.bench.timing import take_turns
from heedful.data.batches import make_batch
from heedful.data.named import is_at_hand, load_data
from heedful.errors import UserError
from heedful.models.trace import Trace
from heedful.training.devices import one_thread
from heedful.training.evaluation import encode_for
from heedful.training.from_corpus import train_run
from heedful.training.presets import prepare
from heedful.trials.agreement.ranks import kendall
from heedful.trials.stream import sample_rows
from heedful.trials.weights.adversary import Adversary, exact_adversary
from heedful.trials.weights.ascent import ascent_adversary

CORPUS, MODEL, EPOCHS = "imdb", "dp", 5
ROUNDING = 1e-6  # nats: the ascent climbs in single precision


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
    """The exact adversary beside the ascent on the same trace, in seconds of the processor."""

    instances: int
    mean_tokens: float
    ascent_seconds: float
    seconds: float
    ratio: float
    mean_gain: float  # how much farther the exact weights are, in nats
    least_gain: float  # below 0 (beyond rounding) would be a mistake
    behind: int  # instances where the ascent got farther by more than rounding: would be a mistake
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
            seconds = take_turns({"loop": loop, "at once": at_once}, rounds=rounds, clock=time.process_time)
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
    advance: Callable[[int], None] | None = None,
) -> AdversarySpeed:
    """Time both adversaries on one trace, from its values on. The ascent takes minutes.

    `advance` is told how many instances have climbed since it was last told.
    """
    exact_adversary(trace, epsilon)  # compiles, or reads what was compiled
    ascent_adversary(trace.take(torch.arange(1)), epsilon, restarts=1, steps=1)  # the optimiser is imported
    climbing = {"restarts": restarts, "steps": steps, "seed": seed}
    found: dict[str, Adversary] = {}

    # Each round has a trace that has nothing computed yet.
    def climb() -> None:
        found["climbed"] = ascent_adversary(replace(trace), epsilon, **climbing, advance=advance)

    def solve() -> None:
        found["exact"] = exact_adversary(replace(trace), epsilon)

    with one_thread():
        ascent_seconds = take_turns({"": climb}, rounds=ascent_rounds, clock=time.process_time)[""]
        seconds = take_turns({"": solve}, rounds=rounds, clock=time.process_time)[""]
    exact = found["exact"]
    gain = exact.divergence - found["climbed"].divergence.double()
    return AdversarySpeed(
        instances=len(trace),
        mean_tokens=float(trace.mask.sum(-1).double().mean()),
        ascent_seconds=ascent_seconds,
        seconds=seconds,
        ratio=ascent_seconds / seconds,
        mean_gain=float(gain.mean()),
        least_gain=float(gain.min()),
        behind=int((gain < -ROUNDING).sum()),
        largest_excess=float((exact.change - epsilon).max()),
    )


def review_trace(
    texts: int = 2000, *, epochs: int = EPOCHS, data_dir: str | Path | None = None, seed: int = 0
) -> Trace:
    """Test reviews of IMDB as a `dp` attends to them that is trained here, for a few epochs."""
    if not is_at_hand(CORPUS, data_dir=data_dir):
        raise UserError(
            f"The adversary is timed on reviews of {CORPUS}, which are not at hand: `heedful data show "
            f"{CORPUS}` says how to get them, --data-dir names their folder, and --made takes made-up texts."
        )
    corpus = load_data(CORPUS, data_dir=data_dir)
    model, training = prepare(MODEL, {"epochs": epochs, "seed": seed})
    trained = train_run(corpus, model=model, training=training).model
    test = corpus.split("test")
    encoded = encode_for(trained, test.take(sample_rows(len(test), texts, seed=seed)))
    return trained.trace(make_batch(encoded, np.arange(len(encoded))))


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


def tau(lengths: Sequence[int], *, instances: int, rounds: int, seed: int) -> Found:
    """Kendall's τ beside a loop over SciPy's."""
    speeds = measure_tau(lengths, instances=instances, rounds=rounds, seed=seed)
    table = Table(
        f"Kendall's τ-b with p-values of {instances:,} texts, beside a loop over scipy.stats.kendalltau "
        "(aims: 100 × at 20 words, 20 × at 200, 8 × at 400)",
        ["words", "loop, ms", "ours, ms", "×", "apart, at most"],
        [
            [
                str(one.tokens),
                f"{1000 * one.loop_seconds:.0f}",
                f"{1000 * one.seconds:.1f}",
                f"{one.ratio:.0f}",
                f"{one.largest_difference:.1g}",
            ]
            for one in speeds
        ],
        left=0,
    )
    return Found([numbers_of(one) for one in speeds], (table,))


def adversary(
    trace: Trace, epsilon: float, *, made: bool, restarts: int, steps: int, **settings: Any
) -> Found:
    """The exact adversary beside gradient ascent; `settings` are those of `measure_adversary`."""
    speed = measure_adversary(trace, epsilon, restarts=restarts, steps=steps, **settings)
    of = "made-up texts" if made else "test reviews of IMDB"
    told = (
        f"The exact adversary on {speed.instances:,} {of}, {speed.mean_tokens:.0f} words on average: "
        f"{speed.seconds:.2f} s, the ascent with {restarts} starts of {steps} steps "
        f"{speed.ascent_seconds:.1f} s: {speed.ratio:.0f} × (aim: at least 150). It goes "
        f"{speed.mean_gain:.3f} nats farther on average ({speed.least_gain:.1g} at the least), is behind "
        f"the ascent on {speed.behind} texts, and over ε by at most {max(speed.largest_excess, 0):.1g}."
    )
    return Found(numbers_of(speed, made=made), (told,))
