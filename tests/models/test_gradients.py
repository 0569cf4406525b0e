"""The closed forms equal automatic differentiation, in float64, on texts with repeated words."""

import pytest
import torch
import torch.nn.functional as F

from heedful.models.gradients import (
    Occurrences,
    additive_gradients,
    affine_gradients,
    dot_gradients,
    occurrences,
    quantities,
)

VOCABULARY, WIDTH, INNER, SCALE = 23, 5, 7, 1.7
# Seven texts; words repeat inside a text and across texts, and word 2 of the table never occurs.
TEXTS = [[1, 4, 4, 9], [4], [11, 1, 1, 1, 22], [0, 9], [17, 4, 17], [5, 6, 7, 8, 9, 10], [22, 22]]
LENGTHS = torch.tensor([len(text) for text in TEXTS])
IDS = torch.tensor([token for text in TEXTS for token in text])
FAMILIES = {"dp": dot_gradients, "dp-a": affine_gradients, "ad": additive_gradients}


def parameters(family, classes, *, bias=True):
    draw = torch.Generator().manual_seed(3)
    inner = WIDTH if family == "dp" else INNER
    state = (
        WIDTH if family == "ad" else inner
    )  # what is averaged: words, or what the affine layer makes of them

    def normal(*shape):
        return torch.randn(*shape, generator=draw, dtype=torch.float64)

    made = {
        "table": normal(VOCABULARY, WIDTH),
        "context": normal(inner),
        "head": normal(state) if classes == 1 else normal(classes, state),
    }
    if family != "dp":
        made["matrix"] = normal(INNER, WIDTH)
        if bias:
            made["bias"] = normal(INNER)
    return made, state


def loss_in_words(family, made, labels, keep_words, keep_attended):
    """The model written down text by text, as in Eq. 1–7 and supplement D–F."""
    losses, start = [], 0
    for number, text in enumerate(TEXTS):
        words = made["table"][text] * keep_words[start : start + len(text)]
        start += len(text)
        states = words if family == "dp" else words @ made["matrix"].T + made.get("bias", 0)
        scores = (states.tanh() if family == "ad" else states) @ made["context"] / SCALE
        attended = scores.softmax(0) @ (words if family == "ad" else states) * keep_attended[number]
        logits = made["head"] @ attended
        if logits.ndim == 0:
            losses.append(torch.log1p(torch.exp(-(2 * labels[number] - 1) * logits)))
        else:
            losses.append(F.cross_entropy(logits, labels[number]))
    return torch.stack(losses).mean()


def masks(state, dropout):
    draw = torch.Generator().manual_seed(5)
    words = (torch.rand(len(IDS), WIDTH, generator=draw) < 0.6).double() / 0.6
    attended = (torch.rand(len(TEXTS), state, generator=draw) < 0.6).double() / 0.6
    return (
        words if dropout in ("words", "both") else None,
        attended if dropout in ("attended", "both") else None,
    )


@pytest.mark.parametrize("dropout", ["none", "words", "attended", "both"])
@pytest.mark.parametrize("classes", [1, 3])
@pytest.mark.parametrize("family", FAMILIES)
def test_closed_forms_equal_automatic_differentiation(family, classes, dropout):
    made, state = parameters(family, classes)
    labels = torch.arange(len(TEXTS)) % max(classes, 2)
    keep_words, keep_attended = masks(state, dropout)

    for value in made.values():
        value.requires_grad_()
    loss = loss_in_words(
        family,
        made,
        labels,
        torch.ones(len(IDS), 1) if keep_words is None else keep_words,
        torch.ones(len(TEXTS), 1) if keep_attended is None else keep_attended,
    )
    loss.backward()

    tokens, places = occurrences(IDS, LENGTHS)
    rest = {name: value for name, value in made.items() if name != "table"}
    found = FAMILIES[family](
        made["table"][tokens],
        places,
        labels=labels,
        scale=SCALE,
        keep_words=keep_words,
        keep_attended=keep_attended,
        **rest,
    )

    table_gradient = torch.zeros(VOCABULARY, WIDTH, dtype=torch.float64)
    table_gradient[tokens] = found.rows
    torch.testing.assert_close(found.quantities.loss, loss.detach(), rtol=1e-12, atol=0)
    torch.testing.assert_close(table_gradient, made["table"].grad, rtol=1e-10, atol=1e-14)
    for name, value in rest.items():
        torch.testing.assert_close(getattr(found, name), value.grad, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("family", ["dp-a", "ad"])
def test_a_model_without_a_bias_has_no_gradient_for_it(family):
    made, _ = parameters(family, 1, bias=False)
    labels = torch.arange(len(TEXTS)) % 2
    made["matrix"].requires_grad_()
    loss_in_words(family, made, labels, torch.ones(len(IDS), 1), torch.ones(len(TEXTS), 1)).backward()
    tokens, places = occurrences(IDS, LENGTHS)
    rest = {name: value for name, value in made.items() if name != "table"}
    found = FAMILIES[family](made["table"][tokens], places, labels=labels, scale=SCALE, **rest)
    assert found.bias is None
    torch.testing.assert_close(found.matrix, made["matrix"].grad, rtol=1e-10, atol=1e-14)


def test_the_whole_table_gives_the_same_rows_as_the_distinct_words():
    made, _ = parameters("dp", 1)
    labels = torch.arange(len(TEXTS)) % 2
    tokens, places = occurrences(IDS, LENGTHS)
    shared = {"labels": labels, "context": made["context"], "head": made["head"], "scale": SCALE}
    some = dot_gradients(made["table"][tokens], places, **shared)
    whole = dot_gradients(made["table"], Occurrences(IDS, places.instance, VOCABULARY, len(TEXTS)), **shared)
    torch.testing.assert_close(whole.rows[tokens], some.rows, rtol=1e-12, atol=0)
    unseen = sorted(set(range(VOCABULARY)) - set(IDS.tolist()))
    assert not whole.rows[unseen].any()


def test_pi_and_rho_are_sums_over_occurrences_counted_by_hand():
    made, _ = parameters("dp", 1)
    labels = torch.tensor([1, 0, 0, 1, 1, 0, 1])
    tokens, places = occurrences(IDS, LENGTHS)
    table, context, head = made["table"], made["context"], made["head"]
    pi, rho = torch.zeros(VOCABULARY, dtype=torch.float64), torch.zeros(VOCABULARY, dtype=torch.float64)
    for text, label in zip(TEXTS, labels, strict=True):
        y = 2 * int(label) - 1
        weights = (table[text] @ context / SCALE).softmax(0)
        own = table[text] @ head
        s = weights @ own
        beta = torch.sigmoid(-y * s)
        for token, weight, score in zip(text, weights, own, strict=True):
            pi[token] += y * beta * weight
            rho[token] += y * beta * weight * (score - s)
    found = quantities(
        table[tokens] @ context / SCALE, (table[tokens] @ head)[:, None], places, labels=labels
    )
    torch.testing.assert_close(found.pi(places)[:, 0], pi[tokens], rtol=1e-12, atol=1e-15)
    torch.testing.assert_close(found.rho(places), rho[tokens], rtol=1e-12, atol=1e-15)
    assert ((found.beta > 0) & (found.beta < 1)).all()


def test_weights_sum_to_one_in_every_instance_even_at_huge_attention_scores():
    tokens, places = occurrences(IDS, LENGTHS)
    attention = torch.linspace(-1e4, 1e4, len(tokens))
    found = quantities(
        attention, torch.ones(len(tokens), 3), places, labels=torch.zeros(len(TEXTS), dtype=torch.long)
    )
    torch.testing.assert_close(places.per_instance(found.weights), torch.ones(len(TEXTS)))
    torch.testing.assert_close(found.scores, torch.ones(len(TEXTS), 3))


def test_an_instance_without_words_has_scores_of_zero():
    tokens, places = occurrences(torch.tensor([3, 3]), torch.tensor([2, 0]))
    found = quantities(torch.ones(1), torch.ones(1, 1), places, labels=torch.tensor([1, 1]))
    assert tokens.tolist() == [3]
    assert found.scores.tolist() == [[1.0], [0.0]]
    assert torch.isfinite(found.loss)


@pytest.mark.parametrize("classes", [1, 3])
def test_a_bias_of_the_head_moves_the_push_and_nothing_else(classes):
    draw = torch.Generator().manual_seed(7)
    tokens, places = occurrences(IDS, LENGTHS)
    attention = torch.randn(len(tokens), generator=draw, dtype=torch.float64).requires_grad_()
    polarity = torch.randn(len(tokens), classes, generator=draw, dtype=torch.float64).requires_grad_()
    bias = torch.randn(classes, generator=draw, dtype=torch.float64)
    labels = torch.arange(len(TEXTS)) % max(classes, 2)
    found = quantities(attention, polarity, places, labels=labels, head_bias=bias)
    without = quantities(attention, polarity, places, labels=labels)
    torch.testing.assert_close(found.scores, without.scores)
    torch.testing.assert_close(found.dev, without.dev)
    by_attention, by_polarity = torch.autograd.grad(found.loss * len(TEXTS), [attention, polarity])
    torch.testing.assert_close(found.rho(places), -by_attention, rtol=1e-10, atol=1e-14)
    torch.testing.assert_close(found.pi(places), -by_polarity, rtol=1e-10, atol=1e-14)
