"""Corpora beyond memory: in a file or in a list, the same texts, splits, words and warnings."""

import copy
import errno
import gzip
import os
import tempfile

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from heedful.cli import app
from heedful.data import EncodedTexts, Vocabulary, load_data, outgrowing, summarise
from heedful.data.encoded import encode_texts
from heedful.data.outgrowing import GrowingArray, GrowingTexts, StoredTexts, take_texts
from heedful.data.words import split_texts
from heedful.errors import UserError
from heedful.training import load_run, train

TEXTS = [f"text {n} {'🙂 é' * (n % 3)}" for n in range(101)]


@pytest.fixture
def small_memory(monkeypatch):
    monkeypatch.setattr(outgrowing, "IN_MEMORY", 97)


def grown(texts=TEXTS):
    growing = GrowingTexts()
    for text in texts:
        growing.append(text)
    assert len(growing) == len(texts)
    return growing.finish()


def write(path):
    rows = [f"{'good' if n % 2 else 'bad'} film number {n % 53} of many é,{n % 2}" for n in range(211)]
    rows += ["one text with both labels,0", "one text with both labels,1", "another such,1", "another such,0"]
    path.write_text("\n".join(["text,label", *rows]) + "\n")
    return path


def test_few_texts_stay_a_list_and_many_come_back_from_the_file_as_they_were(small_memory):
    assert grown(TEXTS[:3]) == TEXTS[:3]
    found = grown()
    assert isinstance(found, StoredTexts)
    assert list(found) == TEXTS
    assert [found[row] for row in range(-101, 101)] == TEXTS + TEXTS
    assert found[5:50:3] == TEXTS[5:50:3]
    assert [*found.take(np.array([7, 3, 7]))] == [TEXTS[7], TEXTS[3], TEXTS[7]]
    assert list(copy.deepcopy(found)) == TEXTS  # as another process would get it
    assert take_texts(TEXTS, np.array([2])) == [TEXTS[2]]
    with pytest.raises(IndexError):
        found[101]


def test_half_characters_survive(small_memory):
    texts = [f"{n} \ud83d half" for n in range(30)]
    assert list(grown(texts)) == texts


def test_numbers_are_mapped_where_they_are_many(small_memory):
    growing = GrowingArray("<i4")
    for first in range(0, 100, 9):
        growing.append(np.arange(first, first + 9))
    found = growing.finish()
    assert isinstance(found.base, np.memmap)
    assert found.tolist() == list(range(108))


def test_a_corpus_in_a_file_is_the_corpus_in_memory(tmp_path, monkeypatch):
    path = write(tmp_path / "reviews.csv")
    held = load_data(path)
    monkeypatch.setattr(outgrowing, "IN_MEMORY", 211)
    stored = load_data(path)
    assert isinstance(stored.texts, StoredTexts)
    assert isinstance(stored.split("test").texts, StoredTexts)
    assert (stored.notes, stored.fingerprint) == (held.notes, held.fingerprint)
    assert any("2 texts have more than one label" in note for note in held.notes)
    assert summarise(stored) == summarise(held)


def test_a_vocabulary_is_counted_chunk_by_chunk(monkeypatch):
    whole = Vocabulary.build(split_texts(TEXTS), min_count=2, max_size=40)
    monkeypatch.setattr("heedful.data.vocabulary.text_chunks", lambda texts: ([text] for text in texts))
    assert Vocabulary.of_texts(TEXTS, min_count=2, max_size=40) == whole


def test_a_model_learns_the_same_from_a_file(tmp_path, monkeypatch):
    path = write(tmp_path / "reviews.csv")
    held = train(path, epochs=2, embedding=5, out=tmp_path / "held")
    monkeypatch.setattr(outgrowing, "IN_MEMORY", 211)
    train(path, epochs=2, embedding=5, out=tmp_path / "stored")
    stored = load_run(tmp_path / "stored")
    assert {**stored.result, "seconds": 0} == {**held.result, "seconds": 0}
    for name, value in held.model.state_dict().items():
        assert value.equal(stored.model.state_dict()[name]), name


def test_encoded_texts_are_the_same_from_a_file(monkeypatch):
    vocabulary = Vocabulary.of_texts(TEXTS)
    other = encode_texts(TEXTS, range(101), vocabulary)
    monkeypatch.setattr(outgrowing, "IN_MEMORY", 97)
    one = encode_texts(grown(), range(101), vocabulary, keep_texts=True)
    assert isinstance(one, EncodedTexts)
    assert isinstance(one.texts, StoredTexts)
    for name in ("ids", "offsets", "labels", "unread"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_no_file_is_left_even_while_texts_are_in_it(small_memory, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = grown()
    assert os.listdir(tmp_path) == []
    assert len(list(found)) == 101


def test_a_full_disk_is_said(small_memory, monkeypatch):
    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(outgrowing.tempfile, "TemporaryFile", full)
    with pytest.raises(UserError, match=r"No space left on device.*TMPDIR"):
        grown()
    with pytest.raises(UserError, match=r"No space left on device.*TMPDIR"):
        GrowingArray("<i8").append(np.arange(50))


def test_no_folder_for_temporary_files_is_said(monkeypatch):
    def none():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_get_default_tempdir", none)
    with pytest.raises(UserError, match=r"No usable temporary directory found.*TMPDIR"):
        outgrowing.NamelessFile()
    result = CliRunner().invoke(app, ["bench", "fuzz", "--cases", "1"])
    assert result.exit_code == 2
    assert result.stderr.startswith("heedful: No usable temporary directory found")
    assert "TMPDIR" in result.stderr


def test_a_packed_table_that_does_not_fit_where_it_is_unpacked_is_said(tmp_path, monkeypatch):
    pd.DataFrame({"text": ["good film", "bad film"] * 9, "label": [1, 0] * 9}).to_parquet(
        tmp_path / "a.parquet"
    )
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress((tmp_path / "a.parquet").read_bytes()))
    assert len(load_data(tmp_path / "a.parquet.gz")) == 18

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(outgrowing.os, "write", full)
    with pytest.raises(UserError, match=r"No space left on device.*TMPDIR"):
        load_data(tmp_path / "a.parquet.gz")
