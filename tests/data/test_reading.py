"""A user's own files: what is good is read, what is bad is refused in one sentence that says where."""

import csv
import gzip
import io
import json
import os
import re
import time
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from heedful.data import reading
from heedful.data.gathering import order_labels
from heedful.data.reading import read_corpus, read_rows
from heedful.data.tables.separated import headless_rows
from heedful.errors import UserError

TWELVE = [(f'text {number}, of "many"\nlines', ["bad", "good"][number % 2]) for number in range(12)]


def write_csv(path: Path, rows, columns=("text", "label"), delimiter=",") -> Path:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter).writerows([columns, *rows])
    content = buffer.getvalue().encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def write_jsonl(path: Path, rows, columns=("text", "label")) -> Path:
    lines = "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)
    path.write_bytes(gzip.compress(lines.encode()) if path.suffix == ".gz" else lines.encode())
    return path


def write_parquet(path: Path, rows, columns=("text", "label")) -> Path:
    cells = dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))
    plain = path.with_name("plain.parquet")
    parquet.write_table(pa.table(cells), plain, row_group_size=997)
    content = plain.read_bytes()
    plain.unlink()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(path: Path, **options) -> str:
    """The one sentence a bad file is refused with, the name of its folder left out."""
    before = sorted(path.parent.iterdir()) if path.parent.is_dir() else []
    with pytest.raises(UserError) as caught:
        read_corpus(path, **options)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith((".", ")"))
    assert (sorted(path.parent.iterdir()) if path.parent.is_dir() else []) == before
    return sentence.replace(f"{path.parent}/", "")


# What is good


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet"])
def test_every_format_gives_the_same_corpus_plain_or_packed(tmp_path, ending, packed):
    path = tmp_path / f"reviews{ending}{packed}"
    if ending in (".csv", ".tsv", ".tab"):
        write_csv(path, TWELVE, delimiter="," if ending == ".csv" else "\t")
    else:
        (write_parquet if ending == ".parquet" else write_jsonl)(path, TWELVE)
    corpus = read_corpus(path)
    assert corpus.name == "reviews"
    assert list(zip(corpus.texts, map(corpus.label_names.__getitem__, corpus.labels), strict=True)) == TWELVE
    assert corpus.fingerprint == read_corpus(write_csv(tmp_path / "same.csv", TWELVE)).fingerprint
    assert list(read_rows(path)) == [(text, label, "") for text, label in TWELVE]


def test_without_a_split_rows_are_dealt_out_stratified_and_seeded_and_it_is_said(tmp_path):
    path = write_csv(tmp_path / "a.csv", [(f"t{n}", "xy"[n % 2]) for n in range(40)])
    corpus = read_corpus(path, seed=3, shares=(0.5, 0.2, 0.3))
    assert [tuple(corpus.class_sizes(s).values()) for s in ("train", "dev", "test")] == [
        (10, 10),
        (4, 4),
        (6, 6),
    ]
    assert (corpus.splits == read_corpus(path, seed=3, shares=(0.5, 0.2, 0.3)).splits).all()
    assert (corpus.splits != read_corpus(path, seed=4, shares=(0.5, 0.2, 0.3)).splits).any()
    assert any("50 % train, 20 % dev and 30 % test" in note and "seed 3" in note for note in corpus.notes)


@pytest.mark.parametrize(
    ("columns", "text", "label"),
    [
        (("id", "Sentence", "Sentiment"), "Sentence", "Sentiment"),
        (("text", "review", "stars"), "text", "stars"),
        (("tweet", "mood"), "tweet", "mood"),
        (("words", "label"), "words", "label"),
        (("", "text", "label"), "text", "label"),
    ],
)
def test_obvious_columns_are_guessed_and_the_guess_is_said(tmp_path, columns, text, label):
    rows = [[f"{column}{n}" if column != label else "ab"[n % 2] for column in columns] for n in range(8)]
    corpus = read_corpus(write_csv(tmp_path / "a.csv", rows, columns))
    assert corpus.texts[0] == f"{text}0"
    assert corpus.label_names == ("a", "b")
    assert any(f"text from column {text!r}, label from column {label!r}" in note for note in corpus.notes)


def test_named_columns_are_taken_and_nothing_is_said_to_be_guessed(tmp_path):
    rows = [(f"t{n}", f"b{n}", "xy"[n % 2], ["train", "test"][n // 6]) for n in range(12)]
    path = write_csv(tmp_path / "a.csv", rows, ("title", "body", "kind", "part"))
    corpus = read_corpus(path, text="body", label="kind", split="part")
    assert corpus.texts[0] == "b0"
    assert not any("Guessed" in note for note in corpus.notes)
    assert list(corpus.split("test").texts) == [f"b{n}" for n in range(6, 12)]


def test_names_of_splits_are_understood_whatever_their_case(tmp_path):
    said = ["Train", "training", "TRAIN", "train", "Validation", "val", "dev ", "valid", "Test", "testing"]
    rows = [(f"t{n}", "xy"[n % 2], split) for n, split in enumerate(said)]
    corpus = read_corpus(write_csv(tmp_path / "a.csv", rows, ("text", "label", "set")))
    assert corpus.splits.tolist() == ["train"] * 4 + ["dev"] * 4 + ["test"] * 2
    assert any("split from column 'set'" in note for note in corpus.notes)


# Dev is a tenth of what is not set aside as test already, a ninth of train and dev; of so few rows, test is
# four tenths of all and so four ninths of what is not dev.
@pytest.mark.parametrize(
    ("there", "missing", "size", "part"), [("test", "dev", 2, "11 %"), ("dev", "test", 9, "44 %")]
)
def test_a_missing_split_is_carved_from_train_and_the_other_is_untouched(
    tmp_path, there, missing, size, part
):
    rows = [(f"t{n}", "xy"[n % 2], "train" if n < 40 else there) for n in range(60)]
    corpus = read_corpus(write_csv(tmp_path / "a.csv", rows, ("text", "label", "split")))
    assert (corpus.splits[40:] == there).all()
    assert corpus.class_sizes(missing) == {"x": size, "y": size}
    assert set(corpus.splits[:40]) == {"train", missing}
    assert any(f"no {missing} split" in note and part in note for note in corpus.notes)


def test_rows_without_a_split_go_to_train_if_others_have_one(tmp_path):
    rows = [(f"t{n}", "xy"[n % 2], ["", "dev", "test"][n // 4]) for n in range(12)]
    corpus = read_corpus(write_csv(tmp_path / "a.csv", rows, ("text", "label", "split")))
    assert corpus.splits.tolist() == ["train"] * 4 + ["dev"] * 4 + ["test"] * 4
    assert any("Rows without a split were put into train: 4." in note for note in corpus.notes)


def test_a_split_column_that_is_empty_throughout_is_as_none(tmp_path):
    with_column = write_csv(tmp_path / "a.csv", [(*row, "") for row in TWELVE], ("text", "label", "split"))
    without = write_csv(tmp_path / "b.csv", TWELVE)
    assert read_corpus(with_column).fingerprint == read_corpus(without).fingerprint


def test_a_guessed_split_column_with_other_values_is_passed_over_and_said(tmp_path):
    path = write_csv(
        tmp_path / "a.csv", [(*row, n % 5) for n, row in enumerate(TWELVE)], ("text", "label", "fold")
    )
    corpus = read_corpus(path)
    assert any("Column 'fold' was not taken for the split: it has '0'" in note for note in corpus.notes)
    assert set(corpus.splits) == {"train", "dev", "test"}
    assert "has '0' for the split of line 2, where train" in refusal(path, split="fold")


def test_empty_and_blank_texts_are_dropped_counted_and_said(tmp_path):
    rows = [("", "x"), *[(f"t{n}", "xy"[n % 2]) for n in range(6)], (" \t\u2003", "y"), ("", "")]
    corpus = read_corpus(write_csv(tmp_path / "a.csv", rows))
    assert len(corpus) == 6
    assert any(note == "Dropped 3 rows without text (the first is line 2)." for note in corpus.notes)


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_a_byte_order_mark_do_not_matter(tmp_path, ends, mark):
    lines = ["text,label", *[f'"a{n}, b",{"xy"[n % 2]}' for n in range(6)], ""]
    corpus = read_corpus(write(tmp_path / "a.csv", mark + ends.join(lines)))
    assert list(corpus.texts) == [f"a{n}, b" for n in range(6)]
    assert corpus.label_names == ("x", "y")


def test_blank_lines_are_passed_over(tmp_path):
    path = write(tmp_path / "a.csv", "\n  \ntext,label\n" + "a,x\n\nb,y\n   \n" * 3)
    assert len(read_corpus(path)) == 6


def test_semicolons_are_taken_for_separators_where_there_are_no_commas_and_it_is_said(tmp_path):
    corpus = read_corpus(write_csv(tmp_path / "a.csv", TWELVE, delimiter=";"))
    assert corpus.texts[0] == TWELVE[0][0]
    assert any("semicolons" in note for note in corpus.notes)


def test_a_field_of_ten_megabytes_is_read(tmp_path):
    long = "word " * 2_000_000
    path = write_csv(tmp_path / "a.csv", [(long, "x"), ("b", "y"), ("c", "x"), ("d", "y")])
    assert read_corpus(path).texts[0] == long


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")).filter(
            lambda text: re.search(r"\w", text)
        ),
        min_size=4,
        max_size=9,
    )
)
def test_any_text_comes_back_as_it_was_written(tmp_path, texts):
    rows = [(text, "xy"[n % 2]) for n, text in enumerate(texts)]
    for path in (
        write_csv(tmp_path / "a.csv", rows),
        write_jsonl(tmp_path / "a.jsonl", rows),
        write_parquet(tmp_path / "a.parquet", rows),
    ):
        assert list(read_corpus(path).texts) == texts


# Labels


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (["1.0", "0.0"], ("0", "1")),
        (["10", "9", "-1"], ("-1", "9", "10")),
        (["0.5", "1.0", "1"], ("0.5", "1")),
        (["1.0", "beta"], ("1.0", "beta")),
        ([" pos", "neg "], ("neg", "pos")),
    ],
)
def test_labels_are_shown_plainly_and_in_order(tmp_path, found, shown):
    rows = [(f"t{n}", label) for n, label in enumerate(found * 4)]
    assert read_corpus(write_csv(tmp_path / "a.csv", rows)).label_names == shown


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([0, 1], ("0", "1")),
        ([1.0, 0.0], ("0", "1")),
        ([True, False], ("false", "true")),
        (["b", "a"], ("a", "b")),
    ],
)
@pytest.mark.parametrize("writer", [write_jsonl, write_parquet])
def test_labels_may_be_numbers_and_truth_values(tmp_path, writer, values, shown):
    path = tmp_path / ("a.jsonl" if writer is write_jsonl else "a.parquet")
    corpus = read_corpus(writer(path, [(f"t{n}", value) for n, value in enumerate(values * 4)]))
    assert corpus.label_names == shown
    assert corpus.label_names[corpus.labels[0]] == shown[1] or values == [0, 1]


@pytest.mark.parametrize(
    "ordered",
    [
        ("negative", "positive"),
        ("neg", "pos"),
        ("no", "yes"),
        ("0", "1"),
        ("ham", "spam"),
        ("sad", "happy"),
        ("rotten", "fresh"),
        ("not hate", "hate"),
        ("non-ironic", "ironic"),
        ("-", "+"),
        ("False", "True"),
        ("apples", "pears"),
        ("a", "b", "no"),
    ],
)
def test_of_two_classes_the_negative_one_comes_first(ordered):
    assert order_labels(ordered) == ordered
    assert order_labels(reversed(ordered)) == ordered


# Folders


def make_folder(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        write(root / name, content)
    return root


def test_a_folder_of_text_files_by_label(tmp_path):
    files = {f"{label}/{n}.txt": f"{label} {n}\n" for label in ("good", "bad") for n in range(5)}
    corpus = read_corpus(make_folder(tmp_path / "reviews", files | {"README": "left alone"}))
    assert corpus.name == "reviews"
    assert Counter(corpus.labels.tolist()) == {0: 5, 1: 5}
    assert corpus.texts[0] == "bad 0\n"
    assert corpus.label_names == ("bad", "good")


def test_a_folder_of_text_files_by_split_and_label(tmp_path):
    files = {
        f"{split}/{label}/{n}.txt": f"{split} {label} {n}"
        for split in ("train", "validation", "test")
        for label in ("pos", "neg")
        for n in range(3)
    }
    files |= {"train/unsup/0.txt": "nobody knows", "train/urls.txt": "not a text"}
    corpus = read_corpus(make_folder(tmp_path / "imdb", files))
    assert len(corpus) == 18
    assert corpus.class_sizes("dev") == {"neg": 3, "pos": 3}
    assert all(text.startswith("test") for text in corpus.split("test").texts)
    assert any("train/unsup" in note for note in corpus.notes)


def test_labels_that_are_called_like_splits_are_labels_where_they_hold_texts(tmp_path):
    files = {f"{label}/{n}.txt": f"{label} {n}" for label in ("test", "train") for n in range(4)}
    assert read_corpus(make_folder(tmp_path / "transport", files)).label_names == ("test", "train")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("\nпривет, мир".encode("cp1251"), "b.txt is not UTF-8 in line 2"),
        (b"a\n\nb\0", "b.txt has a NUL byte in line 3"),
        ("text".encode("utf-16") + b"a", "b.txt is not UTF-16 in line 1"),
    ],
)
def test_a_bad_file_in_a_folder_is_named(tmp_path, content, sentence):
    folder = make_folder(
        tmp_path / "a", {"x/a.txt": "fine", "x/b.txt": content, "y/a.txt": "fine", "y/b.txt": "fine"}
    )
    assert sentence in refusal(folder)


def test_an_empty_text_file_is_dropped_and_named(tmp_path):
    files = {f"{label}/{n}.txt": "x" * n for label in "ab" for n in range(4)}
    corpus = read_corpus(make_folder(tmp_path / "f", files))
    assert any("Dropped 2 rows without text (the first is file a/0.txt)" in note for note in corpus.notes)


@pytest.mark.parametrize("content", ["ä" * 37, "x" * 200], ids=["in characters", "in bytes"])
def test_a_file_that_is_longer_than_any_text_is_refused(tmp_path, monkeypatch, content):
    monkeypatch.setattr("heedful.data.tables.lines.LONGEST", 36)
    files = {f"{label}/{n}.txt": "ä" * 36 for label in "ab" for n in range(4)}
    folder = make_folder(tmp_path / "f", files)
    assert len(read_corpus(folder)) == 8
    (folder / "a" / "3.txt").write_text(content)
    assert "3.txt has more than 36 characters, as no text has" in refusal(folder)


def test_what_is_called_a_text_and_is_no_file_is_refused(tmp_path):
    folder = make_folder(tmp_path / "f", {f"{label}/0.txt": "fine" for label in "ab"})
    (folder / "a" / "1.txt").mkdir()
    assert "1.txt is a folder, where a file was needed" in refusal(folder)
    (folder / "a" / "1.txt").rmdir()
    os.mkfifo(folder / "a" / "1.txt")
    assert "1.txt is no regular file" in refusal(folder)


def test_the_texts_of_a_folder_are_not_all_held(tmp_path, monkeypatch):
    """What is more than some bytes lies in a temporary file while the rest is read; notes are of all."""
    monkeypatch.setattr("heedful.data.outgrowing.IN_MEMORY", 1000)
    files = {
        f"{kind}/{n}.txt": f"{kind} {n} grün ".encode("latin-1") * 2000 for kind in "ab" for n in range(97)
    }
    folder = make_folder(tmp_path / "f", files)
    held, read = [], reading.whole_text

    def watched(*given):
        held.append(tracemalloc.get_traced_memory()[0])
        return read(*given)

    monkeypatch.setattr(reading, "whole_text", watched)
    tracemalloc.start()
    corpus = read_corpus(folder)
    tracemalloc.stop()
    assert len(corpus) == len(held) == 194
    assert max(held) < sum(map(len, files.values())) / 8
    assert any("Read 194 files as Windows-1252, not UTF-8" in note for note in corpus.notes)


def test_a_folder_with_nothing_useful_is_refused_with_what_is_in_it(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "no text files LABEL/*.txt" in refusal(tmp_path / "empty")
    assert "there are: data.csv" in refusal(make_folder(tmp_path / "other", {"data.csv": "a,b"}))
    assert "name it as hf:" in refusal(make_folder(tmp_path / "hub", {"dataset_dict.json": "{}"}))
    assert "has no columns" in refusal(tmp_path / "empty", text="text")


def write_shards(folder: Path, rows, cuts, names=None) -> Path:
    folder.mkdir()
    for number, (first, last) in enumerate(zip([0, *cuts], [*cuts, len(rows)], strict=True)):
        name = names[number] if names else f"part-{number:05d}.parquet"
        write_parquet(folder / name, rows[first:last])
    return folder


def test_a_folder_of_parquet_shards_is_one_table(tmp_path):
    rows = [(f"text {n} of many", None if n == 2500 else "xy"[n % 2]) for n in range(3001)]
    whole = read_corpus(write_parquet(tmp_path / "many.parquet", rows))
    shards = read_corpus(write_shards(tmp_path / "many", rows, (7, 1100, 2900)))
    assert shards.fingerprint == whole.fingerprint
    assert shards.name == whole.name == "many"
    assert "Read 4 Parquet shards of many as one table." in shards.notes
    assert "Dropped 1 row without a label (the first is row 2,501)." in shards.notes
    assert list(read_rows(tmp_path / "many")) == list(read_rows(tmp_path / "many.parquet"))


def test_shards_named_after_splits_say_the_split(tmp_path):
    rows = [(f"text {n}", "xy"[n % 2]) for n in range(60)]
    names = ["test-00000-of-00001.parquet", "train-00000-of-00002.parquet", "train-00001-of-00002.parquet"]
    corpus = read_corpus(write_shards(tmp_path / "hub", rows, (10, 30), names))
    assert set(corpus.split("test").texts) == {text for text, _ in rows[:10]}
    assert len(corpus.split("train")) + len(corpus.split("dev")) == 50


def test_shards_that_do_not_belong_together_are_refused(tmp_path):
    folder = write_shards(tmp_path / "f", TWELVE, (6,))
    write_parquet(folder / "part-2.parquet", TWELVE, ("review", "label"))
    assert "part-2.parquet has other columns than part-00000.parquet" in refusal(folder)
    names = ["train-0.parquet", "more.parquet"]
    assert "more.parquet, which is not" in refusal(write_shards(tmp_path / "g", TWELVE, (6,), names))
    (folder / "part-2.parquet").write_bytes(b"PAR1")
    assert "is not a whole Parquet file" in refusal(folder)
    assert "leave out --encoding" in refusal(write_shards(tmp_path / "h", TWELVE, (6,)), encoding="utf-8")


# What is bad


def test_a_missing_file_is_refused_with_the_nearest_one(tmp_path):
    write_csv(tmp_path / "reviews.csv", TWELVE)
    assert refusal(tmp_path / "review.csv") == "There is no file review.csv; the nearest is 'reviews.csv'."
    assert "its folder" in refusal(tmp_path / "nowhere" / "a.csv")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("a.txt", "but it ends in '.txt'"),
        ("a", "but it ends in 'nothing'"),
        ("a.zip", ".xlsx (each also with .gz)"),
    ],
)
def test_an_unknown_ending_is_refused_with_those_that_are_known(tmp_path, name, sentence):
    assert sentence in refusal(write(tmp_path / name, "text,label\na,b\n"))


@pytest.mark.parametrize(
    "name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.csv.gz", "a.jsonl.gz", "a.parquet.gz"]
)
@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_file_is_refused(tmp_path, name, content):
    packed = gzip.compress(content.encode()) if name.endswith(".gz") else content.encode()
    sentence = refusal(write(tmp_path / name, packed))
    assert f"{name} is empty" in sentence or (content and "not a whole Parquet file" in sentence)


def test_a_header_of_commas_alone_is_refused(tmp_path):  # found by `bench fuzz --seed 2026`, case 48635
    assert "not obvious among '', ''" in refusal(write(tmp_path / "a.csv", ",\na,b\n"))


def test_a_header_alone_is_refused(tmp_path):
    assert "a.csv has no rows" in refusal(write(tmp_path / "a.csv", "text,label\n"))
    empty = pa.table({"text": pa.array([], pa.string()), "label": pa.array([], pa.string())})
    parquet.write_table(empty, tmp_path / "a.parquet")
    assert "a.parquet has no rows" in refusal(tmp_path / "a.parquet")


def test_a_wrong_column_is_refused_with_the_nearest(tmp_path):
    path = write_csv(tmp_path / "a.csv", TWELVE)
    assert "no column 'txt' for the text; the nearest is 'text'" in refusal(path, text="txt")
    assert "no column 'lable' for the label; the nearest is 'label'" in refusal(path, label="lable")
    assert "no column 'quux' for the split; there are: text, label" in refusal(path, split="quux")
    assert "cannot be both the text and the label" in refusal(path, text="label", label="label")


def test_columns_that_are_not_obvious_are_listed_with_the_flag(tmp_path):
    path = write_csv(tmp_path / "a.csv", [("a", "b", "c")] * 5, ("review", "comment", "label"))
    assert "the text is not obvious among 'review', 'comment', 'label'; name it with --text" in refusal(path)
    path = write_csv(tmp_path / "b.csv", [("a", "b", "c")] * 5, ("text", "stars", "class"))
    assert "the label is not obvious among 'text', 'stars', 'class'; name it with --label" in refusal(path)
    assert "(the first line must name the columns)" in refusal(
        write(tmp_path / "c.csv", "3,good film,1990\n")
    )


def test_two_columns_of_one_name_are_refused(tmp_path):
    path = write_csv(tmp_path / "a.csv", [("a", "b", "c")], ("text", "label", "text"))
    assert "more than one column named 'text'" in refusal(path)
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    parquet.write_table(table, tmp_path / "a.parquet")
    assert "more than one column named 'text'" in refusal(tmp_path / "a.parquet")


def test_a_single_class_is_refused(tmp_path):
    assert "only one class, 'x'" in refusal(write_csv(tmp_path / "a.csv", [(f"t{n}", "x") for n in range(9)]))


def test_a_class_with_one_example_is_refused_by_name(tmp_path):
    rows = [(f"t{n}", "xy"[n % 2]) for n in range(9)] + [("alone", "zeta")]
    assert "only one example of class 'zeta'" in refusal(write_csv(tmp_path / "a.csv", rows))
    with_split = [(*row, "train") for row in rows]
    path = write_csv(tmp_path / "b.csv", with_split, ("text", "label", "split"))
    assert "only one example of class 'zeta'" in refusal(path)


def test_a_class_of_two_stays_in_train_and_it_is_said(tmp_path):
    rows = [(f"t{n}", "xy"[n % 2]) for n in range(20)] + [("a", "z"), ("b", "z")]
    corpus = read_corpus(write_csv(tmp_path / "a.csv", rows))
    assert corpus.class_sizes("train")["z"] == 2
    assert "No example of class 'z' is in dev." in corpus.notes


def test_a_class_that_is_not_in_train_is_refused(tmp_path):
    rows = [(f"t{n}", "xy"[n % 2], "train") for n in range(8)] + [("a", "z", "test"), ("b", "z", "test")]
    path = write_csv(tmp_path / "a.csv", rows, ("text", "label", "split"))
    assert "no train example of class 'z'" in refusal(path)
    path = write_csv(tmp_path / "b.csv", [(*row[:2], "test") for row in rows], ("text", "label", "split"))
    assert "no row in train" in refusal(path)
    corpus = read_corpus(path, learn=False)  # to judge texts no train split is needed
    assert set(corpus.splits) == {"test"}
    assert len(corpus) == 10


@pytest.mark.parametrize("missing", ["", "  ", "nan", "NaN"])
def test_rows_without_a_label_are_dropped_counted_and_said(tmp_path, missing):
    rows = [("two\nlines", "x"), ("b", "y"), ("c", missing), ("d", "x"), ("e", missing), ("f", "y")]
    corpus = read_corpus(write_csv(tmp_path / "a.csv", rows))
    assert list(corpus.texts) == ["two\nlines", "b", "d", "f"]
    assert "Dropped 2 rows without a label (the first is line 5)." in corpus.notes
    unlabelled = write_csv(tmp_path / "b.csv", [(text, missing) for text, _ in rows])
    assert "no label in any of 6 rows: name the label column" in refusal(unlabelled)


def test_rows_without_a_label_in_other_formats(tmp_path):
    rows = [("a", 1.0), ("b", 0.0), ("c", float("nan")), ("d", None), ("e", 1.0), ("f", 0.0)]
    said = [
        read_corpus(path).notes
        for path in (write_jsonl(tmp_path / "a.jsonl", rows), write_parquet(tmp_path / "a.parquet", rows))
    ]
    assert "Dropped 2 rows without a label (the first is line 3)." in said[0]
    assert "Dropped 2 rows without a label (the first is row 3)." in said[1]
    lines = '{"text": "a", "label": "x"}\n{"text": "b"}\n' + '{"text": "c", "label": "y"}\n' * 2
    path = write(tmp_path / "b.jsonl", lines + '{"text": "d", "label": "x"}\n')
    assert "Dropped 1 row without a label (the first is line 2)." in read_corpus(path).notes


def test_rows_of_parquet_are_counted_across_batches(tmp_path):
    rows = [(f"t{n}", None if n == 2500 else "xy"[n % 2]) for n in range(3000)]
    notes = read_corpus(write_parquet(tmp_path / "a.parquet", rows)).notes
    assert "Dropped 1 row without a label (the first is row 2,501)." in notes


def test_labels_that_look_continuous_are_refused(tmp_path):
    path = write_csv(tmp_path / "a.csv", [(f"t{n}", n / 7) for n in range(30)])
    assert "30 different labels in 30 rows" in refusal(path)
    path = write_csv(tmp_path / "b.csv", [(f"t{n}", f"id{n % 1001}") for n in range(2002)])
    assert "looks like the wrong column; name the right one with --label" in refusal(path)
    path = write_csv(tmp_path / "c.csv", [(f"t{n}", f"id{n % 1000}") for n in range(2000)])
    assert len(read_corpus(path).label_names) == 1000


def test_nul_is_refused_with_its_line(tmp_path):
    assert "NUL byte in line 3" in refusal(write(tmp_path / "a.csv", b"text,label\na,b\nc\0,d\n"))
    assert "NUL character in the text of line 2" in refusal(
        write_jsonl(tmp_path / "a.jsonl", [("a", "x"), ("b\0", "y")])
    )
    assert "NUL character in the text of row 2" in refusal(
        write_parquet(tmp_path / "a.parquet", [("a", "x"), ("b\0", "y")])
    )


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ('text,label\na,x\n"never closed,y\nb,x\nc,y\n', 3),
        ('text,label\na,x\n"closed by the next,y\n"b",x\n', 3),
        ('text,label\n"he said "no" twice",x\nb,y\n', 2),
        ('text,label,note\n"two\nlines",x,"open\nb,y,z\n', 3),
        ('text,label\n"a ""quoted"" word",x\nb,"y\n', 3),
        ('text,label\r\na,x\r\nb,"y\r\n', 3),
    ],
)
def test_an_unbalanced_quote_is_refused_with_the_line_it_opens_in(tmp_path, content, line):
    sentence = refusal(write(tmp_path / "a.csv", content))
    assert f"has a quote that opens in line {line} and is not closed" in sentence


def test_rows_with_too_few_or_too_many_fields_are_refused_with_their_line(tmp_path):
    few = write(tmp_path / "a.csv", 'text,label\n"two\nlines",x\nb\n')
    assert "has 1 field in line 4, where the header has 2" in refusal(few)
    many = write(tmp_path / "b.csv", "text,label\na,x\nwell, well,x\n")
    assert "has 3 fields in line 3, where the header has 2: quote a text" in refusal(many)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('{"text": "b", "label": ', "line 2 is not JSON"),
        ("[1, 2]", "line 2 is a list"),
        ('"text"', "line 2 is a string"),
        ("null", "line 2 is a null"),
        ("[" * 100_000, "line 2 is not JSON"),
        ('{"text": 7, "label": "x"}', "strings for texts, but that of line 2 is 7"),
        ('{"text": ["b"], "label": "x"}', "strings for texts, but that of line 2 is ['b']"),
        (
            '{"text": "b", "label": ["x", "y"]}',
            "strings or numbers for labels, but that of line 2 is ['x', 'y']",
        ),
        ('{"text": "b", "label": {"x": 1}}', "strings or numbers for labels, but that of line 2 is {'x': 1}"),
        ('{"text": "\\ud83d", "label": "x"}', "half a character (a lone surrogate) in line 2"),
    ],
)
def test_a_bad_json_line_is_refused_with_its_number(tmp_path, line, sentence):
    path = write(tmp_path / "a.jsonl", '{"text": "a", "label": "x"}\n' + line + "\n")
    assert sentence in refusal(path)


def test_json_without_a_text_is_a_row_without_text(tmp_path):
    lines = [f'{{"text": "t{n}", "label": "{"xy"[n % 2]}"}}' for n in range(4)]
    path = write(tmp_path / "a.jsonl", "\n".join([*lines, '{"text": null, "label": "x"}', '{"label": "x"}']))
    corpus = read_corpus(path)
    assert len(corpus) == 4
    assert any("Dropped 2 rows without text (the first is line 5)" in note for note in corpus.notes)


def test_damaged_gzip_is_refused(tmp_path):
    whole = write_csv(
        tmp_path / "a.csv.gz", [(f"text {n * n}", "xy"[n % 2]) for n in range(5000)]
    ).read_bytes()
    changed = whole[:2000] + bytes(byte ^ 255 for byte in whole[2000:2100]) + whole[2100:]
    for content in (whole[: len(whole) // 2], changed, b"text,label\na,b\n"):
        assert "is not a whole gzip file" in refusal(write(tmp_path / "a.csv.gz", content))
    assert "is gzipped, but its name does not say so" in refusal(write(tmp_path / "b.csv", whole))


@pytest.mark.parametrize("name", ["a.parquet", "a.parquet.gz"])
def test_damaged_parquet_is_refused(tmp_path, name):
    whole = write_parquet(tmp_path / "whole.parquet", TWELVE).read_bytes()
    for content in (b"text,label\na,b\n", whole[:-20], b"PAR1" + bytes(40) + b"PAR1"):
        packed = gzip.compress(content) if name.endswith(".gz") else content
        assert "is not a whole Parquet file" in refusal(write(tmp_path / name, packed))


def test_parquet_cells_that_are_no_text_are_refused(tmp_path):
    parquet.write_table(pa.table({"text": [1, 2], "label": ["x", "y"]}), tmp_path / "a.parquet")
    assert "strings for texts, but that of row 1 is 1" in refusal(tmp_path / "a.parquet")
    parquet.write_table(pa.table({"text": [b"a", b"b"], "label": ["x", "y"]}), tmp_path / "a.parquet")
    assert "strings for texts, but that of row 1 is b'a'" in refusal(tmp_path / "a.parquet")


def test_a_file_that_may_not_be_read_is_refused(tmp_path, monkeypatch):
    path = write_csv(tmp_path / "a.csv", TWELVE)

    def deny(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", deny)  # the tests may run as root, for whom nothing is forbidden
    assert "may not be read" in refusal(path)


# Walking


def test_rows_are_walked_with_everything_left_as_it_is(tmp_path):
    path = write_csv(
        tmp_path / "a.csv", [("", "x", "valid"), ("b", "", ""), ("c", "y", "7")], ("text", "label", "split")
    )
    assert list(read_rows(path)) == [("", "x", "dev"), ("b", "", ""), ("c", "y", "7")]


def test_a_walk_can_be_left_half_way(tmp_path):
    rows = read_rows(write_csv(tmp_path / "a.csv", TWELVE))
    assert next(rows)[0] == TWELVE[0][0]
    rows.close()


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_walking_holds_a_small_part_of_the_file(tmp_path, name):
    rows = [(f"{n} " * 200, "xy"[n % 2]) for n in range(20_000)]
    path = tmp_path / name
    {"a.csv": write_csv, "a.jsonl": write_jsonl, "a.parquet": write_parquet}[name](path, rows)
    size = sum(len(text) for text, _ in rows)
    del rows
    list(read_rows(write_csv(tmp_path / "warm.csv", TWELVE)))
    tracemalloc.start()
    assert sum(1 for _ in read_rows(path)) == 20_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < size / 3


def test_a_file_without_a_header_is_walked_by_its_number_of_fields(tmp_path):
    path = write(tmp_path / "a.csv", '"1","a\nb","c"\n"2","d","e"\n')
    assert list(headless_rows(path, 3)) == [(1, ["1", "a\nb", "c"]), (3, ["2", "d", "e"])]
    with pytest.raises(UserError, match="has 3 fields in line 1, where 4 were expected"):
        list(headless_rows(path, 4))


@pytest.mark.slow
def test_a_million_rows_load_in_seconds(tmp_path):
    path = tmp_path / "million.csv"
    with open(path, "w") as file:
        file.write("text,label\n")
        file.writelines(f"this is review number {n} of very many,{n % 2}\n" for n in range(1_000_000))
    start = time.process_time()
    corpus = read_corpus(path)
    assert time.process_time() - start < 20
    assert len(corpus) == 1_000_000
    assert corpus.class_sizes("test") == {"0": 50_000, "1": 50_000}
    assert np.bincount(corpus.labels).tolist() == [500_000, 500_000]


@pytest.mark.corpora
def test_the_sst_file_has_the_papers_sizes(data_dir):
    corpus = read_corpus(data_dir / "sst.csv.gz")
    assert corpus.class_sizes("train") == {"negative": 3310, "positive": 3610}
    assert corpus.class_sizes("dev") == {"negative": 428, "positive": 444}
    assert corpus.class_sizes("test") == {"negative": 912, "positive": 909}


@pytest.mark.corpora
def test_the_longest_newsgroup_message_is_read_whole(data_dir):
    assert max(len(text) for text, _, _ in read_rows(data_dir / "20news_bydate.csv.gz")) == 160_616


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl.gz", "a.parquet"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(UserError, match="no regular file"):
        read_corpus(tmp_path / name)
