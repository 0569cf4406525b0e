"""The example of a Hugging Face classifier runs as it stands, on one that is trained here."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("transformers", reason="the extra hf is not installed")

from tiny_transformers import CLASSES, classifier, learn, make_corpus, save, wordpiece

from heedful.auditing.result import Audit

EXAMPLE = Path(__file__).parents[2] / "examples" / "hugging_face.py"


@pytest.mark.docs
def test_somebodys_classifier_gets_a_verdict_and_a_page(tmp_path):
    corpus, tokenizer = make_corpus(), wordpiece()
    network = classifier("bert", tokenizer)
    learn(network, tokenizer, corpus)
    folder = save(network, tokenizer, tmp_path / "classifier")
    names = [CLASSES[label] for label in corpus.labels]
    table = pd.DataFrame({"text": corpus.texts, "label": names, "split": corpus.splits})
    table.to_csv(tmp_path / "reviews.csv", index=False)
    command = [sys.executable, str(EXAMPLE), str(folder), "reviews.csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    audit = Audit.load(tmp_path / "audit-of-classifier")
    assert audit.reading in done.stdout
    instead = audit.verdict.instead
    assert ("To show instead of attention: " in done.stdout) == (instead is not None)
    assert (tmp_path / "audit-of-classifier" / "index.html").exists()
