"""Splits that do not depend on the order of rows, and keep copies together."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from heedful.data.dealing import deal

TEXTS = [f"text {number}" for number in range(101)]
LABELS = ["odd" if number % 3 else "even" for number in range(101)]


def test_each_class_is_dealt_by_its_own_shares():
    splits = deal(TEXTS, LABELS, shares={"odd": (0.1, 0.2), "even": (0.5, 0.0)}, seed=1)
    odd, even = (np.array(LABELS) == name for name in ("odd", "even"))
    assert [(splits[odd] == name).sum() for name in ("train", "dev", "test")] == [47, 7, 13]
    assert [(splits[even] == name).sum() for name in ("train", "dev", "test")] == [17, 17, 0]


def test_the_order_of_rows_does_not_matter():
    forward = dict(zip(TEXTS, deal(TEXTS, LABELS, shares=(0.2, 0.2), seed=5), strict=True))
    backward = dict(zip(TEXTS[::-1], deal(TEXTS[::-1], LABELS[::-1], shares=(0.2, 0.2), seed=5), strict=True))
    assert forward == backward


def test_another_seed_deals_otherwise():
    first, second = (deal(TEXTS, LABELS, shares=(0.2, 0.2), seed=seed) for seed in (5, 7))
    assert (first != second).any()


def test_a_small_class_is_in_every_split_and_a_tiny_one_in_train():
    assert sorted(deal(["a", "b", "c"], ["x"] * 3, shares=(0.1, 0.1), seed=0)) == ["dev", "test", "train"]
    assert list(deal(["a", "b"], ["x"] * 2, shares=(0.1, 0.1), seed=0)) == ["train", "train"]


@given(
    st.lists(st.tuples(st.sampled_from("abcdefghijk"), st.sampled_from("xy")), max_size=40), st.integers(0, 9)
)
def test_copies_of_a_text_are_in_one_split_whatever_their_labels(rows, seed):
    texts, labels = [text for text, _ in rows], [label for _, label in rows]
    splits = deal(texts, labels, shares=(0.2, 0.3), seed=seed)
    where = {}
    for text, split in zip(texts, splits, strict=True):
        assert where.setdefault(text, split) == split


def test_copies_that_do_not_fit_leave_the_places_to_others():
    texts = ["copied"] * 5 + TEXTS[:10]
    for seed in range(7):
        splits = deal(texts, ["x"] * 15, shares=(0.2, 0.0), seed=seed)
        assert (splits == "dev").sum() == 3
        assert splits[0] == "train"


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=5),
    st.sampled_from([(0.1, 0.1), (0.9, 0.05), (0.45, 0.45), (0.01, 0.01)]),
)
def test_a_class_of_three_is_in_every_split_and_a_smaller_one_in_train(sizes, shares):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    splits = deal([f"text {row}" for row in range(len(labels))], labels.tolist(), shares=shares, seed=0)
    for label, size in enumerate(sizes):
        expected = {"train", "dev", "test"} if size >= 3 else {"train"}
        assert set(splits[labels == label]) == expected


def test_a_share_of_nothing_gets_no_row():
    splits = deal(TEXTS[:10], ["x"] * 10, shares=(0.5, 0.0), seed=0)
    assert [(splits == name).sum() for name in ("train", "dev", "test")] == [5, 5, 0]
