"""`heedful bench train` and `heedful bench accuracy`: one JSON object, or tables, on standard output."""

import json

import pytest
from typer.testing import CliRunner

from heedful.cli import app

run = CliRunner().invoke


@pytest.fixture
def reviews(tmp_path):
    lines = ["text,label"] + [
        f"{'good' if row % 2 else 'bad'} film. Number {row},{row % 2}" for row in range(60)
    ]
    path = tmp_path / "reviews.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize("command", ["bench train", "bench accuracy"])
def test_each_command_has_help_with_an_example(command):
    result = run(app, [*command.split(), "--help"], env={"COLUMNS": "200"})
    assert f"Example: heedful {command}" in result.output


def test_accuracies_are_one_object_for_machines(reviews):
    arguments = ["--corpus", reviews, "--model", "dp", "--epochs", "2", "--seeds", "2", "--json"]
    result = run(app, ["bench", "accuracy", *arguments])
    found = json.loads(result.stdout)
    assert found["schema"] == 1
    assert [one["seed"] for one in found["runs"]] == [0, 1]
    (model,) = found["models"]
    assert model["test_accuracy"] == pytest.approx(
        (found["runs"][0]["test_accuracy"] + found["runs"][1]["test_accuracy"]) / 2
    )
    assert model["bag_of_words"] == found["bag_of_words"]["test_accuracy"]
    assert "dp, seed 1" in result.stderr


def test_accuracies_are_a_table_for_people(reviews):
    result = run(app, ["bench", "accuracy", "--corpus", reviews, "--model", "dp", "--epochs", "1"])
    assert result.exit_code == 0
    assert "− words" in result.stdout


def test_one_part_of_the_training_bench_runs_alone(reviews):
    arguments = ["--part", "dp", "--short", reviews, "--long", reviews, "--rounds", "1", "--json"]
    found = json.loads(run(app, ["bench", "train", *arguments]).stdout)
    assert set(found) == {"schema", "dp"}
    ways = {timing["way"]: timing["ratio"] for timing in found["dp"][reviews]}
    assert ways["usual"] == 1
    assert len(ways) == 5


def test_the_recurrent_part_says_padding_and_share(reviews):
    arguments = ["--part", "recurrent", "--short", reviews, "--long", reviews, "--rounds", "1"]
    result = run(app, ["bench", "train", *arguments], env={"COLUMNS": "120"})
    assert result.exit_code == 0
    for expected in ("dp-l", "flan-rnn", "han-rnn", "padding", "share"):
        assert expected in result.stdout


def test_an_unknown_part_is_refused_in_a_sentence():
    result = run(app, ["bench", "train", "--part", "recurent"])
    assert result.exit_code == 2
    assert "recurrent" in result.stderr


@pytest.mark.parametrize("command", ["transformer", "passes", "peers", "families"])
def test_a_transformer_is_measured_where_it_is_asked_to_be(command):
    refused = run(app, ["bench", command, "--device", "nowhere"])
    assert refused.exit_code == 2
    assert "The device 'nowhere' cannot be used here" in " ".join(refused.stderr.split())
