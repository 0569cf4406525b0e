"""Datasets of Hugging Face, written to disk here and read through the library."""

import sys

import pytest

from heedful.data.huggingface import read_hub
from heedful.errors import MissingExtra, UserError

datasets = pytest.importorskip("datasets", reason="the extra hf is not installed")


def table(count: int, *, names=("neg", "pos"), label="label", first=0, unlabelled=0):
    features = datasets.Features(
        {"text": datasets.Value("string"), label: datasets.ClassLabel(names=list(names))}
    )
    labels = [n % len(names) for n in range(count)] + [-1] * unlabelled
    texts = [f"text {first + n}" for n in range(count + unlabelled)]
    return datasets.Dataset.from_dict({"text": texts, label: labels}, features=features)


def saved(dataset, path) -> str:
    dataset.save_to_disk(str(path))
    return f"hf:{path}"


@pytest.fixture(autouse=True)
def _quietly():
    datasets.disable_progress_bars()


def test_splits_and_names_of_classes_are_those_of_the_dataset(tmp_path):
    parts = {"train": table(10), "validation": table(4, first=50), "test": table(6, first=80)}
    corpus = read_hub(saved(datasets.DatasetDict(parts), tmp_path / "movies"))
    assert corpus.name == "movies"
    assert corpus.label_names == ("neg", "pos")
    assert [sum(corpus.class_sizes(split).values()) for split in ("train", "dev", "test")] == [10, 4, 6]
    assert list(corpus.split("dev").texts) == [f"text {n}" for n in range(50, 54)]
    assert corpus.split("dev").labels.tolist() == [0, 1, 0, 1]
    assert any("text from column 'text'" in note for note in corpus.notes)
    assert not any("split from column" in note for note in corpus.notes)


def test_the_order_of_classes_is_that_of_the_dataset_and_not_of_the_alphabet(tmp_path):
    corpus = read_hub(saved(table(24, names=("World", "Sports", "Arts")), tmp_path / "news"))
    assert corpus.label_names == ("World", "Sports", "Arts")
    assert corpus.labels[:3].tolist() == [0, 1, 2]


def test_one_table_is_dealt_out(tmp_path):
    corpus = read_hub(saved(table(40), tmp_path / "one"), seed=2)
    assert corpus.class_sizes("train") == {"neg": 10, "pos": 10}  # of few rows more are kept for test
    assert read_hub(str(tmp_path / "one"), test_share=0.1).class_sizes("train") == {"neg": 16, "pos": 16}
    assert any("seed 2" in note for note in corpus.notes)


def test_one_table_may_have_its_split_in_a_column(tmp_path):
    cells = {
        "text": list("abcdefgh"),
        "label": [0, 1] * 4,
        "split": ["train"] * 4 + ["dev"] * 2 + ["test"] * 2,
    }
    corpus = read_hub(saved(datasets.Dataset.from_dict(cells), tmp_path / "one"))
    assert corpus.splits.tolist() == cells["split"]
    assert any("split from column 'split'" in note for note in corpus.notes)


def test_rows_without_a_label_and_other_splits_are_left_out_and_said(tmp_path):
    parts = {
        "train": table(20),
        "validation": table(6, unlabelled=1),
        "test": table(0, unlabelled=7),
        "unsupervised": table(5),
    }
    corpus = read_hub(saved(datasets.DatasetDict(parts), tmp_path / "glue"))
    assert "Dropped 7 rows without a label (-1) from test." in corpus.notes
    assert "Dropped 1 rows without a label (-1) from validation." in corpus.notes
    assert any("'unsupervised'" in note for note in corpus.notes)
    assert any("There was no test split" in note for note in corpus.notes)
    assert len(corpus) == 26


def test_a_label_of_minus_one_counts_where_labels_are_plain_numbers(tmp_path):
    cells = {"text": [f"t{n}" for n in range(12)], "label": [-1, 1] * 6}
    assert read_hub(saved(datasets.Dataset.from_dict(cells), tmp_path / "a")).label_names == ("-1", "1")


def test_columns_may_be_named_and_wrong_ones_are_refused(tmp_path):
    name = saved(table(12, label="mood"), tmp_path / "a")
    assert len(read_hub(name, text="text", label="mood")) == 12
    with pytest.raises(UserError, match="no column 'moood' for the label; the nearest is 'mood'"):
        read_hub(name, label="moood")
    split = saved(datasets.DatasetDict({"train": table(12)}), tmp_path / "b")
    with pytest.raises(UserError, match="has its splits apart"):
        read_hub(split, split="text")


def test_rows_go_through_the_same_checks_as_those_of_files(tmp_path):
    cells = {"text": ["a", "", "b", "c", " ", "d"], "label": [0, 1, 0, 1, 0, 1]}
    corpus = read_hub(saved(datasets.Dataset.from_dict(cells), tmp_path / "a"))
    assert any("Dropped 2 rows without text (the first is row 2)" in note for note in corpus.notes)
    cells = {"text": [1, 2, 3, 4], "label": [0, 1, 0, 1]}
    with pytest.raises(UserError, match="strings for texts, but that of row 1 of train is 1"):
        read_hub(saved(datasets.DatasetDict({"train": datasets.Dataset.from_dict(cells)}), tmp_path / "b"))


def test_a_dataset_without_known_splits_is_refused(tmp_path):
    name = saved(datasets.DatasetDict({"fold1": table(4), "fold2": table(4)}), tmp_path / "a")
    with pytest.raises(UserError, match="no split named train, validation or test, only fold1, fold2"):
        read_hub(name)


def test_a_folder_that_is_no_dataset_is_refused(tmp_path):
    with pytest.raises(UserError, match="is not a whole dataset as save_to_disk writes it"):
        read_hub(f"hf:{tmp_path}")


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("hf:imdb", ("imdb", None)),
        ("stanfordnlp/imdb", ("stanfordnlp/imdb", None)),
        ("hf:nyu-mll/glue/sst2", ("nyu-mll/glue", "sst2")),
    ],
)
def test_a_name_on_the_hub_is_asked_for_with_its_configuration(monkeypatch, name, asked):
    def answer(*arguments):
        assert arguments == asked
        return table(12)

    monkeypatch.setattr(datasets, "load_dataset", answer)
    assert len(read_hub(name)) == 12


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (ConnectionError("no route"), r"cannot be reached: connect, or save it .* name it as hf:FOLDER\.$"),
        (
            ValueError("Config name is missing.\nPlease pick one"),
            r"cannot be read: Config name is missing\.$",
        ),
        (datasets.exceptions.DatasetNotFoundError("It is private."), "no dataset 'imdb' that may be read"),
    ],
)
def test_what_the_hub_refuses_is_one_sentence(monkeypatch, fault, sentence):
    def fail(*_arguments):
        raise fault

    monkeypatch.setattr(datasets, "load_dataset", fail)
    with pytest.raises(UserError, match=sentence) as caught:
        read_hub("hf:imdb")
    assert "\n" not in str(caught.value)


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match=r"heedful\[hf\]"):
        read_hub("hf:imdb")
