"""A model as people hold it: every kind reads a text alike, and another kind gets one sentence."""

import sys
from pathlib import Path

import numpy as np
import pandas
import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
from tiny_transformers import classifier, make_corpus, save, stirred, wordpiece
from transformers import pipeline

import heedful
from heedful.errors import UserError
from heedful.training import train
from heedful.training.opening import Asked, open_any, open_model
from heedful.training.run import Run

TEXT = "A superb film, with a tedious plot."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    tokenizer = wordpiece()
    return save(stirred(classifier("bert", tokenizer)), tokenizer, tmp_path_factory.mktemp("hub") / "mine")


@pytest.fixture(scope="module")
def network(folder):
    from transformers import AutoModelForSequenceClassification

    return AutoModelForSequenceClassification.from_pretrained(folder)


@pytest.fixture(scope="module")
def run(small_corpus):
    return train(small_corpus, epochs=1)


def test_a_transformer_is_the_same_however_it_is_held(folder, network):
    tokenizer = wordpiece()
    ways = [
        heedful.explain(f"hf:{folder}", TEXT),
        heedful.explain(folder, TEXT),  # a folder that save_pretrained wrote
        heedful.explain(network, TEXT, tokenizer=tokenizer),
        heedful.explain((network, tokenizer), TEXT),
        heedful.explain(network, TEXT),  # its tokenizer lies beside its weights
        heedful.explain(pipeline("text-classification", model=network, tokenizer=tokenizer), TEXT),
    ]
    assert len({reading.decision for reading in ways}) == 1
    for reading in ways:
        assert reading.probability == pytest.approx(ways[0].probability, abs=1e-6)
        assert reading.scores == pytest.approx(ways[0].scores, abs=1e-6)


def test_what_is_known_of_it_is_handed_on(folder, network, run):
    opened = open_any(network, tokenizer=wordpiece())
    assert (opened.kind, opened.name, opened.called) == ("huggingface", "mine", f"hf:{folder}")
    opened = open_any(run)
    assert (opened.kind, opened.name, opened.run is run) == ("run", "dp", True)


def test_a_fitted_estimator_is_its_run(small_corpus):
    pytest.importorskip("sklearn", reason="the extra sklearn is not installed")
    estimator = heedful.AttentionClassifier(epochs=1)
    with pytest.raises(UserError, match=r"call fit\(texts, labels\) first"):
        open_any(estimator)
    estimator.fit(list(small_corpus.texts), small_corpus.labels)
    assert isinstance(open_any(estimator).run, Run)


class Counts:
    """What scikit-learn's classifiers look like."""

    classes_ = np.array(["bad", "good"])

    def predict_proba(self, texts):
        shares = [0.9 if "superb" in text else 0.2 for text in texts]
        return np.array([[1 - share, share] for share in shares])


def test_a_function_is_a_black_box_painted_by_leaving_words_out():
    reading = heedful.explain(Counts().predict_proba, TEXT, classes=("bad", "good"))
    assert (reading.decision, reading.by) == ("good", "leave-one-out")
    frame = reading.to_frame().set_index("word")
    assert frame["score"].idxmax() == "superb"
    assert frame["attention"].isna().all()
    assert heedful.explain(Counts(), TEXT).scores == reading.scores


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (17, "a run or its folder, hf:NAME, a Hugging Face classifier with tokenizer="),
        (torch.nn.Linear(2, 3), "of the type Linear"),
        (Counts, "the class Counts, and not one of it"),
        (lambda texts: texts, "with classes="),
    ],
)
def test_another_kind_gets_one_sentence(model, says):
    with pytest.raises(UserError, match=says):
        heedful.explain(model, TEXT)


def test_a_model_whose_tokenizer_is_nowhere_asks_for_it():
    with pytest.raises(UserError, match=r"give it as tokenizer=, or both as \(model, tokenizer\)"):
        heedful.explain(classifier("bert", wordpiece()), TEXT)


def test_a_pipeline_for_something_else_is_refused(network):
    other = type("Pipeline", (), {"task": "translation", "model": network, "tokenizer": wordpiece()})()
    with pytest.raises(UserError, match="is for translation"):
        heedful.explain(other, TEXT)


@pytest.mark.parametrize("asked", [Asked(system="be good"), Asked(chat=True), Asked(threshold=0.0)])
@pytest.mark.parametrize("opened", [open_any, open_model])
def test_a_run_decides_as_it_was_trained_and_is_asked_nothing_else(opened, asked, run, tmp_path):
    run.save(tmp_path / "run")
    opened(tmp_path / "run", asked=Asked())
    with pytest.raises(UserError, match=asked.options.split()[0]):
        opened(tmp_path / "run", asked=asked)


def test_several_texts_are_read_one_by_one(run, small_corpus):
    texts = list(small_corpus.texts[:3])
    readings = heedful.explain(run, texts, by="leave-one-out")
    assert readings[2] == heedful.explain(run, texts[2], "leave-one-out")
    assert set(readings.to_frame()["text"]) == {0, 1, 2}
    for table in (pandas.DataFrame({"text": texts, "label": 0}), {"text": texts}, pandas.Series(texts)):
        assert heedful.explain(run, table, by="leave-one-out") == readings
    with pytest.raises(UserError, match="of the type int"):
        heedful.explain(run, 3)
    with pytest.raises(UserError, match="of the type int"):
        heedful.explain(run, [3])


def test_what_was_asked_for_is_what_is_painted(run, small_corpus):
    text = small_corpus.texts[0]
    by_attention, by_deletion = heedful.explain(run, text), heedful.explain(run, text, by="leave-one-out")
    assert "painted by leave-one-out" in by_deletion._repr_html_()
    assert by_attention._repr_html_() != by_deletion._repr_html_()
    against = min(by_deletion.scores)
    if against < 0:
        assert f"leave-one-out {against:+.3f}" in by_deletion._repr_html_()


def test_readings_are_saved_by_the_ending_of_the_name(run, small_corpus, tmp_path):
    readings = heedful.explain(run, list(small_corpus.texts[:2]))
    page = readings.save(tmp_path / "two.html").read_text()
    assert page.startswith("<!doctype html>")
    assert page.count("painted by attention") == 2
    table = readings.save(tmp_path / "two.csv").read_text()
    assert len(table.splitlines()) == 1 + sum(len(reading.words) for reading in readings)
    assert '"texts"' in readings.save(tmp_path / "two.json").read_text()
    assert readings[0].save(tmp_path / "one.html").exists()
    with pytest.raises(UserError, match="ending"):
        readings.save(tmp_path / "two.docx")
    assert not (tmp_path / "two.docx").exists()


@pytest.mark.slow
def test_the_eight_natural_calls_of_an_audit(network, tmp_path, small_corpus, run):
    """Each ends in an audit: what a Python user tries first."""
    datasets = pytest.importorskip("datasets", reason="the extra hf is not installed")
    corpus = make_corpus(60)
    texts, labels = list(corpus.texts), [corpus.label_names[label] for label in corpus.labels]
    frame = pandas.DataFrame({"text": texts, "label": labels})
    dataset = datasets.Dataset.from_pandas(frame)
    tokenizer = wordpiece()
    pipe = pipeline("text-classification", model=network, tokenizer=tokenizer)
    own = pandas.DataFrame(
        {"text": small_corpus.texts, "label": [small_corpus.label_names[k] for k in small_corpus.labels]}
    )
    calls = [
        lambda **few: heedful.audit(network, frame, tokenizer=tokenizer, **few),
        lambda **few: heedful.audit((network, tokenizer), dataset, **few),
        lambda **few: heedful.audit(pipe, frame, **few),
        lambda **few: heedful.audit(pipe, texts, labels, **few),
        lambda **few: heedful.audit(Counts().predict_proba, frame, **few),
        lambda **few: heedful.audit(run, small_corpus, **few),
        lambda **few: heedful.audit(own, seeds=1, uniform=False, **few),
        lambda **few: heedful.audit(list(own["text"]), list(own["label"]), seeds=1, uniform=False, **few),
    ]
    for number, call in enumerate(calls):
        found = call(out=tmp_path / str(number), limit=20, deletions=1)
        assert (found.folder / "index.html").exists()


@pytest.mark.parametrize("more", [{"label": "good"}, {"threshold": 0.0}])
def test_a_prompted_language_model_takes_no_other_way_to_decide(tmp_path, more):
    asked = Asked(template="{text}\nIt was:", labels=("bad", "good"), **more)
    with pytest.raises(UserError, match="leave out --audit-label and --threshold"):
        open_model(f"hf:{tmp_path}", asked=asked)
