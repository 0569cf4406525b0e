"""`heedful scores` and `heedful flow` on a small trained run."""

import json

import pandas
import pytest
from typer.testing import CliRunner

from heedful.cli import app
from heedful.cli.output import signed
from heedful.data.synthetic import Synthetic, make_synthetic

run = CliRunner().invoke


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scores")
    corpus = make_synthetic(Synthetic(neutral=23, polar=7, per_class=150, held_out=20), name="small")
    frame = pandas.DataFrame(
        {
            "text": list(corpus.texts),
            "label": [corpus.label_names[k] for k in corpus.labels],
            "split": corpus.splits,
        }
    )
    frame.to_csv(folder / "small.csv", index=False)
    arguments = ["train", str(folder / "small.csv"), "--embedding", "13", "--epochs", "6", "--batch", "17"]
    result = run(app, [*arguments, "--watch", "--out", str(folder / "run")])
    assert result.exit_code == 0, result.output
    return folder / "run"


def test_the_words_of_a_class_speak_for_it_and_every_typed_word_is_counted(trained):
    result = run(app, ["scores", str(trained), "--json"])
    rows = {(row["score"], row["type"]): row for row in json.loads(result.stdout)["by_type"]}
    assert rows["polarity", "positive"]["mean"] > 0 > rows["polarity", "negative"]["mean"]
    assert (rows["polarity", "positive"]["count"], rows["polarity", "negative"]["count"]) == (7, 7)


@pytest.mark.parametrize("local", [[], ["--local", "--split", "test"]])
def test_a_person_sees_the_words_themselves(trained, local):
    result = run(app, ["scores", str(trained), "--top", "3", *local])
    assert result.exit_code == 0, result.output
    assert all(f"most {what}" in result.output for what in ("positive", "negative", "attended"))
    assert "pos" in result.output


def test_all_words_go_to_files(trained, tmp_path):
    result = run(
        app,
        ["scores", str(trained), "--csv", str(tmp_path / "w.csv"), "--parquet", str(tmp_path / "w.parquet")],
    )
    assert result.exit_code == 0, result.output
    csv, parquet = pandas.read_csv(tmp_path / "w.csv"), pandas.read_parquet(tmp_path / "w.parquet")
    assert list(csv["word"]) == list(parquet["word"])
    assert {"pos1", "neg1", "n1"} <= set(csv["word"])


def test_the_flow_of_a_watched_run_comes_with_advice(trained):
    result = json.loads(run(app, ["flow", str(trained), "--json"]).stdout)
    terms = {row["quantity"] for row in result["by_type"]}
    assert {"A", "B", "C", "D", "E", "F"} <= terms
    assert "λ" in result["advice"]


def test_the_flow_is_shown_to_a_person(trained):
    result = run(app, ["flow", str(trained)])
    assert result.exit_code == 0, result.output
    assert "neutral" in result.output


def test_a_watched_run_is_drawn(trained, tmp_path):
    result = run(app, ["flow", str(trained), "--figure", str(tmp_path / "flow.png")])
    assert result.exit_code == 0, result.output
    drawn = (tmp_path / "flow.svg").read_text()
    for panel in ("mean polarity score s", "mean attention score a", "VᵀW", "mean term A", "mean term F"):
        assert panel in drawn
    assert (tmp_path / "flow.png").stat().st_size > 10_000


def test_a_run_that_was_not_watched_is_not_drawn(trained, tmp_path):
    arguments = ["train", str(trained.parent / "small.csv"), "--epochs", "1", "--out", str(tmp_path / "run")]
    assert run(app, arguments).exit_code == 0
    result = run(app, ["flow", str(tmp_path / "run"), "--figure", str(tmp_path / "flow")])
    assert result.exit_code == 2
    assert "train it with --watch" in result.stderr
    assert not (tmp_path / "flow.png").exists()


def test_a_run_whose_corpus_changed_is_refused(trained):
    path = trained.parent / "small.csv"
    before = path.read_text()
    path.write_text(before.replace("n1 ", "n2 ", 1))
    try:
        result = run(app, ["scores", str(trained)])
    finally:
        path.write_text(before)
    assert result.exit_code == 2
    assert "fingerprint" in result.stderr


def test_the_mean_of_a_type_without_words_is_not_a_number_with_a_sign():
    assert [signed(float("nan"), "+.3f"), signed(0.5, "+.3f")] == ["no words", "+0.500"]
