"""The command line: results on standard output, remarks on standard error, and honest exit codes."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from heedful import __version__
from heedful.cli import app

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
    "audit",
    "train",
    "explain",
    "scores",
    "flow",
    "erase",
    "debate",
    "reproduce",
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
    "bench debate",
    "bench audit",
    "bench verdict",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command):
    result = run(app, [*command.split(), "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert f"Example: heedful {command}" in result.output


def test_data_list_is_json_for_machines():
    listed = json.loads(run(app, ["data", "list", "--json"]).stdout)
    assert listed["schema"] == 1
    assert {"sst", "imdb", "20news-1", "movie-reviews", "data-2"} <= {
        entry["name"] for entry in listed["corpora"]
    }


def test_showing_a_file_counts_its_classes_and_says_what_was_guessed(tmp_path):
    path = write_reviews(tmp_path / "reviews.csv")
    result = run(app, ["data", "show", str(path), "--text", "body", "--json"])
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
