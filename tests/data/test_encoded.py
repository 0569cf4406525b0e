"""Texts as flat ids, in memory and mapped."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from heedful.data import outgrowing
from heedful.data.encoded import EncodedTexts, encode_texts
from heedful.data.vocabulary import Vocabulary
from heedful.data.words import WordRules, split_texts
from heedful.errors import UserError

TEXTS = ["A good film. Really good!", "bad", "Not a good film", "A zebra? A bad zebra.", "film film film"]
LABELS = [1, 0, 0, 0, 1]
VOCABULARY = Vocabulary.build(split_texts(TEXTS), min_count=2)  # good film a bad zebra


def assert_same(left: EncodedTexts, right: EncodedTexts) -> None:
    for name in ("ids", "offsets", "labels", "unread", "sentences"):
        one, other = getattr(left, name), getattr(right, name)
        assert (one is None) == (other is None), name
        if one is not None:
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype, name


def test_the_rows_are_the_ids_of_the_texts():
    encoded = encode_texts(TEXTS, LABELS, VOCABULARY)
    assert [[VOCABULARY.word(id) for id in encoded.row(row)] for row in (0, 2, -1)] == [
        ["a", "good", "film", "<unk>", "good"],
        ["<unk>", "a", "good", "film"],
        ["film", "film", "film"],
    ]
    assert encoded.lengths.tolist() == [5, 1, 4, 5, 3]
    assert encoded.labels.tolist() == LABELS
    assert encoded.ids.dtype == np.int32
    assert len(encoded) == 5
    assert encoded.sentences is None
    with pytest.raises(IndexError):
        encoded.row(5)


def test_words_beyond_the_limit_are_unread_and_their_sentences_too():
    encoded = encode_texts(TEXTS, LABELS, VOCABULARY, max_length=4, sentences=True)
    assert encoded.lengths.tolist() == [4, 1, 4, 4, 3]
    assert encoded.unread.tolist() == [1, 0, 0, 1, 0]
    assert encoded.sentences.tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0]
    whole = encode_texts(TEXTS, LABELS, VOCABULARY)
    for row in range(len(TEXTS)):
        np.testing.assert_array_equal(encoded.row(row), whole.row(row)[:4])


@pytest.mark.parametrize("chunk", [1, 20, 1 << 22])
@pytest.mark.parametrize(("sentences", "labels"), [(True, LABELS), (False, None)])
def test_the_same_comes_of_a_stream_and_from_a_file_however_the_texts_are_chunked(
    monkeypatch, chunk, sentences, labels
):
    options = {"max_length": 4, "sentences": sentences, "rules": WordRules(lower=False)}
    in_memory = encode_texts(TEXTS, labels, VOCABULARY, **options)
    monkeypatch.setattr(outgrowing, "CHUNK", chunk)
    assert_same(encode_texts(iter(TEXTS), labels, VOCABULARY, **options), in_memory)
    monkeypatch.setattr(outgrowing, "IN_MEMORY", 7)
    mapped = encode_texts(iter(TEXTS), labels, VOCABULARY, **options)
    assert isinstance(mapped.ids.base, np.memmap)
    assert_same(mapped, in_memory)


@pytest.mark.parametrize("empty", ["", " ... ", "\n"])
def test_a_text_without_words_is_refused_by_its_row(monkeypatch, empty):
    monkeypatch.setattr(outgrowing, "CHUNK", 20)
    texts = TEXTS[:4] + [empty] + TEXTS[4:]
    with pytest.raises(UserError, match="row 4 "):
        encode_texts(texts, None, VOCABULARY)


def test_no_texts_and_a_limit_of_no_words_are_refused():
    with pytest.raises(UserError, match="no text"):
        encode_texts([], [], VOCABULARY)
    with pytest.raises(UserError, match="at least 1"):
        encode_texts(TEXTS, None, VOCABULARY, max_length=0)


@pytest.mark.parametrize(("labels", "message"), [([0, 1], "more texts"), ([0] * 6, "more labels")])
def test_labels_that_do_not_match_the_texts_are_refused(labels, message):
    with pytest.raises(UserError, match=message):
        encode_texts(TEXTS, labels, VOCABULARY)


@pytest.mark.slow
def test_a_long_stream_is_encoded_in_bounded_memory():
    """58 MB of text become 43 MB of ids, after a warm-up, in less than either."""
    code = textwrap.dedent("""
        import resource
        from heedful.data.encoded import encode_texts
        from heedful.data.vocabulary import Vocabulary

        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

        text = "words and words " * 400
        vocabulary = Vocabulary.build(["words", "and"])
        encode_texts([text] * 700, None, vocabulary)
        before = peak()
        texts, labels = (text for _ in range(9_000)), (0 for _ in range(9_000))
        encoded = encode_texts(texts, labels, vocabulary)
        assert len(encoded.ids) == 9_000 * 1200
        print(peak() - before)
    """)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 40
