"""Figures of several seeds: the mean, and a bar from the lowest to the highest."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from heedful.gallery.over_seeds import mean_and_bar


def test_the_bar_goes_from_the_lowest_seed_to_the_highest():
    mean, bar = mean_and_bar([[1.0, 5.0], [2.0, 5.0], [6.0, 8.0]])
    np.testing.assert_allclose(mean, [3, 6])
    np.testing.assert_allclose(mean - bar[0], [1, 5])
    np.testing.assert_allclose(mean + bar[1], [6, 8])


@pytest.mark.parametrize("value", [23 / 1859, 27 / 1859])
def test_seeds_that_agree_can_be_drawn_whatever_rounding_makes_of_their_mean(value):
    seeds = np.array([[value]] * 3)
    assert seeds.mean(0) != value  # else this would show nothing
    mean, bar = mean_and_bar(seeds)
    Figure().subplots().bar(["of three"], mean, yerr=bar)
