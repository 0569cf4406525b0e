"""Products by oneDNN: the same numbers and gradients, trusted only then, and taken only where they pay."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

pytest.importorskip("transformers", reason="the extra hf is not installed")

from tiny_transformers import byte_level, classifier, make_corpus, stirred, unigram, wordpiece

from heedful.models.transformers import TransformerSubject, products

if not torch.backends.mkldnn.is_available():
    pytest.skip("this torch is built without oneDNN", allow_module_level=True)

pytestmark = pytest.mark.slow  # importing transformers alone takes seconds
TEXTS = ["The wonderful film, was it dreadful?", "Moving!", "a plot ... of two (clumsy) scenes"]
TOKENIZERS = {"gpt2": byte_level, "t5": unigram}


@pytest.fixture
def counted(monkeypatch):
    """How many products oneDNN has made; every size is worth it."""
    made, product = [], products._product
    monkeypatch.setattr(products, "SMALLEST", 1)
    monkeypatch.setattr(products, "FEWEST", 1)
    monkeypatch.setattr(products, "_product", lambda *given: made.append(1) or product(*given))
    return made


def gradients(run, *inputs):
    """What it gives, how that falls with each input, and how these gradients do."""
    found = run(*inputs)
    first = torch.autograd.grad(found.sin().sum(), inputs, create_graph=True)
    second = torch.autograd.grad(sum(one.cos().sum() for one in first), inputs)
    return [found, *first, *second]


@pytest.mark.parametrize("bias", [True, False])
def test_a_linear_map_has_the_same_values_and_gradients_also_the_second_ones(bias):
    torch.manual_seed(0)
    inputs = [torch.randn(3, 5, 7), torch.randn(11, 7), *([torch.randn(11)] if bias else [])]
    inputs = [one.requires_grad_() for one in inputs]
    own = gradients(F.linear, *inputs)
    other = gradients(lambda *given: products.linear(*given, *([] if bias else [None])), *inputs)
    assert len(own) == len(other)
    for one, two in zip(own, other, strict=True):
        assert torch.allclose(one, two, atol=1e-5)


def test_tensors_that_do_not_lie_side_by_side_are_read_as_they_are():
    torch.manual_seed(1)
    weight, bias = torch.randn(14, 22), torch.randn(14)
    for states in (
        torch.randn(1, 3, 22).expand(5, 3, 22),
        torch.randn(5, 22, 3).mT,
        torch.randn(5, 3, 23)[..., 1:],
        torch.randn(5, 3, 44)[..., ::2],
    ):
        for own in (weight, torch.randn(22, 14).T, torch.randn(28, 22)[::2], torch.randn(14, 44)[:, ::2]):
            for add in (bias, torch.randn(28)[::2], torch.randn(1).expand(14)):
                expected = F.linear(states, own, add)
                assert torch.allclose(products.linear(states, own, add), expected, atol=1e-5)


@pytest.mark.parametrize("family", ["bert", "modernbert", "gpt2", "llama", "t5", "deberta-v2"])
def test_a_family_gives_the_same_logits_traces_and_gradients(family, counted):
    tokenizer = TOKENIZERS.get(family, lambda _: wordpiece())(make_corpus().texts)
    subject = TransformerSubject(stirred(classifier(family, tokenizer), seed=3), tokenizer, name=family)
    batch = subject.encode(TEXTS)
    found = {}
    for way in (False, True):
        subject.runner.onednn = way
        del counted[:]
        embedded = subject.embed(batch).requires_grad_()
        slope = torch.autograd.grad(subject.logits(batch, embedded).square().sum(), embedded)[0]
        with torch.no_grad():
            trace = subject.trace(batch)
            found[way] = [subject.logits(batch), trace.logits(), trace.weights, slope]
        assert bool(counted) is way
    for one, two in zip(found[False], found[True], strict=True):
        assert torch.allclose(one, two, atol=1e-5)


def test_products_that_give_other_logits_are_not_trusted(monkeypatch, counted):
    monkeypatch.setattr(products, "_surely_faster", lambda: True)
    tokenizer = wordpiece()
    network = stirred(classifier("bert", tokenizer), seed=3)
    assert TransformerSubject(network, tokenizer).runner.onednn
    right = products._product
    monkeypatch.setattr(products, "_product", lambda *given: right(*given) * 1.01)
    assert not TransformerSubject(network, tokenizer).runner.onednn


def test_small_and_foreign_products_stay_with_torch(monkeypatch):
    made = []
    monkeypatch.setattr(products, "_product", lambda *given: made.append(1) or F.linear(*given))
    large, few = torch.randn(64, 256), torch.randn(products.FEWEST - 1, 256)
    weight, small = torch.randn(128, 256), torch.randn(3, 256)
    with products.by_onednn(), torch.no_grad():
        F.linear(few, weight)
        F.linear(large, small)
        F.linear(large.double(), weight.double())
        F.linear(large[0], weight)
        torch.addmm(torch.randn(64, 128), large, weight.T)  # no bias, but a sum
        assert not made
        F.linear(large, weight)
        torch.addmm(torch.randn(128), large, weight.T)
        assert len(made) == 2
    F.linear(large, weight)
    assert len(made) == 2  # nothing stays switched on


def test_a_network_gains_where_its_maps_are_large_and_the_product_is_surely_faster(monkeypatch):
    large, tiny = nn.Linear(384, 384), nn.Linear(33, 33)
    monkeypatch.setattr(products, "_least", lambda run: next(times))
    for other, expected in ((1.01 / products.SURELY, False), (0.99 / products.SURELY, True)):
        times = iter([1.0, other])
        products._surely_faster.cache_clear()
        assert products.gains(large) is expected
        assert not products.gains(tiny)
        assert not products.gains(nn.Linear(384, 384, dtype=torch.float64))
    products._surely_faster.cache_clear()
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert not products.gains(large)
    products._surely_faster.cache_clear()
