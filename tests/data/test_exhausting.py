"""Small files that would fill the memory or take for ever: refused, or read in bounded memory and time."""

import time
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from heedful.data import reading, tables
from heedful.data.reading import read_corpus
from heedful.data.tables import open_table, unpacking
from heedful.data.tables import parquet as ours
from heedful.data.tables.held import open_held
from heedful.errors import UserError
from heedful.study import grid
from heedful.study.grid import Study

LABELS = ["a", "b"]


def write_repeated(path: Path, text: str, rows: int, **more) -> Path:
    """A Parquet file with one text in all rows, which is in the file once."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * rows), pa.array([text]))
    table = pa.table({"text": texts, "label": LABELS * (rows // 2)})
    parquet.write_table(table, path, compression="zstd", store_schema=False, **more)
    return path


@pytest.fixture
def batches(monkeypatch):
    """The bytes of the batches of Parquet that were read."""
    found = []
    whole = parquet.ParquetFile.iter_batches

    def seen(*given, **named):
        for batch in whole(*given, **named):
            found.append(batch.nbytes)
            yield batch

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", seen)
    return found


def test_one_long_text_in_many_rows_of_parquet_is_refused_in_little_memory(tmp_path, batches):
    path = write_repeated(tmp_path / "a.parquet", "a word " * 1_000_000, 600)
    assert path.stat().st_size < 5000
    with pytest.raises(UserError, match="unpacks to more than 100 times its size"):
        read_corpus(path)
    assert max(batches) < 2 * ours.HELD
    assert sum(batches) < 1.5 * unpacking.HARMLESS


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("groups", [100, 1000])
def test_rows_of_long_texts_are_held_some_at_a_time(tmp_path, monkeypatch, batches, version, groups):
    monkeypatch.setattr(ours, "HELD", 10_000)
    text = "a word " * 100
    path = write_repeated(
        tmp_path / "a.parquet", text, 1000, data_page_version=version, row_group_size=groups
    )
    rows = list(open_table(path).rows(["text", "label"]))
    assert [number for number, _ in rows] == list(range(1, 1001))
    assert {cells for _, cells in rows} == {(text, "a"), (text, "b")}
    assert len(batches) == 1000 // (10_000 // (1 + len(text) + 4 + 10)) + 1 == 77
    assert max(batches) < 11_000


def test_other_parquet_is_read_a_thousand_rows_at_a_time(tmp_path, batches):
    table = pa.table({"text": [f"a film, number {n % 1000}" for n in range(3000)], "label": LABELS * 1500})
    for dictionary in (True, False):
        parquet.write_table(table, tmp_path / "a.parquet", use_dictionary=dictionary)
        batches.clear()
        assert len(list(open_table(tmp_path / "a.parquet").rows(["text", "label"]))) == 3000
        assert len(batches) == 3


def test_values_without_end_in_little_parquet_are_refused_before_they_are_read(
    tmp_path, monkeypatch, batches
):
    monkeypatch.setattr(unpacking, "HARMLESS", 500_000)
    lists = pa.array([[0] * 300_000, [0] * 300_000])
    parquet.write_table(pa.table({"words": lists, "label": LABELS}), tmp_path / "a.parquet")
    table = open_table(tmp_path / "a.parquet")
    with pytest.raises(UserError, match="unpacks to more than 100 times its size"):
        list(table.rows(["words"]))
    nothing = pa.table({"text": pa.nulls(600_000, pa.string())})
    parquet.write_table(nothing, tmp_path / "b.parquet")
    with pytest.raises(UserError, match="unpacks to more than 100 times its size"):
        open_table(tmp_path / "b.parquet")
    assert batches == []


def test_one_text_in_all_rows_of_a_workbook_is_refused(tmp_path, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl", reason="the extra excel is not installed")
    book = openpyxl.Workbook()
    for number in range(200):
        book.active.append(["a word " * 4000, LABELS[number % 2]])
    book.save(tmp_path / "a.xlsx")
    monkeypatch.setattr(tables, "HARMLESS", 500_000)
    monkeypatch.setattr(unpacking, "HARMLESS", 500_000)
    with pytest.raises(UserError, match="unpacks to more than 100 times its size"):
        read_corpus(tmp_path / "a.xlsx", text="a word " * 4000, label="a")


@pytest.mark.parametrize("ending", ["parquet", "xlsx", "csv", "jsonl"])
def test_a_field_that_is_longer_than_any_text_is_refused_with_its_row(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(tables, "LONGEST", 100)
    path = tmp_path / f"a.{ending}"
    rows = [("short", "a"), ("x" * 101, "b")]
    match ending:
        case "parquet":
            parquet.write_table(pa.table({"text": [r[0] for r in rows], "label": LABELS}), path)
        case "xlsx":
            book = pytest.importorskip("openpyxl", reason="the extra excel is not installed").Workbook()
            for row in [("text", "label"), *rows]:
                book.active.append(row)
            book.save(path)
        case "csv":
            path.write_text("text,label\n" + "".join(f"{t},{k}\n" for t, k in rows))
        case "jsonl":
            path.write_text("".join(f'{{"text": "{t}", "label": "{k}"}}\n' for t, k in rows))
    place = {"parquet": "row 2", "xlsx": "row 3", "csv": "line 3", "jsonl": "line 2"}[ending]
    with pytest.raises(UserError, match=f"more than 100 characters in one field of {place}:"):
        read_corpus(path)


def test_a_look_at_the_first_rows_takes_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_PEEKED", 5000)
    monkeypatch.setattr(reading, "_PEEKED_ENDS", 20)
    path = tmp_path / "a.csv"
    rows = "".join(f"{'a long film ' * 20}{n},{n},{LABELS[n % 2]}\n" for n in range(300))
    path.write_text("said,number,kind\n" + rows)
    found = reading._peek(open_table(path))()
    assert {len(cell) for cell in found["said"]} == {40}
    assert 100 < len(found["said"]) == len(found["kind"]) < 130
    assert read_corpus(path).notes[0].startswith("Guessed: text from column 'said', label from column 'kind'")


def seconds(work) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def test_as_many_columns_as_a_line_can_name_are_compared_once(tmp_path):
    path = tmp_path / "a.csv"
    names = [f"column_{n}" for n in range(40_000)]
    path.write_text(",".join(names) + "\n" + ",".join("x" * 40_000) + "\n")
    assert seconds(lambda: list(open_table(path).rows(names))) < 3
    path.write_text("a," * 40_000 + "a\n")
    with pytest.raises(UserError, match="more than one column named 'a'"):
        open_table(path)
    assert seconds(lambda: open_held({name: ["x"] for name in names})) < 3


def test_the_values_of_a_study_are_compared_once(monkeypatch):
    assert seconds(lambda: Study("s", ("sst",), seeds=tuple(range(40_000)))) < 3
    monkeypatch.setattr(grid, "MOST_CELLS", 100)
    with pytest.raises(UserError, match="at most 100 cells, but there are 101 of seeds of the study 's'"):
        Study("s", ("sst",), seeds=tuple(range(101)))


@pytest.mark.parametrize("values", [[[1, 2], [1.0, 2]], [{"a": [1]}, {"a": [True]}], [0, False]])
def test_values_that_are_equal_are_found_in_lists_too(values):
    with pytest.raises(UserError, match="twice: say it once"):
        Study("s", ("sst",), grid={"widths": values})
    assert Study("s", ("sst",), grid={"widths": [[1, 2], [2, 1], [1], 1]})
