"""Ω moves as automatic differentiation says, A and B apart; and the inequalities are counted rightly."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

from heedful.data.batches import make_batch
from heedful.training.losses import classification_loss
from heedful.understanding.flow import flow_terms
from heedful.understanding.inequalities import measure_inequalities
from heedful.understanding.omega import TypedSample, dot_products
from heedful.understanding.token_types import find_types

CHOSEN = np.array([4, 9, 1, 22, 17, 3])  # word 3 does not occur


def word_gradient(model, encoded):
    batch = make_batch(encoded, np.arange(len(encoded)))
    loss = classification_loss(model.logits(batch), batch.labels)
    return torch.autograd.grad(loss, model.embedding.weight)[0]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["dp", "dp-a", "ad"])
def test_omega_moves_as_automatic_differentiation_says(model, texts, name, classes):
    made, encoded = model(name, classes=classes), texts(classes=classes)
    found = dot_products(flow_terms(made, encoded), CHOSEN)
    e, move = made.embedding.weight.detach()[CHOSEN], -word_gradient(made, encoded)[CHOSEN]
    torch.testing.assert_close(found.omega, e @ e.T)
    torch.testing.assert_close(found.a + found.b, move @ e.T, rtol=1e-10, atol=1e-13)
    torch.testing.assert_close(found.change, move @ e.T + e @ move.T, rtol=1e-10, atol=1e-13)
    assert (found.states is not None) == (name == "dp-a")


@pytest.mark.parametrize("name", ["dp", "dp-a"])
def test_a_and_b_are_the_corrected_products(model, texts, name):
    flow = flow_terms(model(name), texts())
    found = dot_products(flow, CHOSEN)
    a, s = flow.form.attention[CHOSEN], flow.form.polarity[CHOSEN, 0]
    torch.testing.assert_close(found.a, torch.outer(flow.rho[CHOSEN], a) / 7, rtol=1e-11, atol=1e-14)
    torch.testing.assert_close(found.b, torch.outer(flow.pi[CHOSEN, 0], s) / 7, rtol=1e-11, atol=1e-14)


def with_types(model, texts, codes):
    made, encoded = model("dp"), texts()
    types = find_types(encoded, made.vocabulary, classes=made.classes)
    new = np.full(len(types.codes), -1)
    for id, code in codes.items():
        new[id] = code
    return flow_terms(made, encoded), replace(types, codes=new)


CODES = {4: 1, 9: 1, 1: 1, 22: 0, 17: 0, 5: 2, 6: 2, 7: 2, 8: 2}


def test_pairs_of_types_have_each_pair_of_words_once(model, texts):
    flow, types = with_types(model, texts, CODES)
    sample = TypedSample.draw(types, 100)
    pairs = {name: list(zip(i, k, strict=True)) for name, i, k in sample.pairs()}
    assert {name: len(found) for name, found in pairs.items()} == {
        "negative-negative": 1,
        "negative-positive": 6,
        "negative-neutral": 8,
        "positive-positive": 3,
        "positive-neutral": 12,
        "neutral-neutral": 6,
    }
    frame = dot_products(flow, sample.ids).by_pair(sample)
    told = frame.set_index(["quantity", "pair"]).loc[("omega", "negative-positive")]
    e = flow.form.table
    assert told["mean"] == pytest.approx((e[[17, 22]] @ e[[1, 4, 9]].T).mean().item())
    assert set(frame["quantity"]) == {"omega", "A", "B", "omega change"}


def test_a_sample_is_drawn_by_its_seed(model, texts):
    _, types = with_types(model, texts, {id: id % 3 for id in range(2, 23)})
    first, again, other = (TypedSample.draw(types, 4, seed=seed).ids.tolist() for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert len(first) == 12


def test_the_inequalities_are_counted_as_written(model, texts):
    flow, types = with_types(model, texts, CODES)
    frame = measure_inequalities(flow, types).to_frame().set_index(["equation", "pair"])
    positive, negative = [4, 9, 1], [22, 17]
    e, scale, m = flow.form.table, flow.form.scale, 7
    v, w = flow.form.context, flow.form.head[0]

    def a(i, k):
        return float(flow.rho[i] * (e[k] @ v) / scale / m)

    def b(i, k):
        return float(flow.pi[i, 0] * (e[k] @ w) / m)

    def change(i, k):
        return a(i, k) + b(i, k) + a(k, i) + b(k, i)

    def omega(i, k):
        return float(e[i] @ e[k])

    def holds(equation, pair):
        return frame.loc[(equation, pair), "holds"], frame.loc[(equation, pair), "count"]

    pairs = [(i, k) for i, k in product(sorted(positive), repeat=2) if i < k]
    both = [b(i, k) + b(k, i) for i, k in pairs]
    assert holds("48", "positive-positive") == (sum(a(i, k) + b(i, k) > b(i, k) > 0 for i, k in pairs), 3)
    assert holds("49", "positive-positive") == (sum(a(k, i) + b(k, i) > b(k, i) > 0 for i, k in pairs), 3)
    assert holds("50", "positive-positive") == (
        sum(change(i, k) > x > 0 for (i, k), x in zip(pairs, both, strict=True)),
        3,
    )
    across = list(product(negative, positive))
    assert holds("51", "negative-positive") == (
        sum(0 > a(i, k) + b(i, k) > b(i, k) for i, k in across),
        6,
    )
    assert holds("52", "negative-positive") == (
        sum(0 > a(k, i) + b(k, i) > b(k, i) for i, k in across),
        6,
    )
    assert holds("53", "negative-positive") == (
        sum(0 > change(i, k) > b(i, k) + b(k, i) for i, k in across),
        6,
    )
    triples = [(s, p, n) for s, p, n in product(positive, positive, negative) if s != p]
    assert holds("54", "positive against negative") == (
        sum(change(s, p) > -change(s, n) for s, p, n in triples),
        12,
    )
    assert holds("after 54", "positive against negative") == (
        sum(omega(s, p) + omega(s, n) > 0 for s, p, n in triples),
        12,
    )
    mirrored = [(s, p, n) for s, p, n in product(negative, negative, positive) if s != p]
    assert holds("55", "negative against positive") == (
        sum(change(s, p) > -change(s, n) for s, p, n in mirrored),
        6,
    )


def test_with_partners_only_mirrored_words_are_compared(model, texts):
    flow, types = with_types(model, texts, {4: 1, 9: 1, 22: 0, 17: 0})
    words = flow.words
    partners = {words[4]: words[22], words[22]: words[4], words[9]: words[17], words[17]: words[9]}
    frame = measure_inequalities(flow, types, partners=partners).to_frame().set_index(["equation", "pair"])
    told = frame.loc[("54", "positive against negative")]
    assert told["count"] == 2
    found = dot_products(flow, np.array([4, 9, 22, 17]))
    change = found.change
    assert told["holds"] == int(change[0, 1] + change[0, 3] > 0) + int(change[1, 0] + change[1, 2] > 0)
