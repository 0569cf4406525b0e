"""Recurrent models beside bare cells: the same words, the blocks the cells are given, honest shares."""

import numpy as np
import pytest

from heedful.bench.recurrent import measure_recurrent, padding
from heedful.data.batches import plan_batches
from heedful.data.synthetic import Synthetic, make_synthetic
from heedful.errors import UserError


@pytest.fixture(scope="module")
def corpus():
    return make_synthetic(Synthetic(neutral=23, polar=11, per_class=60, held_out=20), name="small")


@pytest.mark.parametrize("model", ["dp-l", "flan-rnn", "han-rnn"])
def test_a_recurrent_model_is_measured_beside_its_bare_cells(corpus, model):
    speed = measure_recurrent(corpus, model, words=301, rounds=1)
    assert speed.words >= 301
    assert speed.words / speed.batches * (speed.batches - 1) < 301  # no batch more than needed
    assert speed.share == speed.words_per_second / speed.bare_words_per_second > 0
    # All made-up texts have one length and no sentence marks, so nothing is padded anywhere.
    assert speed.batch_padding == speed.cell_padding == 0


def test_a_model_without_recurrent_cells_is_refused(corpus):
    with pytest.raises(UserError, match="recurrent models"):
        measure_recurrent(corpus, "dp", words=1, rounds=1)


def test_padding_is_the_share_of_places_without_a_word():
    lengths = np.array([7, 3, 5])
    assert padding(lengths, [np.array([0, 1]), np.array([2])]) == pytest.approx(4 / 19)


def test_texts_that_are_left_over_do_not_make_a_small_pool_full_of_padding():
    lengths = np.random.default_rng(0).geometric(0.05, 690)
    even = padding(lengths, plan_batches(lengths, size=10, seed=3, pool=69))
    assert padding(lengths, plan_batches(lengths, size=10, seed=3, pool=50)) == pytest.approx(even, rel=0.1)
