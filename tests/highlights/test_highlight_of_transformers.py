"""Highlights of a transformer, as people hold it: model and tokenizer, pipeline, folder."""

import json
import shlex
import sys
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import heedful
from heedful.cli.app import app
from heedful.data.pairs import both, paired
from heedful.errors import UserError
from heedful.models.transformers import TransformerSubject
from heedful.training.opening import Asked
from heedful.trials.erasure.rereading import Reader

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
transformers = pytest.importorskip("transformers")
from tiny_transformers import (  # noqa: E402
    BAD,
    GOOD,
    classifier,
    language_model,
    learn,
    make_corpus,
    save,
    wordpiece,
)


@pytest.fixture(scope="module")
def held():
    """A tiny BERT that has learnt which words decide, and its tokenizer."""
    tokenizer = wordpiece()
    network = classifier("bert", tokenizer)
    learn(network, tokenizer, make_corpus())
    return network, tokenizer


@pytest.mark.slow
def test_the_words_that_decide_are_highlighted_however_the_model_is_held(held, tmp_path):
    network, tokenizer = held
    texts = list(make_corpus().split("test").texts[:40])
    frame = pd.DataFrame({"review": texts})
    found = heedful.highlight(network, frame, tokenizer=tokenizer, by="changes")
    marked = [mark for item in found for mark in item.marks]
    assert found.about.strength == "leave-one-out"
    assert len(marked) > 10
    deciding = [mark for mark in marked if mark.word.lower() in (*GOOD, *BAD)]
    assert len(deciding) > 0.5 * len(marked)
    assert all(item.flip is None for item in found)
    save(network, tokenizer, tmp_path / "model")
    pipeline = transformers.pipeline("text-classification", model=network, tokenizer=tokenizer)
    for other in ((network, tokenizer), pipeline, f"hf:{tmp_path / 'model'}", tmp_path / "model"):
        again = heedful.highlight(other, texts, by="changes")
        assert [item.marks for item in again] == [item.marks for item in found]
    chosen = heedful.highlight(network, texts, tokenizer=tokenizer)
    assert "small audit of" in chosen.about.why


def ask(*arguments):
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert "Traceback" not in done.output
    return done


@pytest.mark.slow
def test_both_texts_of_a_pair_are_highlighted_each_under_its_name(held, tmp_path):
    network, tokenizer = held
    folder = save(network, tokenizer, tmp_path / "model")
    texts = list(make_corpus().split("test").texts[:24])
    rows = pd.DataFrame({"id": range(12), "asked": texts[:12], "said": texts[12:]})
    rows.loc[3, "said"] = ""  # one of the two may be empty
    rows.to_csv(tmp_path / "pairs.csv", index=False)
    page, lines = tmp_path / "page.html", tmp_path / "x.jsonl"
    pair = ("--text", "asked", "--text-pair", "said", "--by", "changes")
    done = ask("highlight", f"hf:{folder}", tmp_path / "pairs.csv", *pair, "--out", page, "--out", lines)
    assert done.exit_code == 0, done.output
    found = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    assert [both(one["text"]) for one in found] == list(zip(rows["asked"], rows["said"], strict=True))
    subject = TransformerSubject(network, tokenizer)
    for one in found:
        reader = Reader(subject, subject.encode([paired(*both(one["text"]))]))
        whole = reader.chance(reader.logits)[0]
        for mark in one["marks"]:
            assert mark["word"] == one["text"][mark["start"] : mark["end"]]
            without = reader.chance(reader.each_out()[:, mark["place"]])[0]
            assert mark["effect"] == pytest.approx(float(whole - without), abs=2e-4)
    second = sum(mark["start"] > len(both(one["text"])[0]) for one in found for mark in one["marks"])
    assert 0 < second < sum(len(one["marks"]) for one in found)
    shown = page.read_text(encoding="utf-8")
    assert shown.count('<p class="heedful-role">asked</p>') == 12 == shown.count(">said</p>")
    assert "\x1e" not in shown
    again = heedful.highlight(
        network, rows, tokenizer=tokenizer, by="changes", text="asked", text_pair="said"
    )
    assert [mark.effect for item in again for mark in item.marks] == [
        mark["effect"] for one in found for mark in one["marks"]
    ]
    again.save(tmp_path / "x.parquet")
    assert heedful.Highlights.load(tmp_path / "x.parquet").about.roles == ("asked", "said")
    one = json.loads(
        ask(
            "explain", f"hf:{folder}", *rows.loc[0, ["asked"]], "--text-pair", rows.loc[0, "said"], "--json"
        ).stdout
    )
    assert both(one["text"]) == (rows.loc[0, "asked"], rows.loc[0, "said"])
    assert "\x1e" not in ask("explain", f"hf:{folder}", "a plot", "--text-pair", "of two").stdout
    refused = ask("highlight", f"hf:{folder}", tmp_path / "pairs.csv", "--text-pair", "sad", "--out", page)
    assert refused.exit_code == 2
    assert "no column 'sad'" in refused.stderr


@pytest.mark.slow
def test_a_prompted_model_is_highlighted_in_its_text_alone(tmp_path):
    corpus = make_corpus()
    folder = save(*language_model(seed=5), tmp_path / "model")
    (tmp_path / "prompt.txt").write_text("The film: {text}\nIt was:\n", encoding="utf-8")
    (tmp_path / "other.txt").write_text("It was a film: {text}\n:\n", encoding="utf-8")
    texts = list(corpus.split("test").texts[:12])
    pd.DataFrame({"review": texts, "label": ["a", "of"] * 6}).to_csv(tmp_path / "x.csv", index=False)
    given = (f"hf:{folder}", tmp_path / "x.csv", "--labels", "a,of", "--out", tmp_path / "x.jsonl")
    prompt = ("--template", tmp_path / "prompt.txt")
    done = ask("highlight", *given, *prompt, "--by", "changes")
    assert done.exit_code == 0, done.output
    found = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [one["text"] for one in found] == texts
    assert {one["decision"] for one in found} <= {"a", "of"}
    marks = [(one, mark) for one in found for mark in one["marks"]]
    assert marks
    assert all(one["text"][mark["start"] : mark["end"]] == mark["word"] for one, mark in marks)
    assert ask("highlight", *given).exit_code == 2  # labels without a template
    # An audit under one prompt says nothing about another.
    audited = heedful.audit(
        f"hf:{folder}",
        tmp_path / "x.csv",
        asked_of=Asked(template="The film: {text}\nIt was:", labels=("a", "of")),
        out=tmp_path / "audit",
    )
    assert ask("highlight", *given, *prompt, "--audit", audited.folder).exit_code == 0
    # What the page tells to type can be typed.
    called = audited.content["subject"]["called"]
    assert called == f"hf:{folder} --template TEMPLATE --labels a,of"
    typed = shlex.split(called.replace("TEMPLATE", str(tmp_path / "prompt.txt")))
    one = json.loads(ask("explain", *typed, texts[0], "--by", "leave-one-out", "--json").stdout)
    assert one["decision"] == found[0]["decision"]
    other = ask("highlight", *given, "--template", tmp_path / "other.txt", "--audit", audited.folder)
    assert other.exit_code == 2
    assert "of another model" in other.stderr
    with pytest.raises(UserError, match="holds an audit with other settings"):
        heedful.audit(
            f"hf:{folder}",
            tmp_path / "x.csv",
            asked_of=Asked(template="It was a film: {text}\n:", labels=("a", "of")),
            out=tmp_path / "audit",
        )
