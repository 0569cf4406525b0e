"""Word vectors from files in the wild and from the corpus itself."""

import gzip
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from heedful.data.vocabulary import Vocabulary
from heedful.errors import MissingExtra, UserError
from heedful.models import MODELS, WordVectors, build_model, read_vectors, train_word2vec, vectors_for

VOCABULARY = Vocabulary.build(["good", "bad", "naïve", "rare"])
GLOVE = "good 1 2 3\n. . . 7 7 7\nnaïve -1.5 2e-3 0\nother 9 9 9\nbad 4 5 6\ngood 8 8 8\n"


def written(folder: Path, content: str, name: str = "vectors.txt") -> Path:
    path = folder / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(content.encode()))
    else:
        path.write_bytes(content.encode())
    return path


def vector(vectors: WordVectors, word: str) -> list[float]:
    return vectors.table[int(VOCABULARY.ids([word])[0])].tolist()


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (GLOVE, "glove.txt"),
        ("6 3\n" + GLOVE, "word2vec.txt"),
        ("6 3\n" + GLOVE.replace("\n", " \n"), "trailing-spaces.txt"),
        (GLOVE.replace("\n", "\r\n"), "windows.txt"),
        (GLOVE, "glove.txt.gz"),
    ],
)
def test_vectors_are_read_from_each_format(content: str, name: str, tmp_path: Path) -> None:
    vectors = read_vectors(written(tmp_path, content, name), VOCABULARY)
    assert vectors.table.shape == (6, 3)
    assert vector(vectors, "good") == [1, 2, 3]
    assert vector(vectors, "bad") == [4, 5, 6]
    assert vector(vectors, "naïve") == pytest.approx([-1.5, 2e-3, 0])
    assert vector(vectors, "rare") == [0, 0, 0]
    assert vectors.coverage == 0.75


def test_a_model_starts_from_the_vectors_that_were_found_and_from_noise_elsewhere(tmp_path: Path) -> None:
    vectors = read_vectors(written(tmp_path, GLOVE), VOCABULARY)
    model = build_model(replace(MODELS["dp"], embedding=3), VOCABULARY, ("a", "b"), vectors=vectors)
    weight = model.embedding.weight
    assert torch.equal(weight[vectors.found], vectors.table[vectors.found])
    noise = weight[~vectors.found][1:]  # without padding
    assert len(noise) == 2
    assert (noise.abs() <= 0.1).all()
    assert (noise != 0).all()
    assert (weight[0] == 0).all()


def test_vectors_of_another_width_are_refused(tmp_path: Path) -> None:
    vectors = read_vectors(written(tmp_path, GLOVE), VOCABULARY)
    with pytest.raises(UserError, match="set embedding to their width"):
        build_model(MODELS["dp"], VOCABULARY, ("a", "b"), vectors=vectors)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("good 1 2 3\nbad 4 5\n", "line 2"),
        ("good 1 2 3\nbad 4 five 6\n", "line 2"),
        ("good 1 2 3\nbad 4 nan 6\n", "line 2"),
        ("2 3\ngood 1 2 3\nother 1\n", "line 3"),
        ("good\n", "line 1"),
        ("other 1 2 3\n", "none of the 4 words"),
        ("", "none of the 4 words"),
    ],
)
def test_a_bad_line_is_named(content: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=said):
        read_vectors(written(tmp_path, content), VOCABULARY)


def test_a_file_that_is_missing_or_cut_off_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no file of word vectors"):
        read_vectors(tmp_path / "nowhere.txt", VOCABULARY)
    path = written(tmp_path, "good 1 2 3\n" * 1000, "cut.txt.gz")
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(UserError, match="not a whole gzip file"):
        read_vectors(path, VOCABULARY)
    path.write_bytes(b"no gzip at all")
    with pytest.raises(UserError, match="not a whole gzip file"):
        read_vectors(path, VOCABULARY)


def two_topics() -> tuple[list[list[int]], Vocabulary]:
    """Texts of words 2 to 6 or of words 7 to 11, never of both."""
    generator = np.random.default_rng(0)
    texts = [(generator.integers(2, 7, 12) + 5 * (number % 2)).tolist() for number in range(300)]
    return texts, Vocabulary.build([f"w{number}" for number in range(10)])


def test_word2vec_puts_words_of_one_topic_together_and_repeats_itself() -> None:
    pytest.importorskip("gensim", reason="the extra word2vec is not installed")
    texts, vocabulary = two_topics()
    vectors = train_word2vec(texts, vocabulary, width=13, passes=10, seed=3)
    assert vectors.found.tolist() == [False, False] + [True] * 10
    unit = torch.nn.functional.normalize(vectors.table[2:], dim=1)
    likeness = unit @ unit.T
    same = likeness[:5, :5][~torch.eye(5, dtype=torch.bool)].mean()
    assert same > likeness[:5, 5:].mean() + 0.2
    again = train_word2vec(texts, vocabulary, width=13, passes=10, seed=3)
    assert torch.equal(again.table, vectors.table)
    assert not torch.equal(
        train_word2vec(texts, vocabulary, width=13, passes=10, seed=4).table, vectors.table
    )


def test_word2vec_reads_texts_longer_than_gensims_limit_to_their_end() -> None:
    pytest.importorskip("gensim", reason="the extra word2vec is not installed")
    vocabulary = Vocabulary.build(["early", "late"])
    early, late = vocabulary.ids(["early", "late"]).tolist()
    vectors = train_word2vec([[early] * 10_000 + [late] * 5], vocabulary, width=3, passes=1)
    assert vectors.found[[early, late]].all()


def test_settings_choose_where_vectors_come_from(tmp_path: Path) -> None:
    assert vectors_for(MODELS["dp"], VOCABULARY, texts=[[2]]) is None
    path = written(tmp_path, GLOVE)
    settings = replace(MODELS["dp"], embedding_source="file", vectors_file=str(path))
    assert vectors_for(settings, VOCABULARY, texts=[]).coverage == 0.75
    pytest.importorskip("gensim", reason="the extra word2vec is not installed")
    settings = replace(MODELS["han-rnn"], embedding=5, word2vec_passes=1)
    assert vectors_for(settings, VOCABULARY, texts=[[2, 3, 2]]).table.shape == (6, 5)
    with pytest.raises(UserError, match="needs texts"):
        vectors_for(settings, VOCABULARY, texts=[])


def test_vectors_of_sentences_have_length_one_and_those_of_texts_do_not():
    pytest.importorskip("gensim", reason="the extra word2vec is not installed")
    texts = [[2, 3, 4, 2, 5], [3, 3, 5]] * 3
    raw, unit = (
        vectors_for(
            replace(MODELS["dp"], embedding=5, embedding_source=source, word2vec_passes=2),
            VOCABULARY,
            texts=texts,
        )
        for source in ("word2vec", "word2vec-sentences")
    )
    assert torch.equal(raw.found, unit.found)
    torch.testing.assert_close(unit.table[unit.found].norm(dim=1), torch.ones(int(unit.found.sum())))
    torch.testing.assert_close(raw.table / raw.table.norm(dim=1, keepdim=True).clamp(min=1e-12), unit.table)
    assert (raw.table[raw.found].norm(dim=1) < 0.9).all()


def test_without_gensim_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(MissingExtra, match=r"heedful\[word2vec\]"):
        train_word2vec([[2]], VOCABULARY)
