"""The ways that the transformer bench compares give the same numbers."""

import sys
from pathlib import Path

import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
from tiny_transformers import classifier, make_corpus, stirred, wordpiece

from heedful.bench.transformer import (
    each_out,
    linear_maps,
    measure_transformer,
    padded,
    with_torchs_products,
)
from heedful.models.transformers import TransformerSubject, products

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def subject():
    tokenizer = wordpiece()
    network = stirred(classifier("bert", tokenizer)).requires_grad_(False)
    return TransformerSubject(network, tokenizer, tokens=64)


def test_padded_batches_in_any_order_give_the_same_logits(subject):
    variants = each_out(subject.encode(make_corpus().texts[:7]))
    ours = subject.logits(variants)
    for order in (range(len(variants)), range(len(variants))[::-1]):
        torch.testing.assert_close(padded(subject, variants, order), ours, atol=1e-5, rtol=1e-5)


def test_the_usual_ways_have_torchs_own_products_and_ours_has_the_faster_ones(subject, monkeypatch):
    made, product = [], products._product
    monkeypatch.setattr(products, "_product", lambda *given: made.append(1) or product(*given))
    monkeypatch.setattr(products, "SMALLEST", 1)
    monkeypatch.setattr(subject.runner, "onednn", True)
    variants = each_out(subject.encode(make_corpus().texts[:7]))
    with torch.no_grad():
        usual = padded(subject, variants, range(len(variants)))
        own = with_torchs_products(subject, variants)
        assert not made
        ours = subject.logits(variants)
    assert made
    for other in (usual, own):
        torch.testing.assert_close(other, ours, atol=1e-5, rtol=1e-5)


def test_the_products_are_those_that_our_way_runs_and_no_more(subject):
    variants = each_out(subject.encode(make_corpus().texts[:7]))
    maps = linear_maps(subject, variants)
    first, *_, classifier = [part for part in subject.network.modules() if isinstance(part, torch.nn.Linear)]
    pieces = sum(len(cut) for cut in subject.cut(variants))
    assert sum(places for layer, places in maps if layer is first) == pieces
    # A pass ends at the deciding row of the last attention, and one row of each text goes on.
    out = subject.network.bert.encoder.layer[-1].output.dense
    assert sum(places for layer, places in maps if layer in (out, classifier)) == 2 * len(variants)
    assert not any(part._forward_hooks for part in subject.network.modules())


def test_every_word_is_left_out_once(subject):
    found = measure_transformer(subject, make_corpus().texts[:7], rounds=1)
    assert found.variants == int(subject.encode(make_corpus().texts[:7]).mask.sum())
    assert found.largest_difference < 1e-5
    assert min(found.padded, found.by_length, found.ours, found.two_threads, found.last_layer) > 0
