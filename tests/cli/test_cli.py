"""The command line: results on standard output, remarks on standard error, and honest exit codes."""

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from heedful import __version__
from heedful.__main__ import main
from heedful.cli import app
from heedful.training.presets import PRESETS

run = CliRunner().invoke


def write_reviews(path, rows=40):
    lines = ["body,stars"] + [
        f"{'good' if row % 2 else 'bad'} film number {row},{row % 2}" for row in range(rows)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_version_is_said():
    result = run(app, ["--version"])
    assert (result.exit_code, result.stdout.strip()) == (0, f"heedful {__version__}")


def test_no_command_shows_help():
    assert "Usage" in run(app, []).output


COMMANDS = [
    "demo",
    "audit",
    "serve",
    "train",
    "explain",
    "scores",
    "flow",
    "erase",
    "heads",
    "debate",
    "reproduce",
    "ledger",
    "sweep",
    "models",
    "data list",
    "data show",
    "gallery",
    "bench start",
    "bench tokenize",
    "bench train",
    "bench accuracy",
    "bench watch",
    "bench erasure",
    "bench words",
    "bench transformer",
    "bench passes",
    "bench peers",
    "bench families",
    "bench debate",
    "bench audit",
    "bench fuzz",
    "bench serve",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_json_for_machines(command):
    assert "--json" in run(app, [*command.split(), "--help"], env={"COLUMNS": "200"}).output


@pytest.mark.parametrize("command", [*COMMANDS, "data", "bench"])
def test_every_command_has_help_with_an_example(command):
    result = run(app, [*command.split(), "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert f"Example: heedful {command}" in result.output


def test_names_that_one_must_type_are_whole_at_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    said = run(app, ["models"]).output.split()
    assert "serrano-smith-amazon-flan-noenc" in said
    assert set(PRESETS) <= set(said)


def test_data_list_is_json_for_machines():
    listed = json.loads(run(app, ["data", "list", "--json"]).stdout)
    assert listed["schema"] == 1
    assert {"sst", "imdb", "20news-1", "movie-reviews", "data-2"} <= {
        entry["name"] for entry in listed["corpora"]
    }


def test_showing_a_file_counts_its_classes_and_says_what_was_guessed(tmp_path):
    path = write_reviews(tmp_path / "reviews.csv")
    result = run(app, ["data", "show", str(path), "--text", "body", "--test-share", "0.1", "--json"])
    shown = json.loads(result.stdout)
    assert result.exit_code == 0
    assert shown["classes"]["train"] == {"0": 16, "1": 16}
    assert any("stars" in note for note in shown["notes"])


def test_showing_a_corpus_to_a_person_names_classes_and_splits(tmp_path):
    path = write_reviews(tmp_path / "reviews.csv")
    result = run(app, ["data", "show", str(path), "--text", "body"])
    assert result.exit_code == 0
    for expected in ("40 texts", "train", "dev", "test", "good film", "Samples"):
        assert expected in result.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["data", "show", "nowhere.csv"], "nowhere.csv"),
        (["data", "show", "sst6"], "nearest is 'sst"),
        (["train", "data-1", "--model", "flan-rmn"], "nearest is 'flan-rnn'"),
        (["train", "data-1", "--optimiser", "adagrat"], "nearest is 'adagrad'"),
        (["train", "data-1", "--epochs", "0"], "epochs must be at least 1"),
        (["explain", "nowhere", "a text"], "not a run"),
        (["sweep", "nowhere.toml"], "no study file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_mistake_gets_one_sentence_and_exit_code_two(arguments, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(app, arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_column_names_the_nearest_and_nothing_is_written(tmp_path):
    path = write_reviews(tmp_path / "reviews.csv")
    result = run(app, ["train", str(path), "--text", "bodi", "--out", str(tmp_path / "run")])
    assert result.exit_code == 2
    assert "'body'" in result.stderr
    assert not (tmp_path / "run").exists()


def test_a_mistake_is_no_traceback_in_a_real_process(tmp_path):
    command = [sys.executable, "-m", "heedful", "data", "show", str(tmp_path / "none.csv")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert result.stderr.startswith("heedful: ")


def test_ctrl_c_while_the_commands_are_loaded_is_no_traceback(monkeypatch):
    class Pressed:
        def find_spec(self, name, *others):
            if name == "heedful.cli.app":
                raise KeyboardInterrupt

    monkeypatch.setattr(sys, "meta_path", [Pressed(), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "heedful.cli.app")
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_an_encoding_without_all_signs_takes_escapes_and_json_stays_json(encoding, tmp_path):
    write_reviews(tmp_path / "电影😀.csv")

    def ask(*more):
        asked = [sys.executable, "-m", "heedful", "data", "show", "电影😀.csv", *more]
        environment = {**os.environ, "PYTHONIOENCODING": encoding}
        done = subprocess.run(asked, capture_output=True, check=True, cwd=tmp_path, env=environment)
        return done.stdout.decode(encoding)

    assert json.loads(ask("--json"))["name"] == "电影😀"
    assert "\\u7535\\u5f71\\U0001f600" in ask()


@pytest.mark.parametrize("command", ["explain NAME text", "explain run NAME", "train NAME", "data show NAME"])
def test_bytes_that_are_no_utf8_are_one_sentence(command, tmp_path):
    name = os.fsdecode(b"\xff.csv")
    write_reviews(tmp_path / name)
    words = [name if word == "NAME" else word for word in command.split()]
    asked = [sys.executable, "-m", "heedful", *words]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "heedful: \\udcff.csv is not UTF-8, as names and texts must be.\n"
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("seed", ["-1", str(2**63)])
@pytest.mark.parametrize(
    "command",
    ["demo", "train data-1", "erase nowhere", "explain nowhere text", "debate data-1", "gallery bahdanau"]
    + ["data show data-1", "bench words"],
)
def test_a_seed_that_no_generator_takes_is_refused_everywhere(command, seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(app, [*command.split(), "--seed", seed], env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert "Invalid value for '--seed'" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_largest_seed_is_taken(tmp_path):
    path = write_reviews(tmp_path / "reviews.csv")
    columns = ["--text", "body", "--label", "stars"]
    assert run(app, ["data", "show", str(path), *columns, "--seed", str(2**63 - 1)]).exit_code == 0
    quick = ["--epochs", "1", "--embedding", "7", "--seed", str(2**63 - 1)]
    trained = run(app, ["train", str(path), *columns, *quick, "--out", str(tmp_path / "run")])
    assert trained.exit_code == 0, trained.stderr


STUDY = 'corpora = ["data-1"]\nmodels = ["dp"]\n'
WRITERS = ["reproduce sun-lu-fig2 --quick", "sweep ../study.toml", "gallery bahdanau"]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder to work in, beside a study file."""
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.mark.parametrize("out", ["taken", "taken/below"])
@pytest.mark.parametrize(
    "command",
    [*(f"{one} --out" for one in (*WRITERS, "heads hf:mine texts.csv")), "reproduce sun-lu-fig2 --publish"],
)
def test_a_file_in_the_place_of_results_is_refused_before_any_work(command, out, place):
    (place / "taken").write_text("mine")
    result = run(app, [*command.split(), out])
    assert result.exit_code == 2
    assert result.stderr == (
        "heedful: taken is no folder, where results are to be written: choose another place.\n"
    )
    assert [path.name for path in place.iterdir()] == ["taken"]


@pytest.mark.parametrize("option", ["--csv", "--latex"])
def test_a_folder_in_the_place_of_a_table_is_refused_before_any_work(option, place):
    (place / "taken").mkdir()
    (place.parent / "study.toml").write_text(f'{STUDY}measures = ["accuracy"]\n')
    result = run(app, ["sweep", "../study.toml", option, "taken"])
    assert result.exit_code == 2
    assert "taken is a folder, where a file is to be written" in result.stderr
    assert [path.name for path in place.iterdir()] == ["taken"]


@pytest.mark.parametrize("command", WRITERS[:2])
def test_a_folder_with_other_files_is_refused_and_left_as_it_was(command, place):
    (place / "mine").mkdir()
    (place / "mine" / "notes.txt").write_text("mine")
    result = run(app, [*command.split(), "--out", "mine"])
    assert result.exit_code == 2
    assert "mine holds other files" in result.stderr
    assert [path.name for path in (place / "mine").iterdir()] == ["notes.txt"]


def test_a_sweep_goes_on_in_its_own_folder_even_beside_notes(tmp_path, monkeypatch):
    def here(work, job, cells, *, workers=None, done=None):  # a new process takes seconds to start
        return iter([work(job, cell) for cell in cells][:0])

    monkeypatch.setattr("heedful.study.engines.in_processes", here)
    write_reviews(tmp_path / "reviews.csv")
    study = tmp_path / "study.toml"
    study.write_text(
        'name = "small"\ncorpora = ["reviews.csv"]\nmodels = ["dp"]\n[settings]\nepochs = 1\nembedding = 7\n'
    )
    asked = ["sweep", str(study), "--out", str(tmp_path / "out"), "--workers", "1"]
    assert run(app, asked).exit_code == 0
    (tmp_path / "out" / "notes.txt").write_text("mine")
    again = run(app, asked)
    assert again.exit_code == 0, again.stderr
    assert "1 of them from before" in again.stderr


@pytest.mark.parametrize("command", ["reproduce sun-lu-fig2 --quick", "demo", "debate data-1"])
def test_a_device_that_is_not_there_is_one_sentence_before_any_plan(command, place):
    result = run(app, [*command.split(), "--device", "no-such-device"])
    assert result.exit_code == 2
    assert result.stderr.startswith("heedful: The device 'no-such-device' cannot be used here")
    assert len(result.stderr.strip().splitlines()) == 1
    assert list(place.iterdir()) == []


def test_the_demo_is_json_for_machines_and_runs_where_it_is_told(place, monkeypatch):
    from types import SimpleNamespace

    from heedful.auditing import forecast, whole

    keys = [
        "schema",
        "heedful",
        "made",
        "seconds",
        "subject",
        "data",
        "verdict",
        "questions",
        "plausibility",
        "methods",
    ]
    heard = []

    def trained(corpus, *, device, **more):
        heard.append(device)
        return SimpleNamespace(summary=lambda: "trained")

    def audited(run, corpus, *, out, device, **more):
        heard.append(device)
        return SimpleNamespace(content=dict.fromkeys(keys, 1), folder=out)

    monkeypatch.setattr("heedful.cli.demo._corpus", lambda: SimpleNamespace(name="made"))
    monkeypatch.setattr(forecast, "promise", lambda *asked, **more: ["a plan"])
    monkeypatch.setattr(whole, "train_for_audit", trained)
    monkeypatch.setattr(whole, "audit", audited)
    result = run(app, ["demo", "--json", "--device", "cpu:0", "--out", "here"])
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == {**dict.fromkeys(keys, 1), "folder": "here"}
    assert heard == ["cpu:0", "cpu:0"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["audit", "a.csv", "--text", "x", "--text", "y"], "the second text of a pair goes with --text-pair"),
        (["audit", "a.csv", "--text=x", "--text", "y"], "--text was given twice"),
        (["train", "a.csv", "--seed", "1", "--seed", "2"], "--seed was given twice, and takes one value"),
        (["bench", "erasure", "--seed", "1", "--seed=2"], "--seed was given twice"),
    ],
)
def test_an_option_that_takes_one_value_is_refused_where_it_stands_twice(arguments, said):
    result = run(app, arguments)
    assert (result.exit_code, said in result.stderr) == (2, True), result.output


def test_a_value_that_looks_like_an_option_is_still_a_value(tmp_path):
    result = run(app, ["data", "show", str(tmp_path / "none.csv"), "--text", "--text"])
    assert "given twice" not in result.stderr


@pytest.mark.parametrize(
    "command",
    [
        ["scores", "NAME"],
        ["serve", "NAME"],
        ["sweep", "NAME"],
        ["compare", "NAME", "NAME"],
        ["train", "data-1", "--out", "NAME"],
        ["audit", "data-1", "--out", "NAME"],
    ],
)
def test_a_name_that_no_file_can_have_is_a_sentence(command):
    refused = CliRunner().invoke(app, ["x" * 5000 if word == "NAME" else word for word in command])
    assert refused.exit_code == 2, refused.exception
    assert "File name too long" in refused.stderr
    assert len(refused.stderr) < 1200


@pytest.mark.parametrize("before", [[], ["bench"], ["data", "show"], ["train", "file.csv"]])
@pytest.mark.parametrize("dashes", ["", "--"])
def test_what_typer_says_of_thousands_of_signs_is_cut_too(before, dashes):
    refused = run(app, [*before, f"{dashes}{'w' * 5000}", "more"])
    assert refused.exit_code == 2
    assert 0 < len(refused.output) < 2500
