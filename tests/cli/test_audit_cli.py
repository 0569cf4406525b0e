"""`heedful audit` and `heedful explain --by` from the command line: the verdict, exit codes, JSON."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heedful.cli.app import app

sys.path.insert(0, str(Path(__file__).parents[1] / "study"))
from audit_corpora import QUICK, graded, write_csv

from heedful.training import train

pytestmark = pytest.mark.slow


def call(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output + result.stderr
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="module")
def run(folder):
    write_csv(graded(), folder / "reviews.csv")
    train(folder / "reviews.csv", out=folder / "run", **QUICK)
    return folder / "run"


@pytest.fixture(scope="module")
def audited(run, folder):
    return call("audit", run, "--out", folder / "audit", "--seeds", 3, "--no-uniform")


def test_the_verdict_comes_first_with_what_to_show_instead(audited):
    lines = audited.stdout.strip().splitlines()
    assert lines[0] in ("dp on reviews: FAITHFUL", "dp on reviews: USE WITH CARE")
    assert lines[1].startswith(("You may show", "Show this attention with care"))
    assert "Questions" in audited.stdout
    assert "Classes" in audited.stdout
    assert "Auditing dp on reviews: all 400 test texts." in audited.stderr
    assert "At most about" in audited.stderr


def test_json_has_the_verdict_and_no_texts_and_what_is_held_gives_code_0(audited, run, folder):
    asked = ("audit", run, "--out", folder / "audit", "--seeds", 3, "--no-uniform")
    result = call(*asked, "--json", "--require", "care")
    content = json.loads(result.stdout)
    assert content["schema"] == 3
    assert content["verdict"]["reading"] in ("faithful", "use with care")
    assert "instances" not in content
    assert "lively" not in result.stdout


def test_a_reading_that_is_required_and_not_held_gives_code_1(run, folder):
    asked = ("audit", run, "--out", folder / "one", "--seeds", 1, "--no-uniform", "--no-texts")
    result = call(*asked, "--require", "faithful", code=1)
    assert "was required" in result.stderr


def test_a_requirement_that_is_none_is_refused_before_any_work(run):
    result = call("audit", run, "--require", "perfect", code=2)
    assert "no reading to require 'perfect'" in result.stderr


def test_a_seed_out_of_range_is_refused_before_any_work(run, folder):
    for seed in (-1, 2**63):
        call("audit", run, "--out", folder / "seeded", "--seed", seed, code=2)
    assert not (folder / "seeded").exists()


@pytest.mark.parametrize("command", [("audit", "reviews.csv"), ("demo",)])
def test_a_file_in_the_place_of_the_folder_is_refused_in_one_sentence(folder, run, command, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("heedful.cli.demo._corpus", graded)
    (folder / "taken").write_text("mine")
    result = call(*command, "--out", "taken", code=2)
    assert "taken is no folder" in result.stderr
    assert not (folder / "taken-run").exists()


def test_somebodys_model_without_texts_is_refused(tmp_path):
    result = call("audit", f"hf:{tmp_path}", "--out", tmp_path / "out", code=2)
    assert "--data" in result.stderr


def test_a_text_is_painted_by_another_ranking(run):
    plain = json.loads(call("explain", run, "lively5a plain3 dull1b", "--json").stdout)
    other = json.loads(
        call("explain", run, "lively5a plain3 dull1b", "--by", "leave-one-out", "--json").stdout
    )
    assert plain["by"] == "attention"
    assert other["by"] == "leave-one-out"
    assert other["words"] == plain["words"]  # attention stays attention
    assert len(other["scores"]) == 3
    assert other["scores"][0] == max(other["scores"])
    assert other["scores"] != plain["scores"]
    assert (
        "highest leave-one-out: lively5a"
        in call("explain", run, "lively5a plain3 dull1b", "--by", "leave-one-out").stdout
    )


def test_an_unknown_ranking_is_refused_with_the_nearest(run):
    result = call("explain", run, "lively5a plain3", "--by", "gradients", code=2)
    assert "'gradient'" in result.stderr


def test_marked_words_of_a_column_stand_beside_the_rankings(run, folder):
    """The strong words of each text are marked, and the file names them as text."""
    lines = (folder / "reviews.csv").read_text().splitlines()
    marked = [lines[0] + ",reasons"]
    for line in lines[1:]:
        strong = " ".join(word for word in line.split(",")[0].split() if word[-2] in "45")
        marked.append(f"{line},{strong}")
    (folder / "marked.csv").write_text("\n".join(marked) + "\n")
    result = call(
        "audit", run, "--data", folder / "marked.csv", "--text", "text", "--rationale", "reasons",
        "--out", folder / "marked", "--seeds", 1, "--no-uniform", "--json",
    )  # fmt: skip
    measured = json.loads(result.stdout)["plausibility"]
    attention = next(part for part in measured if part["coordinates"]["ranking"] == "attention")
    assert attention["name"] == "AUPRC"
    assert attention["value"] > attention["baselines"]["random"]["value"]


def test_rationales_need_a_file(run):
    result = call("audit", run, "--text", "text", "--rationale", "reasons", code=2)
    assert "column of a file" in result.stderr


def test_the_demo_opens_with_a_verdict_and_ends_with_commands_that_run(tmp_path, monkeypatch):
    monkeypatch.setattr("heedful.cli.demo._corpus", graded)
    monkeypatch.setattr("sys.argv", ["pytest"])  # also where it was started as python -m pytest
    result = call("demo", "--out", tmp_path / "demo")
    lines = result.stdout.strip().splitlines()
    assert lines[0].startswith("dp on graded: ")
    for line in (lines[-3], lines[-1]):  # the one between serves until it is stopped
        command = shlex.split(line.partition(": ")[2])
        assert command[0] == "heedful"
        call(*command[1:])
    assert (tmp_path / "demo" / "index.html").exists()
