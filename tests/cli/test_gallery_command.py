"""`heedful gallery`: lists, trains, draws, and makes a sheet, with entries that take no time."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import heedful.gallery
from heedful.cli import app
from heedful.errors import UserError
from heedful.gallery import Entry, Outcome, RealTask

run = CliRunner().invoke


def made(name, train):
    return Entry(
        name=name,
        title=f"The {name}",
        source="Somebody (2020)",
        task="A task.",
        formula="a = b",
        without="nothing",
        measure="accuracy",
        better="higher",
        train=train,
        draw=lambda outcome, figure: figure.subplots().plot(outcome.picture["line"]),
    )


def wins(seed, size):
    small = size == "small"
    return Outcome(0.9 + seed / 100, 0.5 + 0.1 * small, 7, 7, table={"other": 0.25}, picture={"line": [1, 2]})


def loses(seed, size):
    return replace(wins(seed, size), figure=0.4 + seed / 100)


def lacks(seed, size):
    raise UserError("There is no corpus.")


@pytest.fixture
def entries(monkeypatch, tmp_path):
    monkeypatch.delenv("HEEDFUL_DATA", raising=False)
    modules = {"one": made("one", wins), "two": made("two", wins), "three": made("three", lacks)}
    keep_entries(monkeypatch, modules)
    monkeypatch.chdir(tmp_path)
    return modules


def keep_entries(monkeypatch, modules):
    monkeypatch.setattr(heedful.gallery, "ENTRIES", {name: name for name in modules})
    monkeypatch.setattr(
        heedful.gallery, "import_module", lambda module: SimpleNamespace(ENTRY=modules[module])
    )


def test_without_a_name_the_entries_are_listed_and_nothing_is_trained(entries, tmp_path):
    result = run(app, ["gallery"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    for expected in ("one", "The two", "A task."):
        assert expected in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_list_is_json_for_machines(entries):
    listed = json.loads(run(app, ["gallery", "--json"]).stdout)
    assert listed["schema"] == 1
    assert [entry["name"] for entry in listed["entries"]] == ["one", "two", "three"]
    assert listed["entries"][0]["formula"] == "a = b"


def test_an_entry_is_trained_over_seeds_drawn_and_written(entries, tmp_path):
    result = run(app, ["gallery", "one", "--seeds", "4", "--seed", "2", "--out", "here", "--json"])
    shown = json.loads(result.stdout)["entries"][0]
    assert result.exit_code == 0
    assert shown["figure"] == pytest.approx(0.9 + (2 + 3 + 4 + 5) / 400)
    assert shown["baseline"] == 0.5
    assert shown["margin"]["seeds"] == 4
    assert shown["passes"] is True
    assert (tmp_path / "here" / "one.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "here" / "one.json").read_text()) == {"schema": 1, **shown}


def test_a_person_sees_figure_baseline_gain_and_the_table(entries):
    result = run(app, ["gallery", "one", "--size", "small"], env={"COLUMNS": "200"})
    for expected in ("0.910", "0.600", "0.31", "yes", "other", "0.250", "one.png"):
        assert expected in result.stdout
    assert "3 of 3" in result.stderr


def test_all_makes_one_page_and_names_what_could_not_be_trained(entries, tmp_path):
    result = run(app, ["gallery", "--all", "--out", "here", "--json"])
    assert result.exit_code == 2
    assert "three could not be trained: There is no corpus." in result.stderr
    shown = json.loads(result.stdout)
    assert [entry["name"] for entry in shown["entries"]] == ["one", "two"]
    assert shown["failures"] == [{"name": "three", "why": "There is no corpus."}]
    page = (tmp_path / "here" / "gallery.html").read_text(encoding="utf-8")
    assert page.count("data:image/png") == 2
    assert "could not be trained" in page


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--all"], 1),
        (["loser"], 1),
        (["winner"], 0),
        (["winner", "--seeds", "1"], 1),
        (["loser", "--size", "small"], 0),
        (["--all", "--size", "small"], 0),
    ],
)
def test_an_entry_that_does_not_pass_at_full_size_is_exit_code_one(monkeypatch, tmp_path, arguments, code):
    keep_entries(monkeypatch, {"winner": made("winner", wins), "loser": made("loser", loses)})
    result = run(app, ["gallery", *arguments, "--out", str(tmp_path / "here"), "--json"])
    assert result.exit_code == code
    passing = {entry["name"]: entry["passes"] for entry in json.loads(result.stdout)["entries"]}
    assert passing.get("loser", False) is False


def test_an_entry_that_could_not_be_trained_counts_more_than_one_that_does_not_pass(monkeypatch, tmp_path):
    keep_entries(monkeypatch, {"loser": made("loser", loses), "three": made("three", lacks)})
    assert run(app, ["gallery", "--all", "--out", str(tmp_path / "here")]).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["gallery", "onne"], "nearest is 'one'"),
        (["gallery", "one", "--all"], "not both"),
        (["gallery", "three"], "There is no corpus."),
    ],
)
def test_a_mistake_gets_one_sentence_and_exit_code_two(entries, arguments, sentence, tmp_path):
    result = run(app, arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_every_entry_of_the_gallery_is_there_under_its_name():
    for name in heedful.gallery.ENTRIES:
        assert heedful.gallery.entry(name).name == name


def test_a_real_task_keeps_its_seeds_and_goes_on(entries, monkeypatch, tmp_path):
    trained = []

    def train(seed, size, folder, device):
        trained.append(seed)
        return wins(seed, size)

    real = RealTask(
        files=("numbers.csv",),
        obtain="Count.",
        task="Real.",
        without="nothing",
        measure="hits",
        better="higher",
        yardstick="a guess",
        train=train,
        draw=lambda outcomes, figure: figure.subplots().plot(outcomes[-1].picture["line"]),
    )
    keep_entries(monkeypatch, {"one": replace(made("one", loses), real=real)})
    (tmp_path / "data" / "gallery").mkdir(parents=True)
    (tmp_path / "data" / "gallery" / "numbers.csv").write_text("1")
    asked = ["gallery", "one", "--data-dir", "data", "--out", "here", "--workers", "1", "--json"]
    first, again = (json.loads(run(app, [*asked, "--seeds", seeds]).stdout) for seeds in ("2", "3"))
    assert trained == [0, 1, 2]
    assert first["entries"][0]["is_real"] is again["entries"][0]["is_real"] is True
    assert again["entries"][0]["by_seed"][:2] == first["entries"][0]["by_seed"]
    assert (tmp_path / "here" / "one.svg").read_text(encoding="utf-8").startswith("<?xml")
    without = json.loads(run(app, ["gallery", "one", "--out", "there", "--json"]).stdout)["entries"][0]
    assert without["is_real"] is False
    assert "numbers.csv" in without["data"]


def test_a_device_that_is_not_there_is_refused_before_any_work(entries, tmp_path):
    result = run(app, ["gallery", "one", "--device", "nonesuch"])
    assert result.exit_code == 2
    assert "'nonesuch' cannot be used here" in result.stderr
    assert list(tmp_path.iterdir()) == []
