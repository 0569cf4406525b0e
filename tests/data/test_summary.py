"""Table 1 of a corpus, counted by hand, and beside the papers'."""

import json

import numpy as np
import pytest

from heedful.data.corpus import Corpus
from heedful.data.named import load_data
from heedful.data.published import TOLERANCE, paper_table
from heedful.data.summary import SCHEMA, compare, summarise
from heedful.data.words import WordRules


@pytest.fixture
def corpus():
    return Corpus(
        name="mine",
        texts=["A good film. Good!", "bad", "Not so good. Not at all. No.", "a film"],
        labels=np.array([1, 0, 0, 1]),
        splits=np.array(["train", "train", "dev", "test"]),
        label_names=("no", "yes"),
        notes=("Made by hand.",),
    )


def test_words_sentences_and_classes_are_counted(corpus):
    summary = summarise(corpus)
    assert summary.words.mean == pytest.approx((4 + 1 + 7 + 2) / 4)
    assert summary.words.sd == pytest.approx(np.std([4, 1, 7, 2]))
    assert summary.sentences.mean == pytest.approx((2 + 1 + 3 + 1) / 4)
    assert summary.sentences.sd == pytest.approx(np.std([2, 1, 3, 1]))
    assert summary.vocabulary == len({"a", "good", "film", "bad", "not", "so", "at", "all", "no"})
    assert summary.classes == {
        "train": {"no": 1, "yes": 1},
        "dev": {"no": 1, "yes": 0},
        "test": {"no": 0, "yes": 1},
    }


def test_the_rules_for_words_are_the_callers(corpus):
    assert summarise(corpus, rules=WordRules(lower=False)).vocabulary == 11


def test_the_sample_has_a_training_text_of_each_label(corpus):
    assert [(sample.text, sample.label) for sample in summarise(corpus).samples] == [
        ("bad", "no"),
        ("A good film. Good!", "yes"),
    ]


def test_a_summary_is_json_and_says_its_version(corpus):
    content = json.loads(json.dumps(summarise(corpus).to_dict()))
    assert content["schema"] == SCHEMA
    assert content["fingerprint"] == corpus.fingerprint
    assert content["notes"] == ["Made by hand."]
    assert content["published"] is None


def test_a_corpus_no_paper_has_is_compared_with_nothing(corpus):
    assert compare(summarise(corpus)) == ()


def test_a_difference_over_two_per_cent_gets_its_reason_and_a_smaller_one_none():
    short = Corpus(
        "sst",
        ["a good film"] * 3,
        np.array([1, 0, 1]),
        np.array(["train", "dev", "test"]),
        ("negative", "positive"),
    )
    rows = {row.figure: row for row in compare(summarise(short))}
    assert rows["average words"].difference == pytest.approx(3 / 18 - 1)
    assert rows["average words"].reason == paper_table("sst").reasons["average words"]
    assert rows["train positive"].reason == "Not explained."
    assert rows["train positive"].ours == 1


def test_published_figures_are_named_as_ours_are(corpus):
    ours = set(summarise(corpus).figures())
    for name in ("yahoo", "imdb-ratings", "amazon", "yelp"):
        assert set(paper_table(name).figures) <= ours
    assert paper_table("movie-reviews") is None


@pytest.mark.corpora
def test_sst_has_the_vocabulary_of_the_paper(data_dir):
    summary = summarise(load_data("sst", data_dir=data_dir))
    assert summary.vocabulary == 16_171  # 16,174 with their three special ids
    assert summary.to_dict()["published"]["source"] == "Sun & Lu (2020), Table 1"


@pytest.mark.corpora
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words", "vocabulary"),
    [
        ("sst", 17.5, 16_171),
        ("imdb", 180.2, 67_810),
        ("20news-1", 168.2, 17_640),
        ("20news-2", 175.6, 32_644),
        ("amazon", 82.7, 39_160),
        ("yelp", 140.3, 21_828),
    ],
)
def test_figures_are_those_we_publish_and_each_difference_is_explained(name, words, vocabulary, data_dir):
    summary = summarise(load_data(name, data_dir=data_dir))
    assert (round(summary.words.mean, 1), summary.vocabulary) == (words, vocabulary)
    rows = compare(summary)
    assert rows
    for row in rows:
        assert bool(row.reason) == (abs(row.difference) > TOLERANCE), row
        assert row.reason != "Not explained.", row
