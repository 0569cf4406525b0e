"""Timing on a noisy machine: contenders take turns, and the minimum of each counts."""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


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


def clock_of(device: "torch.device") -> Callable[[], float]:
    """The processor's time where it does the work; elsewhere the clock, when what was asked for is done."""
    if device.type == "cpu":
        return time.process_time
    import torch

    def clock() -> float:
        torch.accelerator.synchronize(device)
        return time.perf_counter()

    return clock
