"""Which words go with a class: the rules, their edges, and the paper's own counts."""

import numpy as np
import pytest

from heedful.data.encoded import EncodedTexts
from heedful.data.named import load_data
from heedful.data.synthetic import Synthetic, make_synthetic
from heedful.data.synthetic import token_types as made_types
from heedful.data.vocabulary import Vocabulary
from heedful.errors import UserError
from heedful.understanding.rule_search import search_class_rules
from heedful.understanding.table_one import PRINTED, PrintedType, corpus_types, type_table
from heedful.understanding.token_types import (
    TokenTypes,
    TypeRules,
    find_types,
    gamma,
    synthetic_types,
)


def types_of(counts, rules=None):
    """The types of words that occur so often in the texts of each class."""
    counts = np.array(counts)
    words, classes = counts.shape
    # One text a class, in which each word stands as often as its count says.
    ids = np.concatenate([np.repeat(np.arange(words) + 2, counts[:, k]) for k in range(classes)])
    encoded = EncodedTexts(
        ids=ids.astype(np.int32),
        offsets=np.concatenate([[0], counts.sum(0).cumsum()]),
        labels=np.arange(classes),
        unread=np.zeros(classes, np.int32),
    )
    vocabulary = Vocabulary(
        ("<pad>", "<unk>", *(f"w{n}" for n in range(words))), (0, 0, *counts.sum(1).tolist())
    )
    return find_types(encoded, vocabulary, classes=[f"class {k}" for k in range(classes)], rules=rules)


def named(types):
    return types.labels[2:].tolist()


def test_counts_are_of_occurrences_by_class():
    types = types_of([[3, 1], [0, 7]])
    assert types.counts[2:].tolist() == [[3, 1], [0, 7]]
    assert gamma(types.counts)[2:].tolist() == [-0.5, 1.0]
    assert np.isnan(types.gamma[:2]).all()


def test_the_paper_s_rule_at_its_edges():
    rows = {
        "positive": [(1, 6), (0, 6), (5, 16)],
        "negative": [(6, 1), (6, 0)],
        "neutral": [(3, 3), (1, 1), (21, 25)],
        None: [(0, 5), (5, 0), (2, 6), (40, 45), (9, 11), (100, 110)],
    }
    for expected, counts in rows.items():
        assert named(types_of([[low, high] for low, high in counts])) == [expected] * len(counts)


def test_open_intervals_as_printed_leave_out_words_of_one_class_only():
    counts = [[0, 6], [1, 6], [6, 0]]
    assert named(types_of(counts, TypeRules(closed=False))) == [None, "positive", None]


def test_every_threshold_is_a_setting():
    counts = [[2, 4], [10, 8]]
    assert named(types_of(counts)) == [None, None]
    loose = TypeRules(polar=0.3, polar_count=3, neutral=0.2)
    assert named(types_of(counts, loose)) == ["positive", "neutral"]
    with pytest.raises(UserError, match="from 0 to 1"):
        TypeRules(polar=1.5)
    with pytest.raises(UserError, match="way of counting"):
        TypeRules(share_counted="ours")


def test_with_more_classes_the_largest_share_decides():
    rules = TypeRules(
        share=0.5, share_count=4, neutral_spread=0.2, neutral_count=5, neutral_spread_count=None
    )
    counts = [[5, 1, 1], [1, 5, 4], [1, 1, 4], [3, 3, 2], [1, 1, 1], [20, 21, 19]]
    assert named(types_of(counts, rules)) == ["class 0", None, None, "neutral", None, "neutral"]
    total = TypeRules(share=0.5, share_count=4, share_counted="total", neutral_count=99)
    assert named(types_of(counts, total)) == ["class 0", None, "class 2", None, None, None]


def test_padding_and_unknown_have_no_type():
    encoded = EncodedTexts(
        np.array([1] * 9 + [2] * 9, np.int32), np.array([0, 9, 18]), np.array([1, 0]), np.zeros(2, np.int32)
    )
    types = find_types(encoded, Vocabulary.build(["a"]), classes=["no", "yes"])
    assert types.labels.tolist() == [None, None, "negative"]
    assert types.sizes == {"negative": 1, "positive": 0, "neutral": 0}


def test_a_frame_lists_the_words_that_occur():
    frame = types_of([[3, 1], [0, 0], [0, 7]]).to_frame()
    assert frame["word"].tolist() == ["w0", "w2"]
    assert frame["gamma"].tolist() == [-0.5, 1.0]
    assert frame["type"].isna().tolist() == [True, False]
    assert frame["type"][1] == "positive"
    assert "share class 2" in types_of([[3, 1, 2]]).to_frame().columns


def test_samples_follow_the_seed():
    types = types_of([[0, 9]] * 31)
    assert types.sample("positive", 5, seed=1) == types.sample("positive", 5, seed=1)
    assert types.sample("positive", 5, seed=1) != types.sample("positive", 5, seed=2)
    assert len(types.sample("negative", 5)) == 0
    with pytest.raises(UserError, match="positive"):
        types.of("positiv")


def test_synthetic_words_get_the_types_they_were_made_with():
    settings = Synthetic(neutral=23, polar=11, per_class=200, held_out=5)
    corpus = make_synthetic(settings)
    types, truth = corpus_types(corpus), made_types(settings)
    polar = {types.words[id] for name in ("positive", "negative") for id in types.of(name)}
    assert polar == {word for word, kind in truth.items() if kind != "neutral"}
    vocabulary = Vocabulary(types.words, tuple(types.counts.sum(1).tolist()))
    known = TokenTypes.from_names(synthetic_types(settings), vocabulary, classes=corpus.label_names)
    assert known.sizes == {"negative": 11, "positive": 11, "neutral": 23}
    with pytest.raises(UserError, match="neutral"):
        TokenTypes.from_names({"n1": "neutrl"}, vocabulary, classes=corpus.label_names)
    three = Synthetic(neutral=5, polar=3, neutral_tokens=2, classes=3)
    assert sorted(set(synthetic_types(three).values())) == ["0", "1", "2", "neutral"]


def test_the_search_finds_the_rule_that_made_the_counts():
    draw = np.random.default_rng(0)
    types = types_of(np.concatenate([draw.poisson([9, 3, 2], (200, 3)), draw.poisson([7, 7, 7], (200, 3))]))
    rules = TypeRules(
        share=0.6, share_count=9, neutral_spread=0.1, neutral_count=15, neutral_spread_count=None
    )
    truth = types_of(types.counts[2:], rules)
    printed = {
        name: PrintedType(len(ids), tuple(truth.words[id] for id in ids))
        for name, ids in truth.members.items()
    }
    found = search_class_rules(types, printed)
    assert found.off == 0
    assert found.sizes == truth.sizes
    assert types_of(types.counts[2:], found.rules).sizes == truth.sizes
    assert found.kept == found.sampled == sum(truth.sizes.values())
    assert "0 words off" in found.summary()


@pytest.mark.parametrize("number", [0, 500, 5000, 13_000])
def test_the_search_counts_as_the_rules_do(number):
    counts = np.random.default_rng(1).poisson([30, 20, 25], (300, 3))
    types = types_of(counts)
    aims = {name: PrintedType(20, ()) for name in types.names}
    found = search_class_rules(types, aims)
    tried, even = found.polar_tried.iloc[number], found.neutral_tried.iloc[number]
    rules = TypeRules(
        share=tried["share"],
        share_count=int(tried["count"]),
        share_counted=tried["counted"],
        neutral_spread=even["spread"],
        neutral_count=int(even["count"]),
        neutral_spread_count=None if np.isnan(even["gap"]) else int(even["gap"]),
    )
    sizes = types_of(counts, rules).sizes
    assert [sizes[name] for name in types.names[:-1]] == [tried[name] for name in types.names[:-1]]
    only_neutral = types_of(counts, TypeRules(**{**vars(rules), "share": 1.0})).sizes
    assert only_neutral["neutral"] == even["size"]


@pytest.mark.corpora
def test_sst_has_412_positive_265_negative_and_1384_neutral_words(data_dir):
    table = type_table(load_data("sst", data_dir=data_dir))
    assert table.types.sizes == {"negative": 265, "positive": 412, "neutral": 1384}
    frame = table.to_frame().set_index("type")
    assert (frame["count"] == frame["printed"]).all()
    assert (frame["their words of this type"] == frame["their words"]).all()
    opened = type_table(load_data("sst", data_dir=data_dir), rules=TypeRules(closed=False)).types.sizes
    assert opened == {"negative": 197, "positive": 302, "neutral": 1384}


@pytest.mark.corpora
def test_the_unstated_rule_of_20news_ii_is_met_within_sixteen_words(data_dir):
    types = corpus_types(load_data("20news-2", data_dir=data_dir))
    found = search_class_rules(types)
    assert found.off <= 16
    assert found.rules == TypeRules()
    assert types.sizes == dict(found.sizes)
    assert set(PRINTED["20news-2"]) == set(types.names)
