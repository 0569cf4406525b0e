"""Measurements that start processes of their own: a grid over workers, and the memory of a training."""

import pytest

from heedful.bench.grid import measure_grid
from heedful.bench.memory import measure_memory
from heedful.errors import UserError


@pytest.mark.slow
def test_a_grid_has_the_same_results_with_two_workers_as_with_one():
    speed = measure_grid("data-1", model="dp", scales=(1, 10), seeds=(3,), epochs=1)
    assert speed.cells == 2
    assert speed.workers == 2
    assert speed.equal
    assert speed.most_apart == 0
    assert speed.ratio == speed.seconds_one / speed.seconds_several > 0


@pytest.mark.slow
def test_the_memory_of_a_training_is_that_of_its_own_process():
    held = b"\1" * 1_000_000_000  # by this process, which must not count
    memory = measure_memory("data-1", epochs=1)
    assert len(held) == 1_000_000_000
    assert 100_000_000 < memory.start_bytes < memory.peak_bytes < 1_000_000_000
    assert memory.seconds > 0


@pytest.mark.slow
def test_a_training_that_fails_is_said_and_not_measured():
    with pytest.raises(UserError, match="no model or preset 'dq'"):
        measure_memory("data-1", model="dq")
