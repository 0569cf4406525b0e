"""Small transformers trained here: saved, loaded again, tested once; a restart trains nothing."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
from tiny_transformers import make_corpus

from heedful.bench.families import FAMILIES, train_families
from heedful.bench.passes import AuditPasses, counted
from heedful.data.named import load_data
from heedful.errors import UserError
from heedful.models.transformers import load_transformer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def corpus():
    made = make_corpus(600)
    made.splits[made.splits == "train"] = ["train", "train", "dev", "dev"] * 100  # both classes in each
    return made


@pytest.fixture(scope="module")
def trained(corpus, tmp_path_factory):
    out = tmp_path_factory.mktemp("families")
    (found,) = train_families(corpus, out, ["gpt2"])
    return found, out


def test_a_family_is_saved_loaded_as_anybodys_and_as_often_right_as_is_said(trained, corpus):
    import transformers

    found, out = trained
    network = transformers.AutoModelForSequenceClassification.from_pretrained(out / "gpt2")
    tokenizer = transformers.AutoTokenizer.from_pretrained(out / "gpt2")
    test = corpus.split("test")
    with torch.no_grad():
        decided = [
            int(network(**tokenizer(text, return_tensors="pt")).logits.argmax()) for text in test.texts
        ]
    assert found.test == np.mean(np.array(decided) == test.labels)
    assert found.texts == len(test)
    subject = load_transformer(out / "gpt2")
    assert (subject.way, subject.position) == ("attention interface", "last")
    assert subject.classes == corpus.label_names
    (cut,) = subject.cut(subject.encode(["The superb film."]))
    assert len(cut) == 5  # whole words and the end mark


def test_a_restart_trains_nothing(trained, corpus):
    found, out = trained
    before = os.stat(out / "gpt2" / "model.safetensors").st_mtime_ns
    (again,) = train_families(corpus, out, ["gpt2"])
    assert again == found
    assert os.stat(out / "gpt2" / "model.safetensors").st_mtime_ns == before


def test_an_unknown_family_is_refused_before_anything_is_trained(tmp_path, corpus):
    with pytest.raises(UserError, match="family"):
        list(train_families(corpus, tmp_path, ["bert", "birt"]))
    assert not list(tmp_path.iterdir())


def test_products_are_counted_as_they_are_made(trained):
    subject = load_transformer(trained[1] / "gpt2")
    batch = subject.encode(["the film was superb", "a plot"])
    with counted(subject.network) as one:
        subject.logits(batch)
    with counted(subject.network) as two:
        subject.logits(batch)
        subject.logits(batch)
    layer = 4 * 100 * 100 + 2 * 100 * 200  # attention and the two of the middle
    places = sum(len(cut) for cut in subject.cut(batch))
    head = 2 * 100 * places  # it is asked at every place
    assert one.forth == {one.stage: places * 2 * layer + head}
    assert two.forth[two.stage] == 2 * one.forth[one.stage]
    assert not any(part._forward_hooks for part in subject.network.modules())
    assert AuditPasses(2, "faithful", 3, {"a": 1.5, "b": 2.0}, {}, announced=7.0, seconds=5.0).total == 3.5


@pytest.mark.nightly
@pytest.mark.corpora
@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_right_on_three_quarters_of_ssts_test_texts(family, tmp_path):
    folder = os.environ.get("HEEDFUL_DATA")
    if folder is None:
        pytest.skip("HEEDFUL_DATA is not set")
    vectors = Path(folder) / "vectors" / "glove.6B.100d.corpora.txt.gz"
    (found,) = train_families(load_data("sst"), tmp_path, [family], vectors=vectors)
    assert found.test >= 0.76
