"""Batches: every text once, like lengths together, padding that changes nothing."""

import csv
import gzip

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.data import outgrowing
from heedful.data.batches import Batch, batch_of_texts, batches, make_batch, plan_batches
from heedful.data.encoded import EncodedTexts, encode_texts
from heedful.data.vocabulary import Vocabulary
from heedful.data.words import WordRules, split_texts
from heedful.errors import UserError
from promises import assert_alone_equals_in_company

TEXTS = ["A good film. Really good!", "bad", "Not a good film", "A zebra? A bad zebra.", "film film film"]
LABELS = [1, 0, 0, 0, 1]
VOCABULARY = Vocabulary.build(split_texts(TEXTS))


def texts_of_lengths(lengths) -> EncodedTexts:
    """Texts whose ids tell their row: row 3 has the ids 103, 103, ..."""
    lengths = np.asarray(lengths)
    rows = np.arange(len(lengths))
    return EncodedTexts(
        ids=np.repeat(rows + 100, lengths).astype(np.int32),
        offsets=np.concatenate(([0], lengths.cumsum())),
        labels=rows % 7,
        unread=np.zeros(len(lengths), np.int32),
        sentences=np.concatenate([np.arange(length) // 2 for length in lengths]).astype(np.int32),
    )


some_lengths = st.lists(st.integers(1, 30), min_size=1, max_size=60)
limits = st.fixed_dictionaries(
    {
        "size": st.none() | st.integers(1, 11),
        "token_budget": st.none() | st.integers(1, 90),
        "seed": st.none() | st.integers(0, 5),
        "pool": st.integers(1, 5),
    }
).filter(lambda chosen: chosen["size"] or chosen["token_budget"])


@given(lengths=some_lengths, limits=limits)
def test_every_text_is_in_exactly_one_batch_and_whole(lengths, limits):
    encoded = texts_of_lengths(lengths)
    seen = []
    for batch in batches(encoded, **limits):
        assert batch.ids.shape == batch.mask.shape == batch.sentences.shape
        assert batch.ids.dtype == batch.labels.dtype == batch.sentences.dtype == torch.long
        assert batch.mask.dtype == torch.bool
        assert batch.mask.any(dim=0).all(), "no column is all padding"
        for row, ids, mask, sentences in zip(batch.rows, batch.ids, batch.mask, batch.sentences, strict=True):
            length = lengths[row]
            assert ids.tolist() == [row + 100] * length + [0] * (len(ids) - length)
            assert mask.tolist() == [True] * length + [False] * (len(ids) - length)
            assert sentences.tolist() == [t // 2 for t in range(length)] + [-1] * (len(ids) - length)
        assert batch.labels.tolist() == (batch.rows % 7).tolist()
        seen.extend(batch.rows.tolist())
    assert sorted(seen) == list(range(len(lengths)))


@given(lengths=some_lengths, limits=limits)
def test_no_batch_is_larger_than_the_limits(lengths, limits):
    lengths = np.array(lengths)
    for rows in plan_batches(lengths, **limits):
        assert len(rows) <= (limits["size"] or len(lengths))
        places = len(rows) * lengths[rows].max()
        assert places <= (limits["token_budget"] or places) or len(rows) == 1


def test_the_budget_is_used_and_not_only_kept():
    lengths = np.array([2, 3, 5, 7, 2, 11, 3, 1])
    plan = plan_batches(lengths, token_budget=10)
    assert [lengths[rows].tolist() for rows in plan] == [[11], [7], [5, 3], [3, 2, 2], [1]]


def test_without_a_seed_texts_come_by_length_and_rows_tell_which():
    plan = plan_batches(np.array([2, 5, 3, 5]), size=3)
    assert [rows.tolist() for rows in plan] == [[1, 3, 2], [0]]


def test_a_seed_gives_the_same_batches_again_and_another_seed_gives_others():
    lengths = np.random.default_rng(0).integers(1, 40, 211)

    def plan(seed):
        return [rows.tolist() for rows in plan_batches(lengths, size=7, seed=seed, pool=5)]

    assert plan(3) == plan(3)
    assert plan(3) != plan(4)


def test_shuffled_batches_do_not_come_in_order_of_length_and_mix_their_company():
    lengths = np.random.default_rng(0).integers(1, 40, 1009)
    plan = plan_batches(lengths, size=13, seed=1, pool=100)
    longest = [lengths[rows].max() for rows in plan]
    assert abs(np.corrcoef(longest, np.arange(len(plan)))[0, 1]) < 0.4
    others = plan_batches(lengths, size=13, seed=2, pool=100)
    assert not {frozenset(rows.tolist()) for rows in plan} & {frozenset(rows.tolist()) for rows in others}


def test_pools_save_padding():
    lengths = np.random.default_rng(0).geometric(0.02, 5003)

    def padding(pool):
        plan = plan_batches(lengths, size=31, seed=0, pool=pool)
        return 1 - lengths.sum() / sum(len(rows) * lengths[rows].max() for rows in plan)

    assert padding(200) < 0.04 < padding(50) < 0.11 < 0.5 < padding(1)


@pytest.mark.parametrize("wrong", [{}, {"size": 0}, {"token_budget": 0}, {"size": 3, "pool": 0}])
def test_limits_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="at least 1"):
        plan_batches(np.array([1, 2]), **wrong)


def test_no_texts_make_no_batches():
    assert plan_batches(np.zeros(0, np.int64), size=3) == []
    assert len(make_batch(texts_of_lengths([2, 3]), [])) == 0


def test_row_numbers_outside_the_texts_are_refused():
    for row in (-1, 2):
        with pytest.raises(IndexError):
            make_batch(texts_of_lengths([2, 3]), [row])


def test_batches_of_mapped_texts_equal_batches_of_texts_in_memory(monkeypatch):
    in_memory = encode_texts(TEXTS, LABELS, VOCABULARY, sentences=True)
    monkeypatch.setattr(outgrowing, "IN_MEMORY", 11)
    mapped = encode_texts(TEXTS, LABELS, VOCABULARY, sentences=True)
    for left, right in zip(batches(mapped, size=2), batches(in_memory, size=2), strict=True):
        for name in ("ids", "mask", "labels", "sentences"):
            assert torch.equal(getattr(left, name), getattr(right, name))
        left.ids.fill_(3)  # a batch is the caller's own: writing to it reaches no file
    assert in_memory.ids.tolist() == np.asarray(mapped.ids).tolist()


def test_a_batch_of_texts_has_the_words_beside_the_ids():
    batch = batch_of_texts(TEXTS[:3], VOCABULARY, max_length=4, sentences=True, labels=[1, 0, 0])
    assert batch.ids.shape == (3, 4)
    for words, ids, mask in zip(batch.words, batch.ids, batch.mask, strict=True):
        assert ids[mask].tolist() == VOCABULARY.ids(words.forms).tolist()
        assert [words.text[a:b].lower() for a, b in zip(words.starts, words.ends, strict=True)] == words.forms
    assert [words.unread for words in batch.words] == [1, 0, 0]
    assert batch.sentences.tolist() == [[0, 0, 0, 1], [0, -1, -1, -1], [0, 0, 0, 0]]
    assert batch.labels.tolist() == [1, 0, 0]
    assert batch.rows.tolist() == [0, 1, 2]


def test_a_batch_of_texts_equals_the_batch_of_the_encoded_texts():
    rules = WordRules(punctuation="keep")
    left = batch_of_texts(TEXTS, VOCABULARY, rules)
    right = make_batch(encode_texts(TEXTS, None, VOCABULARY, rules=rules), range(5))
    assert torch.equal(left.ids, right.ids)
    assert torch.equal(left.mask, right.mask)
    assert left.labels is right.labels is left.sentences is None


def test_a_text_without_words_and_missing_labels_are_refused():
    with pytest.raises(UserError, match="row 1 "):
        batch_of_texts(["good", "?"], VOCABULARY)
    with pytest.raises(ValueError, match="2 texts"):
        batch_of_texts(["good", "bad"], VOCABULARY, labels=[1])


def test_moving_a_batch_moves_its_tensors_and_keeps_the_rest():
    batch = batch_of_texts(TEXTS, VOCABULARY, sentences=True, labels=LABELS)
    moved = batch.to("meta")
    for name in ("ids", "mask", "labels", "sentences"):
        assert getattr(moved, name).device.type == "meta"
    assert moved.words is batch.words
    assert moved.rows is batch.rows
    assert batch_of_texts(TEXTS, VOCABULARY).to("meta").labels is None


def encode(texts: list[str]) -> Batch:
    return batch_of_texts(texts, VOCABULARY)


def mean_id(batch: Batch) -> torch.Tensor:
    return (batch.ids * batch.mask).sum(1) / batch.mask.sum(1)


def test_a_result_that_minds_the_mask_is_the_same_alone_and_in_company():
    assert_alone_equals_in_company(mean_id, encode, TEXTS)
    assert_alone_equals_in_company(lambda batch: batch.ids / 7, encode, TEXTS, padding=0)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda batch: batch.ids.float().mean(1), "in a batch of 2"),
        (lambda batch: batch.ids.sum(1) + len(batch), "in a batch of 2"),
        (lambda batch: torch.where(batch.mask, batch.ids, 3), "on padding"),
        (lambda batch: batch.ids[:, :1].sum(0), "gave 1 rows"),
        (lambda batch: batch.ids[:, : 6 - len(batch)], "cannot hold"),
    ],
)
def test_a_result_that_changes_in_company_is_noticed(result, message):
    with pytest.raises(AssertionError, match=message):
        assert_alone_equals_in_company(result, encode, TEXTS, padding=0)


def test_texts_of_one_length_are_no_test_of_company():
    with pytest.raises(AssertionError, match="different lengths"):
        assert_alone_equals_in_company(mean_id, encode, ["good film", "bad film", "a film"])


@pytest.mark.corpora
@pytest.mark.slow
def test_reviews_in_pools_of_fifty_batches_are_padded_by_less_than_three_percent(data_dir):
    """On the papers' reviews of under 400 words; the rest is a long tail that a token budget tames."""
    with gzip.open(data_dir / "imdb.csv.gz", "rt", encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file) if row["split"] == "train"]
    lengths = split_texts(texts).lengths
    papers = lengths[lengths < 400]

    def padding(lengths, **limits):
        plan = plan_batches(lengths, seed=0, pool=50, **limits)
        return 1 - lengths.sum() / sum(len(rows) * lengths[rows].max() for rows in plan)

    assert padding(papers, size=32) < 0.03
    assert padding(papers, size=100) < 0.03
    assert padding(papers, token_budget=16_384) < 0.03
    assert padding(lengths, token_budget=16_384) < 0.04


def test_texts_that_are_kept_give_a_batch_its_words():
    texts = ["one two three", "four", "five six seven eight nine"]
    vocabulary = Vocabulary.build(split_texts(texts))
    encoded = encode_texts(texts, [0, 1, 0], vocabulary, max_length=3, keep_texts=True)
    batch = make_batch(encoded, [2, 0])
    assert [words.forms for words in batch.words] == [["five", "six", "seven"], ["one", "two", "three"]]
    assert [words.unread for words in batch.words] == [2, 0]
    assert make_batch(encode_texts(texts, [0, 1, 0], vocabulary), [0]).words is None
