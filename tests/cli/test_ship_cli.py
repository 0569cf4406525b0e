"""`heedful highlight`, `compare` and `card` as a newcomer gives them."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

import heedful
from heedful.cli.app import app
from small_reviews import SETTINGS, write_reviews


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A run, its audit, and texts without labels."""
    folder = tmp_path_factory.mktemp("ship")
    corpus = heedful.load_data(write_reviews(folder / "reviews.csv", 600))
    heedful.train(corpus, model="dp", out=folder / "run", **SETTINGS)
    heedful.audit(heedful.load_run(folder / "run"), corpus, out=folder / "audit", seeds=1, uniform=False)
    pd.DataFrame({"id": range(97), "review": list(corpus.texts[:97])}).to_csv(
        folder / "texts.csv", index=False
    )
    return folder


def ask(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


def test_all_texts_of_a_file_get_their_highlights(place, tmp_path):
    page, table = tmp_path / "page.html", tmp_path / "x.jsonl"
    done = ask(
        "highlight",
        place / "run",
        place / "texts.csv",
        "--audit",
        place / "audit",
        "--out",
        page,
        "--out",
        table,
    )
    assert done.exit_code == 0, done.output
    assert "of 97 texts have a word that decides" in done.stdout
    assert "Guessed: texts from column 'review'" in done.stderr
    assert page.read_text(encoding="utf-8").count("<article") == 97
    rows = [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]
    assert [row["text"] for row in rows] == pd.read_csv(place / "texts.csv")["review"].tolist()
    assert sum(bool(row["marks"]) for row in rows) > 60
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "x.jsonl"]


def test_json_says_what_was_chosen_and_counted(place, tmp_path):
    done = ask(
        "highlight",
        place / "run",
        place / "texts.csv",
        "--by",
        "attention",
        "--out",
        tmp_path / "x.csv",
        "--json",
    )
    found = json.loads(done.stdout)
    assert done.exit_code == 0
    assert found["texts"] == 97 == found["marked"] + found["nobody"]
    assert found["about"]["by"] == "attention"
    assert "not judged" in found["about"]["why"]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["--out", "x.txt"], "ends in '.txt'"),
        (["--out", "x.html", "--by", "atention"], "map to highlight by"),
        (["--out", "x.html", "--text", "body"], "no column 'body'"),
        (["--out", "x.html", "--audit", "nowhere"], "holds no audit"),
        (["--out", "x.html", "--strength", "magic"], "way to measure strength"),
    ],
)
def test_what_can_be_mended_is_one_sentence_and_leaves_nothing(
    place, tmp_path, monkeypatch, arguments, match
):
    monkeypatch.chdir(tmp_path)
    done = ask("highlight", place / "run", place / "texts.csv", *arguments)
    assert done.exit_code == 2
    assert match in done.stderr
    assert "Traceback" not in done.output
    assert list(tmp_path.iterdir()) == []


def test_the_audit_of_another_model_is_refused(place, tmp_path):
    corpus = heedful.load_data(place / "reviews.csv")
    heedful.train(corpus, model="dp", out=tmp_path / "other", seed=3, **SETTINGS)
    done = ask(
        "highlight",
        tmp_path / "other",
        place / "texts.csv",
        "--audit",
        place / "audit",
        "--out",
        tmp_path / "x.html",
    )
    assert done.exit_code == 2
    assert "of another model" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other"]


def test_two_audits_are_compared(place, tmp_path):
    done = ask("compare", place / "audit", place / "audit", "--out", tmp_path / "c.html")
    assert done.exit_code == 0, done.output
    assert "No difference can be told" in done.stdout
    assert (tmp_path / "c.html").exists()
    found = json.loads(ask("compare", place / "audit", place / "audit", "--json").stdout)
    assert found["paired"]
    assert ask("compare", place / "audit", tmp_path / "nothing").exit_code == 2


def test_a_card_is_written(place, tmp_path):
    done = ask("card", place / "audit")
    assert done.exit_code == 0
    assert done.stdout.startswith("---\nmodel-index:")
    assert ask("card", place / "audit", "--no-yaml", "--out", tmp_path / "card.md").exit_code == 0
    assert (tmp_path / "card.md").read_text(encoding="utf-8").startswith("## May its highlights")
    assert ask("card", tmp_path / "nothing").exit_code == 2
