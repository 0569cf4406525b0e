"""The ways of leaving out words that are timed against each other give the same."""

import pytest

from heedful.bench.words import measure_leave_one_out, random_texts


@pytest.mark.parametrize("name", ["dp", "flan-conv", "han-noenc"])
def test_all_ways_of_leaving_out_agree(name):
    times = measure_leave_one_out(name, random_texts(texts=7, longest=13), rounds=1, plain=2)
    assert times.largest_difference < 1e-5
    assert (times.closed is not None) == (name == "dp")
    assert min(times.plain, times.by_text, times.ours) > 0
    assert times.texts == 7
