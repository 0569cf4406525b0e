"""Which texts are read many times: rare classes are not overlooked, and what each text stands for."""

import numpy as np
import pytest

from heedful.auditing.sampling import EACH, LEVELS, Draw, quotas

SIZES = {0: 211, 1: 37, 2: 7}


@pytest.fixture
def decided():
    classes = np.repeat(list(SIZES), list(SIZES.values()))
    return np.random.default_rng(0).permutation(classes)


@pytest.mark.parametrize(
    ("sizes", "most", "found"),
    [
        ([211, 37, 7], 100, [62, 31, 7]),  # 30, 30, 7 first; 33 left go 181 : 7 : 0
        ([211, 37, 7], 67, [30, 30, 7]),
        ([211, 37, 7], 68, [31, 30, 7]),
        ([211, 37, 7], 40, [30, 30, 7]),  # the least of each is more than was asked for
        ([211, 37, 7], 255, [211, 37, 7]),
        ([211, 37, 7], 999, [211, 37, 7]),
        ([7, 5, 3], 9, [7, 5, 3]),
        ([30, 31], 61, [30, 31]),
        ([40, 40, 40], 92, [31, 31, 30]),  # of equal claims the first
        ([], 10, []),
    ],
)
def test_each_class_gets_thirty_and_the_rest_go_by_size(sizes, most, found):
    assert quotas(np.array(sizes, dtype=np.int64), most).tolist() == found


def test_quotas_are_never_more_than_there_are_and_add_up():
    draw = np.random.default_rng(1)
    for _ in range(300):
        sizes = draw.integers(1, 300, draw.integers(1, 7))
        most = int(draw.integers(1, 600))
        found = quotas(sizes, most)
        assert (found <= sizes).all()
        assert (found >= np.minimum(sizes, EACH)).all()
        assert found.sum() == max(np.minimum(sizes, EACH).sum(), min(most, sizes.sum()))


def test_no_text_is_handed_out_twice_and_all_parts_make_the_whole(decided):
    draw = Draw(decided, 100)
    parts = [draw.take((number + 1) / 4) for number in range(4)]
    rows = np.concatenate(parts)
    assert len(set(rows.tolist())) == len(rows) == 100
    assert np.bincount(decided[rows]).tolist() == [62, 31, 7]
    assert np.bincount(decided[parts[0]]).tolist() == [16, 8, 2]  # a quarter of each, rounded up
    assert len(draw.take(1.0)) == 0


def test_an_audit_that_stops_early_has_read_the_beginning_of_a_longer_one(decided):
    short, long = Draw(decided, 100), Draw(decided, 100)
    first = short.take(0.25)
    whole = long.take(1.0)
    for code in SIZES:
        own = whole[decided[whole] == code]
        assert (first[decided[first] == code] == own[: (decided[first] == code).sum()]).all()


def test_the_seed_draws_and_the_order_of_the_texts_is_not_that_of_the_file(decided):
    rows = Draw(decided, 100, seed=3).take(1.0)
    assert (rows == Draw(decided, 100, seed=3).take(1.0)).all()
    assert set(rows.tolist()) != set(Draw(decided, 100, seed=4).take(1.0).tolist())
    own = rows[decided[rows] == 0]
    assert (np.diff(own) < 0).any()


def test_weights_stand_for_all_texts_of_the_class(decided):
    draw = Draw(decided, 100)
    rows = draw.take(0.5)
    weights = draw.weights(rows)
    for code, size in SIZES.items():
        assert weights[decided[rows] == code].sum() == pytest.approx(size)
    shares = [(weights * (decided[rows] == code)).sum() / weights.sum() for code in SIZES]
    assert shares == pytest.approx([size / 255 for size in SIZES.values()])


def test_without_a_limit_every_text_is_read_and_stands_for_itself(decided):
    draw = Draw(decided, None)
    rows = draw.take(1.0)
    assert sorted(rows.tolist()) == list(range(255))
    assert (draw.weights(rows) == 1).all()


def test_a_default_class_gets_no_more_and_the_others_share_what_is_left(decided):
    draw = Draw(decided, 100)
    first = draw.take(0.25)
    spent = int((decided[first] == 0).sum())
    rest = draw.take(1.0, leave=[0])
    assert (decided[rest] != 0).all()
    assert np.bincount(decided[np.concatenate([first, rest])]).tolist() == [spent, 37, 7]
    assert draw.weights(first)[decided[first] == 0] == pytest.approx(211 / spent)
    assert len(draw.take(1.0, leave=[0, 1, 2])) == 0


def test_what_a_default_class_took_is_not_spent_again():
    decided = np.repeat([0, 1, 2], [100, 100, 100])
    draw = Draw(decided, 120)
    first = draw.take(0.5)
    assert np.bincount(decided[first]).tolist() == [20, 20, 20]
    rest = draw.take(1.0, leave=[0])
    assert np.bincount(decided[rest], minlength=3).tolist() == [0, 30, 30]


def test_the_levels_of_all_looks_keep_five_percent_together():
    assert len(LEVELS) == 4
    assert sum(1 - level for level in LEVELS) == pytest.approx(0.05)
    assert sorted(LEVELS, reverse=True) == list(LEVELS)
