"""Highlights of a transformer, as people hold it: model and tokenizer, pipeline, folder."""

import sys
from pathlib import Path

import pandas as pd
import pytest

import heedful

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
transformers = pytest.importorskip("transformers")
from tiny_transformers import BAD, GOOD, classifier, learn, make_corpus, save, wordpiece  # noqa: E402


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
