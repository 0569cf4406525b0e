"""Parquet rows: added by many, read by all, damaged parts named, SQL kept from other files."""

import os
import signal
import subprocess
import sys

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heedful.errors import UserError
from heedful.records import append_rows, query, read_rows
from heedful.records.rows import count_rows

ADD = "import sys; from heedful.records import append_rows\n"


def part_files(folder):
    return [name for name in os.listdir(folder) if not name.startswith(".")]


def test_what_is_added_is_read_in_the_order_it_was_added(tmp_path):
    folder = tmp_path / "new" / "records"
    for start in (0, 3, 6):
        append_rows(folder, [{"cell": start + k, "name": f"n{start + k}"} for k in range(3)])
    frame = read_rows(folder)
    assert frame["cell"].tolist() == list(range(9))
    assert frame["name"].tolist() == [f"n{k}" for k in range(9)]


def test_columns_are_the_union_over_rows_and_parts(tmp_path):
    append_rows(tmp_path, [{"a": 1, "scale": 10}, {"b": "x"}])
    append_rows(tmp_path, [{"c": True, "scale": 0.5, "b": None}])
    frame = read_rows(tmp_path)
    assert frame.columns.tolist() == ["a", "scale", "b", "c"]
    assert frame["scale"].dropna().tolist() == [10, 0.5]
    assert frame["b"].isna().tolist() == [True, False, True]


def test_large_whole_numbers_and_yes_or_no_stay_exact_beside_nulls(tmp_path):
    seed = 2**62 + 1
    append_rows(tmp_path, [{"seed": seed, "ok": True}])
    append_rows(tmp_path, pandas.DataFrame({"small": np.array([3], dtype=np.int16)}))
    frame = read_rows(tmp_path)
    assert frame["seed"][0] == seed
    assert frame.dtypes.astype(str).to_dict() == {"seed": "Int64", "ok": "boolean", "small": "Int16"}


def test_frames_and_numpy_values_are_rows_too(tmp_path):
    append_rows(tmp_path, pandas.DataFrame({"a": [1, 2], "word": ["x", "y"]}))
    append_rows(tmp_path, [{"a": np.int64(3), "word": "z"}, {"a": np.int64(4), "word": "ü"}])
    assert read_rows(tmp_path)["a"].tolist() == [1, 2, 3, 4]
    assert read_rows(tmp_path)["word"].tolist() == ["x", "y", "z", "ü"]


def test_a_folder_named_like_a_partition_adds_no_column(tmp_path):
    append_rows(tmp_path / "seed=3", [{"a": 1}])
    assert read_rows(tmp_path / "seed=3").columns.tolist() == ["a"]


def test_nothing_is_visible_before_the_rename(tmp_path, monkeypatch):
    append_rows(tmp_path, [{"a": 1}])
    seen = []
    rename = os.replace

    def look_first(source, target):
        seen.append((os.path.getsize(source) > 0, read_rows(tmp_path)["a"].tolist()))
        rename(source, target)

    monkeypatch.setattr(os, "replace", look_first)
    append_rows(tmp_path, [{"a": 2}])
    assert seen == [(True, [1])]
    assert read_rows(tmp_path)["a"].tolist() == [1, 2]


def test_a_process_killed_while_adding_leaves_the_other_rows_readable(tmp_path):
    append_rows(tmp_path, [{"a": 1}])
    code = ADD + (
        "import os, signal\n"
        "os.replace = lambda *names: os.kill(os.getpid(), signal.SIGKILL)\n"
        "append_rows(sys.argv[1], [{'a': 2}])\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == 2  # the killed one's temporary file is there, and not read
    assert read_rows(tmp_path)["a"].tolist() == [1]


def test_a_failed_write_leaves_no_file(tmp_path, monkeypatch):
    def fail(*names):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(UserError, match="disk full"):
        append_rows(tmp_path, [{"a": 2}])
    assert os.listdir(tmp_path) == []


def test_several_processes_add_to_one_folder_while_it_is_read(tmp_path):
    append_rows(tmp_path, [{"writer": -1, "k": 0}])
    code = ADD + "for k in range(11): append_rows(sys.argv[1], [{'writer': int(sys.argv[2]), 'k': k}])"
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(w)]) for w in range(3)]
    counts = []
    while any(writer.poll() is None for writer in writers):
        counts.append(len(read_rows(tmp_path)))
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert counts == sorted(counts)
    frame = read_rows(tmp_path)
    assert len(frame) == 34
    assert frame.groupby("writer")["k"].apply(list)[2] == list(range(11))


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "text"])
def test_a_damaged_part_is_named(tmp_path, damage):
    append_rows(tmp_path, [{"a": 1}])
    part = append_rows(tmp_path, [{"a": k, "word": f"word {k * k}"} for k in range(300)])
    whole = part.read_bytes()
    at = len(whole) // 3  # inside a data page
    flipped = whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :]
    damaged = {"cut": whole[: len(whole) // 2], "empty": b"", "flipped": flipped, "text": b"not parquet" * 9}
    part.write_bytes(damaged[damage])
    with pytest.raises(UserError, match=f"{part.name} is damaged"):
        read_rows(tmp_path)
    with pytest.raises(UserError, match=f"{part.name} is damaged"):
        query(tmp_path, "SELECT * FROM records")


def test_parts_whose_types_disagree_are_named_with_their_column(tmp_path):
    first = append_rows(tmp_path, [{"a": 1, "scale": 10.0}])
    append_rows(tmp_path, [{"a": 2}])
    last = append_rows(tmp_path, [{"a": 2, "scale": "large"}])
    with pytest.raises(UserError, match=f"'scale' is double in .*{first.name} and string in {last.name}"):
        read_rows(tmp_path)


def test_an_empty_or_missing_folder_says_so(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        for read in (read_rows, lambda folder: query(folder, "SELECT 1")):
            with pytest.raises(UserError, match=f"^There are no records in {folder}.$"):
                read(folder)


def test_rows_that_cannot_be_stored_are_refused_and_leave_no_file(tmp_path):
    for rows, sentence in [
        ([], "no rows to add"),
        ([{"a": 1}, {"a": "x"}], "column 'a' cannot be stored"),
        ([{"a": object()}], "column 'a' cannot be stored"),
        ([{"a": 2**80}], "column 'a' cannot be stored"),
        ([{"a": 1, "A": 2}], "differ in case only"),
    ]:
        with pytest.raises(UserError, match=sentence):
            append_rows(tmp_path, rows)
    assert os.listdir(tmp_path) == []


def test_sql_answers_over_all_parts(tmp_path):
    append_rows(tmp_path, [{"model": "dp", "accuracy": 0.8}])
    append_rows(tmp_path, [{"model": "dp", "accuracy": 0.9}, {"model": "ad", "accuracy": 0.7, "seed": 1}])
    answer = query(tmp_path, "SELECT model, avg(accuracy) AS mean FROM records GROUP BY model ORDER BY model")
    assert answer["model"].tolist() == ["ad", "dp"]
    assert answer["mean"].tolist() == pytest.approx([0.7, 0.85])


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("SELEC 1", "Parser Error"),
        ("SELECT nope FROM records", "Binder Error.*nope"),
        ("SELECT * FROM other", "Catalog Error.*other"),
        ("", "asks for nothing"),
        ("SELECT ?", "could not be answered"),
        ("SELECT CAST('x' AS INT)", "Conversion Error"),
    ],
)
def test_an_sql_mistake_is_one_sentence(tmp_path, sql, sentence):
    append_rows(tmp_path, [{"a": 1}])
    with pytest.raises(UserError, match=sentence) as caught:
        query(tmp_path, sql)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('{secret}')",
        "SELECT * FROM '{secret}'",
        "SELECT * FROM read_text('{secret}')",
        "SELECT * FROM glob('{folder}/*')",
        "COPY records TO '{folder}/out.csv'",
        "COPY (SELECT 1) TO '{folder}/out.parquet'",
        "ATTACH '{folder}/out.db'",
        "EXPORT DATABASE '{folder}/out'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET temp_directory = '{folder}/out'",
        "SELECT 1; SET lock_configuration = false",
        'SELECT * FROM "table"',  # the name of a variable inside query
    ],
)
def test_sql_reaches_no_file_no_setting_and_no_variable(tmp_path, sql):
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    append_rows(tmp_path / "records", [{"a": 1}])
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(UserError, match="could not be answered"):
        query(tmp_path / "records", sql.format(secret=secret, folder=tmp_path))
    assert sorted(os.listdir(tmp_path)) == before


def test_sql_that_changes_the_table_changes_no_record(tmp_path):
    append_rows(tmp_path, [{"a": 1}])
    query(tmp_path, "CREATE TABLE mine AS SELECT * FROM records; DROP VIEW records; SELECT 1")
    assert read_rows(tmp_path)["a"].tolist() == [1]
    assert len(part_files(tmp_path)) == 1


def test_records_load_neither_torch_nor_what_only_a_query_needs():
    code = "import sys, heedful.records; print({'torch', 'duckdb', 'pandas', 'scipy'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"


def test_sql_without_its_extra_says_which(tmp_path, monkeypatch):
    append_rows(tmp_path / "rows", [{"a": 1}])
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(UserError, match=r"SQL over records needs .* 'heedful\[sql\]'"):
        query(tmp_path / "rows", "SELECT * FROM records")


def test_a_part_whose_columns_have_no_names_is_named(tmp_path):
    part = append_rows(tmp_path, [{"accuracy": 0.5}], key="a")
    part.write_bytes(part.read_bytes().replace(b"accuracy", b"\xe5ccuracy"))
    for read in (lambda: read_rows(tmp_path), lambda: count_rows(part)):
        with pytest.raises(UserError, match=r"part-a\.parquet is damaged \('utf-8' codec"):
            read()


@pytest.mark.parametrize("text", ["b", "heedful-blake2b:" * 4])
def test_no_byte_of_a_part_can_change_unnoticed(tmp_path, text):
    # The mark of the digest itself included: without it, the part would be one of an earlier version.
    part = append_rows(tmp_path, pandas.DataFrame({"tau": [0.25, 0.5], "text": ["a", text]}))
    whole = part.read_bytes()
    frame = read_rows(tmp_path)
    for place in range(len(whole)):
        part.write_bytes(whole[:place] + bytes([whole[place] ^ 0x04]) + whole[place + 1 :])
        with pytest.raises(UserError, match="is damaged"):
            read_rows(tmp_path)
    part.write_bytes(whole)
    assert read_rows(tmp_path).equals(frame)


def test_a_part_of_an_earlier_version_is_read_without_its_digest(tmp_path):
    pq.write_table(pa.table({"tau": [0.25]}), tmp_path / "part-a.parquet", write_page_checksum=True)
    assert read_rows(tmp_path)["tau"].tolist() == [0.25]
