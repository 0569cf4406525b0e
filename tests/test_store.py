"""A store: what was asked is compared, parts are whole or not there, and a restart makes what is missing."""

import json
import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from heedful.errors import UserError
from heedful.files import locked
from heedful.records import append_rows, read_rows
from heedful.store import LOCK, RECIPE, Store


def squares(key):
    return pd.DataFrame({"number": [int(key)], "square": [int(key) ** 2]})


def kept(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_only_missing_parts_are_made_and_rows_come_in_the_order_of_their_keys(tmp_path):
    made, heard = [], []

    def make(key):
        made.append(key)
        return squares(key)

    with Store(tmp_path / "a", {"seed": 0}).opened() as store:
        stage = store.stage("squares")
        assert stage.fill(["03", "05"], make) == 0
        assert stage.fill(["07", "03", "05", "11"], make, done=heard.append) == 2
    assert made == ["03", "05", "07", "11"]
    assert heard == ["07", "03", "05", "11"]
    assert stage.rows(["11", "03"])["square"].tolist() == [121, 9]
    assert stage.missing(["03", "13"]) == ["13"]
    assert stage.count() == 4
    assert read_rows(stage.folder)["number"].tolist() == [3, 5, 7, 11]


def test_another_recipe_is_refused_by_the_first_thing_that_differs(tmp_path):
    with Store(tmp_path / "a", {"seed": 0, "texts": ("x", "y"), "limit": None}).opened():
        pass
    assert json.loads((tmp_path / "a" / RECIPE).read_text()) == {
        "seed": 0,
        "texts": ["x", "y"],
        "limit": None,
    }
    with Store(tmp_path / "a", {"seed": 0, "texts": ["x", "y"], "limit": None}).opened():
        pass
    for recipe, sentence in (
        ({"seed": 1, "texts": ["x", "y"], "limit": None}, "seed was 0, and is 1"),
        ({"seed": 0, "texts": ["x"], "limit": None}, "texts was"),
        ({"seed": 0, "texts": ["x", "y"], "limit": None, "new": 3}, "new was None, and is 3"),
        ({"texts": ["x", "y"], "limit": None}, "seed was 0, and is None"),
    ):
        with pytest.raises(UserError, match=sentence) as caught, Store(tmp_path / "a", recipe).opened():
            raise AssertionError
        assert "\n" not in str(caught.value)
    Store(tmp_path / "a", {"seed": 0, "else": 7}).check(only=["seed"])
    with pytest.raises(UserError, match="holds answers with other settings"):
        Store(tmp_path / "a", {"seed": 5}, what="answers").check(only=["seed"])


def test_a_recipe_must_be_plain_and_finite(tmp_path):
    with (
        pytest.raises(ValueError, match="not JSON compliant"),
        Store(tmp_path / "a", {"x": float("nan")}).opened(),
    ):
        raise AssertionError
    assert not (tmp_path / "a").exists()


def test_a_folder_of_somebody_else_is_refused_without_a_trace(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="holds other files"), Store(tmp_path, {"seed": 0}).opened():
        raise AssertionError
    assert kept(tmp_path) == ["mine.txt"]
    assert Store(tmp_path, parts=("mine.txt",)).begun() is None
    assert Store(tmp_path, marks=("mine.txt",)).begun() is None


def test_a_damaged_recipe_or_part_is_named(tmp_path):
    with Store(tmp_path / "a", {"seed": 0}).opened() as store:
        stage = store.stage("rows")
        stage.keep("1", squares("3"))
    part = stage.part("1")
    part.write_bytes(part.read_bytes()[:40])
    with pytest.raises(UserError, match=r"part-1\.parquet is damaged"):
        stage.missing(["1"])
    (tmp_path / "a" / RECIPE).write_text("{")
    with pytest.raises(UserError, match=r"recipe\.json is damaged"):
        Store(tmp_path / "a", {"seed": 0}).check()


def test_rows_of_an_earlier_version_are_refused_in_a_sentence(tmp_path):
    append_rows(tmp_path / "a" / "rows", squares("3"))
    with pytest.raises(UserError, match="rows of an earlier version") as caught:
        Store(tmp_path / "a").stage("rows").missing(["1"])
    assert "\n" not in str(caught.value)


def test_values_that_are_no_tables_are_kept_beside(tmp_path):
    stage = Store(tmp_path).stage("records")
    assert stage.value("seconds") is None
    stage.keep_value("seconds", {"words": 1.5})
    assert stage.value("seconds") == {"words": 1.5}
    (stage.folder / "seconds.json").write_text("{")
    with pytest.raises(UserError, match="made again"):
        stage.value("seconds")


def test_a_second_writer_is_told(tmp_path):
    store = Store(tmp_path / "a", {"seed": 0})
    with locked(tmp_path / "a" / LOCK), pytest.raises(UserError, match="being written"), store.opened():
        raise AssertionError


def test_a_store_may_be_moved(tmp_path):
    with Store(tmp_path / "here", {"seed": 0}).opened() as store:
        store.stage("rows").fill(["1", "2"], squares)
    os.rename(tmp_path / "here", tmp_path / "there")
    with Store(tmp_path / "there", {"seed": 0}).opened() as store:
        assert store.stage("rows").fill(["1", "2"], None) == 2


KILLED = """
import sys, time
import pandas as pd
from pathlib import Path
from heedful.store import Store

def slowly(key):
    time.sleep(0.05)
    return pd.DataFrame({"number": [int(key)], "square": [int(key) ** 2]})

with Store(Path(sys.argv[1]), {"seed": 0}).opened() as store:
    store.stage("rows").fill([f"{n:03d}" for n in range(97)], slowly)
"""


def test_a_killed_process_is_gone_on_with_and_ends_as_if_it_had_not_been(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path / "a")])
    try:
        until = time.monotonic() + 60
        while len(list((tmp_path / "a" / "rows").glob("part-*"))) < 3 and time.monotonic() < until:
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    keys = [f"{n:03d}" for n in range(97)]
    with Store(tmp_path / "a", {"seed": 0}).opened() as store:
        before = store.stage("rows").fill(keys, squares)
    with Store(tmp_path / "b", {"seed": 0}).opened() as whole:
        whole.stage("rows").fill(keys, squares)
    assert 3 <= before < 97
    pd.testing.assert_frame_equal(store.stage("rows").rows(keys), whole.stage("rows").rows(keys))
