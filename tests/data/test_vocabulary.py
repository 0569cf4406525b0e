"""Word ids: their order, what is unknown, and the file they are kept in."""

import csv
import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.data.vocabulary import Vocabulary
from heedful.data.words import split_texts
from heedful.errors import UserError

FORMS = ["b", "a", "c", "a", "b", "a", "d"]


def test_words_follow_padding_and_unknown_by_falling_count_and_then_by_spelling():
    vocabulary = Vocabulary.build(FORMS)
    assert vocabulary.words == ("<pad>", "<unk>", "a", "b", "c", "d")
    assert vocabulary.counts == (0, 0, 3, 2, 1, 1)
    assert len(vocabulary) == 6
    assert vocabulary.word(3) == "b"


@given(st.permutations(FORMS))
def test_the_order_of_the_texts_does_not_matter(forms):
    assert Vocabulary.build(forms) == Vocabulary.build(FORMS)


def test_counting_split_texts_equals_counting_their_forms():
    words = split_texts(["The film, the Film", "a film", ""])
    vocabulary = Vocabulary.build(words, min_count=2)
    assert vocabulary == Vocabulary.build(iter(words.forms), min_count=2)
    assert vocabulary.words[2:] == ("film", "the")
    np.testing.assert_array_equal(vocabulary.ids(words), vocabulary.ids(words.forms))


def test_rare_words_and_words_beyond_the_size_are_left_out():
    assert Vocabulary.build(FORMS, min_count=2).words[2:] == ("a", "b")
    assert Vocabulary.build(FORMS, max_size=3).words[2:] == ("a", "b", "c")
    assert len(Vocabulary.build([])) == 2


def test_unknown_words_get_the_unknown_id_and_are_not_learnt():
    vocabulary = Vocabulary.build(FORMS)
    ids = vocabulary.ids(["a", "zebra", "zebra", "d"])
    assert ids.tolist() == [2, 1, 1, 5]
    assert ids.dtype == np.int32
    assert "zebra" not in vocabulary
    assert "a" in vocabulary


def test_a_word_spelt_like_the_padding_is_a_word_and_not_padding():
    vocabulary = Vocabulary.build(["<pad>", "x", "x"])
    assert vocabulary.ids(["<pad>", "<unk>"]).tolist() == [3, 1]
    assert "<pad>" not in Vocabulary.build(FORMS)


def test_an_id_outside_the_vocabulary_is_refused():
    for id in (-1, 6):
        with pytest.raises(IndexError, match=str(id)):
            Vocabulary.build(FORMS).word(id)


def test_a_saved_vocabulary_comes_back_the_same(tmp_path):
    vocabulary = Vocabulary.build(["naïve", "漢字", "naïve", 'quo"te', "\ud800", "i̇"])
    vocabulary.save(tmp_path / "vocabulary.json")
    assert Vocabulary.load(tmp_path / "vocabulary.json") == vocabulary


def good() -> dict:
    return {"schema": "heedful.vocabulary", "version": 1, "words": ["a", "b"], "counts": [2, 1]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version 2"),
        ({"version": None}, "version None"),
        ({"schema": "other"}, "not a whole vocabulary"),
        ({"words": ["a"]}, "not a whole vocabulary"),
        ({"words": ["a", "a"]}, "not a whole vocabulary"),
        ({"words": ["a", 3]}, "not a whole vocabulary"),
        ({"words": "ab"}, "not a whole vocabulary"),
        ({"counts": [2, "1"]}, "not a whole vocabulary"),
        ({"counts": None}, "not a whole vocabulary"),
    ],
)
def test_a_file_of_another_version_or_content_is_refused_in_one_sentence(tmp_path, change, message):
    path = tmp_path / "vocabulary.json"
    path.write_text(json.dumps(good()))
    assert Vocabulary.load(path).words[2:] == ("a", "b")
    path.write_text(json.dumps(good() | change))
    with pytest.raises(UserError, match=message):
        Vocabulary.load(path)


@pytest.mark.parametrize("content", [b"", b"[1, 2]", b'{"schema": "heedful.voc', b"\xff\xfe\x00"])
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path, content):
    path = tmp_path / "vocabulary.json"
    path.write_bytes(content)
    with pytest.raises(UserError, match="not a whole vocabulary"):
        Vocabulary.load(path)


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(UserError, match="no vocabulary at"):
        Vocabulary.load(tmp_path / "nowhere.json")


def test_one_string_where_words_are_needed_is_refused():
    with pytest.raises(TypeError, match="letter by letter"):
        Vocabulary.build("word")


@pytest.mark.corpora
def test_sst_has_the_papers_vocabulary_over_its_three_splits(data_dir):
    with gzip.open(data_dir / "sst.csv.gz", "rt", encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    assert len(texts) == 6920 + 872 + 1821
    assert len(Vocabulary.build(split_texts(texts))) == 16_171 + 2
