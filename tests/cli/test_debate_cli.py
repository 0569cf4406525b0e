"""`heedful debate` says how long first, prints findings and claims, writes all, and goes on when asked."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from debated import work_here, write_corpus
from heedful.cli.app import app

run = CliRunner().invoke


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    work_here(monkeypatch)
    return str(write_corpus(tmp_path))


@pytest.mark.slow
def test_all_stages_in_json_with_findings_claims_and_figures(corpus, tmp_path):
    asked = [
        *("debate", corpus, "--quick", "--model", "jain-wallace-average-tanh"),
        *("--seeds", "2", "--limit", "11", "--workers", "1", "--json"),
    ]
    first = run(app, asked)
    assert first.exit_code == 0, first.stderr
    told = json.loads(first.stdout)
    names = [
        "agreement",
        "permutation",
        "adversary",
        "uniform",
        "seeds",
        "diagnostic",
        "adversarial",
        "sanity",
    ]
    assert [stage["name"] for stage in told["stages"]] == names
    assert told["schema"] == 1
    sources = {claim["source"].split(" (")[0] for stage in told["stages"] for claim in stage["claims"]}
    assert {"Jain & Wallace", "Wiegreffe & Pinter"} <= sources
    assert sum(len(stage["claims"]) for stage in told["stages"]) >= 10
    for stage in told["stages"]:
        assert stage["findings"], stage["name"]
        assert all(Path(path).stat().st_size > 1000 for path in stage["figures"])
    assert any(line.startswith("8 stages, ") for line in first.stderr.splitlines())
    again = json.loads(run(app, asked).stdout)
    assert again["stages"] == told["stages"]


def test_only_some_stages_are_held_and_printed_for_a_person(corpus):
    asked = ["debate", corpus, "--quick", "--model", "dp", "--limit", "31", "--only", "permutation,adversary"]
    told = run(app, asked)
    assert told.exit_code == 0, told.stderr
    assert "output change under permuted" in told.stdout
    assert "Jain & Wallace (2019), 4.2.2" in told.stdout
    assert "2 stages, 1 training of " in told.stderr
    assert Path("runs/debate-small-dp-quick/debate-adversary/jain-wallace-adversary.png").exists()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--only", "agrement"], "the nearest is 'agreement'"),
        (["--model", "jain-wallace-bilstm"], "There is no model or preset"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_two(corpus, asked, said):
    told = run(app, ["debate", corpus, "--quick", *asked])
    assert told.exit_code == 2
    assert said in told.stderr
    assert not Path("runs").exists()


def test_a_folder_with_other_files_is_refused_and_its_own_is_taken_again(corpus, tmp_path):
    asked = ["debate", corpus, "--quick", "--model", "dp", "--limit", "7", "--only", "permutation"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    refused = run(app, [*asked, "--out", "mine"])
    assert refused.exit_code == 2
    assert refused.stderr.startswith("heedful: mine holds other files")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]
    for _ in range(2):
        told = run(app, [*asked, "--out", "own"])
        assert told.exit_code == 0, told.stderr
