"""`heedful erase`: from a run folder to findings with intervals, resumable, and refused in one sentence."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from heedful.cli import app
from heedful.data.batches import make_batch
from heedful.records import read_rows
from heedful.training import load_run
from heedful.training.evaluation import encode_for
from heedful.training.from_corpus import train
from heedful.training.texts_of_run import corpus_of

run = CliRunner().invoke


def write_reviews(path, good="good"):
    lines = ["body,stars"]
    lines += [
        f"{good if row % 2 else 'bad'} film number {row}. it {'shines' if row % 3 else 'ends'},{row % 2}"
        for row in range(120)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder with a file, a dp run and a hierarchical run trained on it."""
    folder = tmp_path_factory.mktemp("runs")
    path = write_reviews(folder / "reviews.csv")
    changes = {"text": "body", "label": "stars", "embedding": 11, "epochs": 5, "rate": 0.1}
    train(path, model="dp", out=folder / "dp", **changes)
    train(path, model="han-noenc", out=folder / "han", embedding_source="uniform", **changes)
    return folder


def test_help_has_an_example():
    result = run(app, ["erase", "--help"], env={"COLUMNS": "200"})
    assert "Example: heedful erase" in result.output


def test_the_findings_of_a_layer_are_json_with_intervals_counts_and_baselines(runs, tmp_path):
    result = run(app, ["erase", str(runs / "dp"), "--out", str(tmp_path / "rows"), "--json"])
    assert result.exit_code == 0, result.output
    shown = json.loads(result.stdout)
    assert shown["schema"] == 1
    assert shown["instances"] == len(read_rows(tmp_path / "rows")) == 48
    by_name = {
        (finding["name"], finding["coordinates"].get("ranking")): finding for finding in shown["findings"]
    }
    removed = by_name["fraction removed", "attention"]
    assert removed["interval"]["low"] <= removed["value"] <= removed["interval"]["high"]
    assert removed["baselines"].keys() == {"random", "shuffled"}
    assert removed["coordinates"]["corpus"] == "reviews"
    assert by_name["optimality gap", "contribution"]["value"] == 1
    drawn = {path.name for path in (tmp_path / "rows" / "figures").glob("*.png")}
    assert drawn == {f"{form}.png" for form in ("flips", "js", "negatives", "fractions", "masses")}
    assert len(shown["figures"]) == 2 * len(drawn)  # PNG and SVG


def test_words_are_taken_out_at_the_input(runs):
    result = run(app, ["erase", str(runs / "dp"), "--input", "--limit", "7", "--json"])
    assert result.exit_code == 0, result.output
    shown = json.loads(result.stdout)
    assert shown["instances"] == 7
    names = {finding["name"] for finding in shown["findings"]}
    assert {"word skill", "comprehensiveness (AOPC)", "sufficiency (AOPC)", "infidelity"} <= names
    assert shown["rows"].startswith(str(runs / "dp" / "trials"))
    assert [Path(path).name for path in shown["figures"]] == ["shares.png", "shares.svg"]
    assert all(Path(path).stat().st_size > 1000 for path in shown["figures"])
    # The same question again is answered from what is there.
    again = run(app, ["erase", str(runs / "dp"), "--input", "--limit", "7", "--json"])
    assert json.loads(again.stdout)["findings"] == shown["findings"]
    assert "were there from before" in again.stderr


def by_name(result, name):
    """The findings of this name, by ranking."""
    assert result.exit_code == 0, result.output
    found = [one for one in json.loads(result.stdout)["findings"] if one["name"] == name]
    return {one["coordinates"]["ranking"]: one for one in found}


@pytest.mark.parametrize("suffix", [".npy", ".json"])
def test_scores_of_ones_own_are_ranked_beside_the_others(runs, tmp_path, suffix):
    trained = load_run(runs / "dp")
    texts = encode_for(trained.model, corpus_of(trained).split("test"))
    trace = trained.model.trace(make_batch(texts, range(48)))
    # Attention under another name: the same numbers must come out, whatever stands behind a text's words.
    padded = np.full((48, 40), np.nan)
    padded[:, : trace.weights.shape[1]] = trace.weights
    path = tmp_path / f"scores{suffix}"
    if suffix == ".npy":
        np.save(path, padded)
    else:
        path.write_text(
            json.dumps([row[mask].tolist() for row, mask in zip(trace.weights, trace.mask, strict=True)])
        )
    for options, name in (([], "fraction removed"), (["--input"], "comprehensiveness (AOPC)")):
        command = ["erase", str(runs / "dp"), "--rankings", f"attention, mine={path}", "--json", *options]
        found = by_name(run(app, [*command, "--out", str(tmp_path / name)]), name)
        assert found["mine"]["value"] == found["attention"]["value"]
        assert found["mine"]["value"] != found["random" if not options else "shuffled"]["value"]


def test_other_scores_are_another_question(runs, tmp_path):
    command = ["erase", str(runs / "dp"), "--rankings", f"mine={tmp_path / 'scores.npy'}"]
    shown = []
    for seed in range(2):
        np.save(tmp_path / "scores.npy", np.random.default_rng(seed).random((48, 30)))
        shown.append(json.loads(run(app, [*command, "--json"]).stdout))
    assert shown[0]["rows"] != shown[1]["rows"]


@pytest.mark.parametrize(
    "options", [["--level", "words"], ["--level", "final"], ["--input", "--how", "unknown"]]
)
def test_both_levels_of_a_hierarchical_model_and_its_words_can_be_erased(runs, options):
    result = run(app, ["erase", str(runs / "han"), *options, "--rankings", "attention"])
    assert result.exit_code == 0, result.output
    assert "attention" in result.stdout
    assert "95 %" in result.stdout


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--rankings", "atention"], "nearest is 'attention'"),
        (["--input", "--rankings", "magnitude"], "no ranking 'magnitude'"),
        (["--level", "words"], "no attention level of this model 'words'"),
        (["--input", "--level", "words"], "leave out --level"),
        (["--how", "unknown"], "a matter of --input"),
        (["--split", "tset"], "nearest is 'test'"),
        (["--device", "nowhere"], "cannot be used here"),
        (["--rankings", "mine=nowhere.npy"], "no file nowhere.npy with the scores of the ranking 'mine'"),
        (["--rankings", "mine=scores.txt"], "read from .npy or .json"),
        (["--rankings", "attention=scores.npy"], "needs a new name"),
        (["--rankings", "mine=a.npy,mine=b.npy"], "needs a new name"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_mistake_gets_one_sentence_and_exit_code_two(runs, options, sentence):
    before = sorted((runs / "dp").rglob("*"))
    result = run(app, ["erase", str(runs / "dp"), *options])
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stdout == ""
    assert sorted((runs / "dp").rglob("*")) == before


def test_scores_that_do_not_fit_the_split_are_refused(runs, tmp_path):
    path, out = tmp_path / "scores.json", tmp_path / "out"
    for rows, sentence in (
        ([[1.0, 2.0]] * 47, "each of the 48 texts of the split, but"),
        ([[1.0, 2.0]] * 48, "items, but the ranking 'mine' has scores for 2 of them"),
        ([[[1.0]]] * 48, "one list of numbers"),
        ([["high"]] * 48, "does not hold a table of numbers"),
    ):
        path.write_text(json.dumps(rows))
        command = [
            "erase",
            str(runs / "dp"),
            "--rankings",
            f"mine={path}",
            "--out",
            str(out / str(len(rows[0]))),
        ]
        result = run(app, command)
        assert result.exit_code == 2
        assert sentence in " ".join(result.stderr.split())


def test_a_corpus_that_has_changed_since_training_is_refused(tmp_path):
    path = write_reviews(tmp_path / "reviews.csv")
    train(path, out=tmp_path / "run", text="body", label="stars", embedding=3, epochs=1)
    write_reviews(path, good="great")
    result = run(app, ["erase", str(tmp_path / "run")])
    assert result.exit_code == 2
    assert "not the one that this run was trained on" in result.stderr


def test_a_folder_that_is_no_run_is_said(tmp_path):
    result = run(app, ["erase", str(tmp_path)])
    assert result.exit_code == 2
    assert "not a run" in result.stderr


@pytest.mark.parametrize("wrong", [["--level", "wrds"], ["--input", "--how", "wrong"]])
def test_a_wrong_choice_leaves_nothing_behind(runs, tmp_path, wrong):
    result = run(app, ["erase", str(runs / "dp"), *wrong, "--out", str(tmp_path / "rows")])
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_other_files_gets_no_lock(runs, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    result = run(app, ["erase", str(runs / "dp"), "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "holds other files" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
