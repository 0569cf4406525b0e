"""Timing on a noisy machine: contenders take turns, and the minimum of each counts."""

import time
from collections.abc import Callable, Mapping


def take_turns(
    contenders: Mapping[str, Callable[[], object]],
    *,
    rounds: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """The least seconds each contender needed over the rounds, each round running all of them once.

    With `time.process_time` as the clock, waiting for a turn of the processor does not count.
    """
    least = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, run in contenders.items():
            begun = clock()
            run()
            least[name] = min(least[name], clock() - begun)
    return least
