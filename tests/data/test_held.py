"""Data as people hold them: every kind gives the same corpus, and another kind one sentence."""

import numpy as np
import pandas
import pyarrow
import pytest

from heedful.data import load_data
from heedful.data.named import load_texts
from heedful.errors import UserError

ROWS = [(f"a {'good' if row % 2 else 'bad'} film number {row}", row % 2) for row in range(37)]
TEXTS, LABELS = [text for text, _ in ROWS], [label for _, label in ROWS]
FRAME = pandas.DataFrame({"text": TEXTS, "label": LABELS})


def dataset():
    return pytest.importorskip("datasets", reason="the extra hf is not installed").Dataset.from_pandas(FRAME)


HELD = {
    "DataFrame": lambda: FRAME,
    "DataFrame with its own index": lambda: FRAME.set_index(np.arange(100, 137)),
    "Arrow table": lambda: pyarrow.Table.from_pandas(FRAME),
    "Dataset": dataset,
    "dictionary": lambda: {"text": TEXTS, "label": np.array(LABELS)},
    "records": lambda: [{"text": text, "label": label} for text, label in ROWS],
    "pairs": lambda: ROWS,
    "two lists": lambda: (TEXTS, LABELS),
    "two columns": lambda: (FRAME["text"], FRAME["label"]),
}


@pytest.fixture(scope="module")
def from_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("file") / "films.csv"
    FRAME.to_csv(path, index=False)
    return load_data(path)


@pytest.mark.parametrize("kind", HELD)
def test_every_kind_gives_the_corpus_that_the_file_gives(kind, from_file):
    assert load_data(HELD[kind]()).fingerprint == from_file.fingerprint


def test_texts_and_labels_are_two_arguments_too(from_file):
    assert load_data(TEXTS, LABELS).fingerprint == from_file.fingerprint
    assert not any("Guessed" in note for note in load_data(TEXTS, LABELS).notes)


def test_a_corpus_is_given_back(from_file):
    assert load_data(from_file) is from_file


def test_splits_of_a_dictionary_of_datasets_are_kept():
    datasets = pytest.importorskip("datasets", reason="the extra hf is not installed")
    parts = datasets.DatasetDict(
        {"train": dataset().select(range(29)), "test": dataset().select(range(29, 37))}
    )
    assert len(load_data(parts).split("test")) == 8
    assert load_texts(parts) == TEXTS


def test_class_names_of_a_dataset_are_kept():
    datasets = pytest.importorskip("datasets", reason="the extra hf is not installed")
    named = dataset().cast_column("label", datasets.ClassLabel(names=["bad", "good"]))
    assert load_data(named).label_names == ("bad", "good")


@pytest.mark.parametrize("missing", [None, float("nan"), pandas.NA])
def test_missing_cells_of_a_frame_are_dropped_and_counted(missing):
    frame = FRAME.astype(object)
    frame.loc[3, "text"] = missing
    frame.loc[5, "label"] = missing
    corpus = load_data(frame)
    assert len(corpus) == 35
    assert "Dropped 1 row without text (the first is row 4)." in corpus.notes
    assert "Dropped 1 row without a label (the first is row 6)." in corpus.notes


@pytest.mark.parametrize(
    ("held", "says"),
    [
        (17, "of the type int"),
        (object(), "a DataFrame, a Hugging Face Dataset"),
        (TEXTS, "give one for each text as labels="),
        ({"text": TEXTS, "label": LABELS[:5]}, "text 37, label 5"),
        ({"text": TEXTS, "label": 3}, "the column 'label' must be a list"),
        (FRAME.rename(columns={"label": "text"}), "more than one column named 'text'"),
        (FRAME.rename(columns={"text": "one", "label": "two"})[["one"]], "label is not obvious"),
    ],
)
def test_another_kind_gets_one_sentence(held, says):
    with pytest.raises(UserError, match=says):
        load_data(held)


def test_labels_of_another_kind_get_one_sentence():
    with pytest.raises(UserError, match="Labels are taken as a list"):
        load_data(TEXTS, 3)
    with pytest.raises(UserError, match="text 37, label 2"):
        load_data(TEXTS, [0, 1])
    with pytest.raises(UserError, match="a file has its own"):
        load_data("films.csv", LABELS)


@pytest.mark.parametrize("kind", HELD)
def test_texts_alone_are_read_from_every_kind(kind):
    assert load_texts(HELD[kind]()) == TEXTS
    assert load_texts(TEXTS) == TEXTS


def test_texts_of_a_file_need_no_label(tmp_path):
    path = tmp_path / "only.csv"
    FRAME[["text"]].rename(columns={"text": "what they wrote"}).to_csv(path, index=False)
    assert load_texts(path) == TEXTS
