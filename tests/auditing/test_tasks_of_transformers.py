"""Pairs, several labels at once, thresholds and layers from the command line to the page, on tiny models."""

import json
import sys
from functools import wraps
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

pytest.importorskip("transformers", reason="the extra hf is not installed")

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
from tiny_transformers import BAD, GOOD, PLAIN, classifier, learn, make_corpus, save, wordpiece
from transformers import BertForSequenceClassification

import heedful
from heedful.auditing.by_label import audit_labels
from heedful.cli.app import app
from heedful.training.opening import Asked

pytestmark = pytest.mark.slow


def call(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output + result.stderr
    return result


def write(path, rows):
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tasks")


@pytest.fixture(scope="module")
def model(folder):
    """A classifier of good and bad films that has learnt single texts."""
    corpus, tokenizer = make_corpus(600), wordpiece()
    network = classifier("bert", tokenizer)
    assert learn(network, tokenizer, corpus) > 0.9
    save(network, tokenizer, folder / "mine")
    return network, tokenizer


def test_a_pair_is_read_from_two_columns_and_shown_under_their_names(model, folder):
    draw = np.random.default_rng(0)
    rows = []
    for number in range(60):
        words = [*draw.choice(PLAIN, 3), *draw.choice((BAD, GOOD)[number % 2], 2)]
        rows.append(
            {
                "question": " ".join(words[:2]),
                "reply": " ".join(words[2:]),
                "label": ("bad", "good")[number % 2],
            }
        )
    data = write(folder / "pairs.jsonl", rows)
    call(
        *("audit", f"hf:{folder / 'mine'}", "--data", data, "--text", "question", "--text-pair", "reply"),
        *("--out", folder / "pairs", "--also", "layer-1-head-2", "--by", "label"),
    )
    audit = json.loads((folder / "pairs" / "audit.json").read_text(encoding="utf-8"))
    assert audit["data"]["roles"] == ["question", "reply"]
    entry = audit["instances"][0]
    assert sum("\x1e" in gap for gap in entry["gaps"]) == 1
    assert "layer-1-head-2" in audit["methods"]["maps"]
    assert {one["name"] for one in audit["verdict"]["groups"]} == {"bad", "good"}


@pytest.fixture(scope="module")
def several(model, folder):
    """The same head read as two labels that a text may both have."""
    network, tokenizer = model
    names = {0: "dull", 1: "fine"}
    network.config.id2label, network.config.label2id = names, {name: k for k, name in names.items()}
    network.config.problem_type = "multi_label_classification"
    save(network, tokenizer, folder / "several")
    corpus = make_corpus(240, seed=3)
    rows = [
        {"text": text, "tags": ["dull"] if label == 0 else ["fine"], "none": 0}
        for text, label in zip(corpus.texts, corpus.labels.tolist(), strict=True)
    ]
    return write(folder / "several.jsonl", rows)


def test_each_of_several_labels_is_audited_and_one_page_has_them_all(several, folder):
    arguments = ("audit", f"hf:{folder / 'several'}", "--data", several, "--label", "tags", "--limit", 60)
    result = call(*arguments, "--out", folder / "labels", "--json")
    found = json.loads(result.stdout)
    assert set(found["labels"]) == {"dull", "fine"}
    page = (folder / "labels" / "index.html").read_text(encoding="utf-8")
    for label, one in found["labels"].items():
        own = json.loads((folder / "labels" / label / "audit.json").read_text(encoding="utf-8"))
        assert own["subject"]["classes"] == [f"not {label}", label]
        assert one["reading"] == own["verdict"]["reading"]
        assert f'href="{label}/index.html"' in page
        assert one["accuracy"] > 0.6


def test_what_is_read_for_one_label_is_not_read_for_the_next(several, folder, monkeypatch):
    texts = []
    begin = BertForSequenceClassification.forward

    @wraps(begin)  # what it takes is looked at
    def counting(self, *args, **kwargs):
        read, pieces = kwargs["input_ids"].shape
        texts[-1] += read * (pieces > 1)  # not the last layer's one row by itself
        return begin(self, *args, **kwargs)

    monkeypatch.setattr(BertForSequenceClassification, "forward", counting)
    name, how = f"hf:{folder / 'several'}", {"columns": {"label": "tags"}, "limit": 12}

    def label(named):
        texts.append(0)
        asked = Asked(label=named)
        return heedful.audit(name, several, out=folder / "alone" / named, asked_of=asked, **how)

    alone = {named: label(named) for named in ("dull", "fine")}
    texts.append(0)
    together = audit_labels(name, several, out=folder / "together", **how).audits
    assert texts[2] < 0.75 * (texts[0] + texts[1])
    for named, one in alone.items():
        assert together[named].reading == one.reading
        ours, theirs = (pd.read_parquet(found.folder / "rows.parquet") for found in (together[named], one))
        pd.testing.assert_frame_equal(ours, theirs, check_exact=False, atol=1e-2)  # rounding of other batches
        ours, theirs = ((found.folder / "plan.json").read_text() for found in (together[named], one))
        assert ours == theirs  # an audit of one label goes on from there


def test_one_label_alone_can_be_named(several, folder):
    arguments = ("audit", f"hf:{folder / 'several'}", "--data", several, "--label", "tags", "--limit", 40)
    found = json.loads(call(*arguments, "--audit-label", "fine", "--out", folder / "one", "--json").stdout)
    assert found["subject"]["classes"] == ["not fine", "fine"]


def test_a_regression_is_refused_in_a_sentence_or_audited_at_a_threshold(model, folder):
    tokenizer = model[1]
    network = classifier("bert", tokenizer, id2label={0: "stars"}, label2id={"stars": 0})
    save(network, tokenizer, folder / "stars")
    corpus = make_corpus(120, seed=4)
    draw = np.random.default_rng(1)
    rows = [{"text": text, "stars": float(draw.normal())} for text in corpus.texts]
    data = write(folder / "stars.jsonl", rows)
    arguments = ("audit", f"hf:{folder / 'stars'}", "--data", data, "--label", "stars", "--limit", 30)
    refused = call(*arguments, "--out", folder / "refused", code=2)
    assert "gives a number and no class: name a threshold" in refused.stderr
    found = json.loads(call(*arguments, "--threshold", 0.1, "--out", folder / "at", "--json").stdout)
    assert found["subject"]["classes"] == ["up to 0.1", "above 0.1"]
