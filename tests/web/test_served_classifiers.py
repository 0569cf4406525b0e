"""Somebody's Hugging Face classifier, served: its decision, its words, bounds that are called so."""

import sys
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from heedful.errors import UserError
from heedful.web import create_app
from heedful.web.models import MOST_OF_HUB, open_models

pytest.importorskip("transformers", reason="the extra hf is not installed")
sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
from tiny_transformers import classifier, learn, make_corpus, save, wordpiece

pytestmark = pytest.mark.slow  # importing transformers alone takes seconds


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    tokenizer = wordpiece()
    network = classifier("bert", tokenizer)
    assert learn(network, tokenizer, make_corpus()) > 0.9
    return save(network, tokenizer, tmp_path_factory.mktemp("hub") / "mine")


@pytest.fixture(scope="module")
def client(folder):
    models, notes = open_models(f"hf:{folder}")
    assert any("upper bounds" in note for note in notes)
    with TestClient(create_app(models), base_url="http://127.0.0.1:8765") as client:
        yield client


def read(client, text):
    return client.post("/api/read", json={"text": text})


def test_a_text_is_decided_and_painted_and_nothing_is_called_exact(client):
    assert client.get("/api/models").json()["models"][0]["name"] == "mine"
    text = read(client, "A wonderful, superb <b>film</b> with two dreadful scenes").json()["text"]
    assert text["words"][:4] == ["A", "wonderful", ",", "superb"]
    assert len(text["weights"]) == len(text["words"])
    assert text["probabilities"][text["decided"]] > 0.5
    assert set(text["rankings"]) == {"gradient", "leave-one-out", "rollout"}
    assert text["token_logits"] is None  # its head is not linear: no clicks
    assert text["smallest_kind"] == "upper bound"
    assert len(text["paths"]["attention"]) == sum(text["read"]) + 1


def test_the_decision_is_the_classifiers_own(client, folder):
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    for text in ("a wonderful film", "the plot was clumsy and lifeless"):
        with torch.no_grad():
            expected = network(**tokenizer(text, return_tensors="pt")).logits.softmax(-1)[0]
        found = read(client, text).json()["text"]["probabilities"]
        torch.testing.assert_close(torch.tensor(found), expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("\u202e", "reads no word of this text"), ("film " * (MOST_OF_HUB + 1), f"at most {MOST_OF_HUB} words")],
)
def test_a_text_that_it_cannot_read_gets_a_sentence(client, text, sentence):
    answer = read(client, text)
    assert answer.status_code == 422
    assert sentence in answer.json()["error"]


def test_a_classifier_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UserError, match="No classifier could be loaded"):
        open_models(f"hf:{tmp_path / 'nowhere'}")
