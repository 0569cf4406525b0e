"""A small corpus that a model learns in a moment."""

import pytest

from heedful.data.synthetic import Synthetic, make_synthetic


@pytest.fixture(scope="session")
def small_corpus():
    """Two classes whose polar words decide: 11 + 11 polar and 23 neutral words."""
    return make_synthetic(Synthetic(neutral=23, polar=11, per_class=60, held_out=20), name="small")
