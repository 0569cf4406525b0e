"""The bench of erasure, on small traces: the ways agree, and its numbers are there. No speed is asserted."""

import pytest
import torch

from heedful.bench.erasure import (
    lean_loop,
    measure_flips,
    measure_growth,
    measure_leave_one_out,
    random_trace,
    usual_loop,
)
from heedful.trials import flip_sizes, order_of


@pytest.fixture(scope="module")
def trace():
    return random_trace(instances=23, shortest=5, longest=17, width=7, classes=3)


def test_the_loops_find_the_flip_sizes(trace):
    order = order_of("attention", trace)
    sizes = flip_sizes(trace, order)
    assert usual_loop(trace, order).tolist() == sizes.tolist()
    steps = []
    assert lean_loop(trace, order, tick=lambda: steps.append(1)).tolist() == sizes.tolist()
    assert len(steps) >= int(sizes.max())


def test_the_bench_gives_times_and_sees_that_all_ways_agree(trace):
    times = measure_flips(trace, rounds=1, loop_rounds=1)
    assert times.differing == 0
    assert min(times.usual, times.lean, times.ours, times.uncompiled, times.five_and_minimum) > 0
    assert times.times_lean == times.lean / times.ours


def test_growth_is_measured_at_each_length():
    growth = measure_growth((8, 16), rounds=1)
    assert growth.lengths == (8, 16)
    assert growth.ratio == growth.seconds[1] / growth.seconds[0]


def test_leave_one_out_is_what_captum_finds(trace):
    pytest.importorskip("captum")
    times = measure_leave_one_out(trace, rounds=1)
    assert times.largest_difference < 1e-5
    assert times.ratio > 0


def test_the_bench_leaves_the_number_of_threads_as_it_was(trace):
    before = torch.get_num_threads()
    measure_growth((8,), rounds=1)
    assert torch.get_num_threads() == before
