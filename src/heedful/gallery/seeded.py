"""Chance by seed: a block in which torch draws from a seed, and which leaves torch's own generator alone."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Parameters, batches and dropout of the block are drawn from the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
