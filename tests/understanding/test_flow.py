"""Each decomposition sums to what autograd says, and a small step moves scores as predicted."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.autograd.functional import jvp
from torch.func import functional_call

from heedful.data.batches import make_batch
from heedful.errors import UserError
from heedful.models.gradients import Occurrences, quantities
from heedful.training.closed import flat_texts
from heedful.training.loop import fit
from heedful.training.losses import classification_loss
from heedful.training.settings import TrainingSettings
from heedful.understanding.flow import first_order, flow_terms
from heedful.understanding.forms import paper_form
from heedful.understanding.sums import collect
from heedful.understanding.token_types import find_types

CASES = [
    ("dp", {}),
    ("dp", {"head_bias": True}),
    ("dp-a", {}),
    ("dp-a", {"head_bias": True}),
    ("ad", {}),
    ("ad", {"attention_bias": True, "head_bias": True}),
]


def loss_of(model, encoded):
    batch = make_batch(encoded, np.arange(len(encoded)))
    return classification_loss(model.logits(batch), batch.labels)


def autograd_movement(model, encoded):
    """ds_e/dτ (V, K) and da_e/dτ (V,) when every parameter moves by minus its gradient, by autograd."""
    parameters = {name: value.detach() for name, value in model.named_parameters()}
    gradients = torch.autograd.grad(
        loss_of(model, encoded), [value for _, value in model.named_parameters()], allow_unused=True
    )
    moves = {
        name: torch.zeros_like(value) if gradient is None else -gradient
        for (name, value), gradient in zip(parameters.items(), gradients, strict=True)
    }

    class Scores(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = model

        def forward(self):
            states = self.inner.words.encoder(self.inner.embedding.weight[None], None)
            return states[0] @ self.inner.head.weight.T, self.inner.words.attention.score(states)[0]

    def scores(*values):
        given = {f"inner.{name}": value for name, value in zip(parameters, values, strict=True)}
        return functional_call(Scores(), given, ())

    return jvp(scores, tuple(parameters.values()), tuple(moves.values()))[1]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("name", "changes"), CASES)
def test_the_terms_sum_to_the_movement_by_automatic_differentiation(model, texts, name, classes, changes):
    made, encoded = model(name, classes=classes, **changes), texts(classes=classes)
    flow = flow_terms(made, encoded)
    polarity, attention = autograd_movement(made, encoded)
    assert polarity.shape == (23, 1 if classes == 2 else 3)
    torch.testing.assert_close(flow.terms.polarity_change, polarity, rtol=1e-10, atol=1e-13)
    torch.testing.assert_close(flow.terms.attention_change, attention, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["dp", "dp-a", "ad"])
def test_with_frozen_words_only_what_still_moves_is_left(model, texts, name, classes):
    made, encoded = model(name, classes=classes), texts(classes=classes)
    made.embedding.weight.requires_grad_(False)
    flow = flow_terms(made, encoded)
    made.embedding.weight.requires_grad_(True)
    gradients = torch.autograd.grad(loss_of(made, encoded), made.embedding.weight)[0]
    whole = flow_terms(made, encoded)
    through_words = -gradients @ (made.head.weight @ encoder_matrix(made)).T
    torch.testing.assert_close(
        whole.terms.polarity_change - flow.terms.polarity_change, through_words, rtol=1e-9, atol=1e-12
    )
    assert not flow.terms.attention["D"].any()
    assert not flow.terms.attention["E"].any()
    assert flow.terms.attention["F"].any()


def encoder_matrix(model):
    project = getattr(model.words.encoder, "project", None)
    return torch.eye(5, dtype=torch.float64) if project is None else project.weight.detach()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", ["dp", "dp-a", "ad"])
def test_one_small_step_of_training_moves_the_scores_as_predicted(model, texts, name, compiled):
    made, encoded, rate = model(name), texts(), 1e-6
    before, flow = paper_form(made), flow_terms(made, encoded)
    polarity, attention = before.polarity.clone(), before.attention.clone()
    settings = TrainingSettings(epochs=1, batch=len(encoded), optimiser="sgd", rate=rate, compiled=compiled)
    fit(made, encoded, encoded, settings=settings)
    after = paper_form(made)
    torch.testing.assert_close(
        (after.polarity - polarity) / rate, flow.terms.polarity_change, rtol=1e-4, atol=1e-5
    )
    torch.testing.assert_close(
        (after.attention - attention) / rate, flow.terms.attention_change, rtol=1e-4, atol=1e-5
    )


def test_the_binary_terms_are_the_equations_of_the_paper_summed_word_by_word(model, texts):
    made, encoded = model("dp"), texts()
    flow, form = flow_terms(made, encoded), paper_form(made)
    e, v, w, scale, m = form.table, form.context, form.head[0], form.scale, len(encoded)
    expected = {letter: torch.zeros(23, dtype=torch.float64) for letter in "ABCDEF"}
    for number in range(m):
        ids = torch.from_numpy(encoded.row(number).astype(np.int64))
        y = 2 * int(encoded.labels[number]) - 1
        weights, own = (e[ids] @ v / scale).softmax(0), e[ids] @ w
        s = weights @ own
        beta = torch.sigmoid(-y * s)
        for word, weight, score in zip(ids, weights, own, strict=True):
            c, dev = y * beta * weight, score - s
            expected["A"][word] += c * dev * (v @ w) / scale / m
            expected["B"][word] += c * (w @ w) / m
            expected["C"] += c * e @ e[word] / m
            expected["D"][word] += c * (v @ w) / (m * scale)
            expected["E"][word] += c * dev * (v @ v) / (m * scale**2)
            expected["F"] += c * dev * (e @ e[word]) / (m * scale**2)
    found = {**{k: t[:, 0] for k, t in flow.terms.polarity.items()}, **flow.terms.attention}
    for letter, term in expected.items():
        torch.testing.assert_close(found[letter], term, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["dp", "dp-a", "ad"])
def test_the_label_split_forms_sum_to_c_and_f_and_each_is_of_its_own_texts(model, texts, name, classes):
    made, encoded = model(name, classes=classes), texts(classes=classes)
    flow = flow_terms(made, encoded)
    c, f = flow.by_label
    torch.testing.assert_close(c.sum(0), flow.terms.polarity["C"], rtol=1e-11, atol=1e-14)
    torch.testing.assert_close(f.sum(0), flow.terms.attention["F"], rtol=1e-11, atol=1e-14)
    rows = np.flatnonzero(encoded.labels == 1)
    flat, lengths = flat_texts(encoded.ids, encoded.offsets, rows)
    alone = replace(
        encoded,
        ids=flat.astype(np.int32),
        offsets=np.concatenate([[0], lengths.cumsum()]),
        labels=encoded.labels[rows],
    )
    share = len(rows) / len(encoded)
    torch.testing.assert_close(
        c[1], flow_terms(made, alone).terms.polarity["C"] * share, rtol=1e-11, atol=1e-14
    )


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["dp", "ad"])
def test_walking_in_small_chunks_changes_nothing(model, texts, name, classes):
    form, encoded = paper_form(model(name, classes=classes)), texts(classes=classes)
    whole, cut = collect(form, encoded), collect(form, encoded, chunk=3)
    for part in ("pi", "rho", "pulls", "leans"):
        torch.testing.assert_close(getattr(cut, part), getattr(whole, part), rtol=1e-12, atol=1e-15)
    for part in ("loss", "accuracy", "beta", "spread"):
        assert getattr(cut, part) == pytest.approx(getattr(whole, part), rel=1e-12)
    assert cut.instances == whole.instances == 7


@pytest.mark.parametrize("classes", [2, 3])
def test_what_is_told_of_the_texts_is_what_the_model_does(model, texts, classes):
    made, encoded = model("dp", classes=classes), texts(classes=classes)
    sums, form = collect(paper_form(made), encoded), paper_form(made)
    assert sums.loss == pytest.approx(loss_of(made, encoded).item(), rel=1e-12)
    flat, lengths = flat_texts(encoded.ids, encoded.offsets, np.arange(7))
    places = Occurrences(
        torch.from_numpy(flat), torch.repeat_interleave(torch.arange(7), torch.from_numpy(lengths)), 23, 7
    )
    labels = torch.from_numpy(encoded.labels)
    found = quantities(form.attention, form.polarity, places, labels=labels)
    spread = []
    for number in np.flatnonzero(lengths > 1):
        weights = found.weights[places.instance == number]
        spread.append(float(-(weights * weights.log()).sum() / np.log(len(weights))))
    assert sums.spread == pytest.approx(np.mean(spread), rel=1e-12)
    if classes == 2:
        assert sums.beta == pytest.approx(float(found.beta.mean()), rel=1e-12)
        decided = found.scores[:, 0] > 0
    else:
        chance = found.scores.softmax(1).gather(1, labels[:, None])
        assert sums.beta == pytest.approx(float((1 - chance).mean()), rel=1e-12)
        decided = found.scores.argmax(1)
    assert sums.accuracy == pytest.approx(float((decided == labels).double().mean()))


def test_eq_71_is_near_where_tanh_is_straight_and_far_off_at_ordinary_weights(model, texts):
    made = model("ad")
    assert first_order(flow_terms(made, texts())).error > 0.5
    with torch.no_grad():
        made.words.attention.score.projection.mul_(1e-3)
    near = first_order(flow_terms(made, texts()))
    assert near.error < 1e-4
    assert near.by_term.keys() == {"D", "E", "F", "F'"}
    with pytest.raises(UserError, match=r"Eq\. 71 is of additive attention"):
        first_order(flow_terms(model("dp"), texts()))


def test_models_beyond_the_analysis_are_refused_with_the_reason(model, texts):
    for changes, reason in (
        ({"encoder": "average"}, "encoder is 'average'"),
        ({"attention": "cosine"}, "attention is 'cosine'"),
        ({"normaliser": "sparsemax"}, "not a softmax"),
        ({"control": "uniform"}, "not a softmax"),
    ):
        with pytest.raises(UserError, match=reason):
            flow_terms(model("dp", **changes), texts())


def test_a_frame_has_a_row_a_word_and_says_the_type(model, texts):
    made, encoded = model("dp"), texts()
    flow = flow_terms(made, encoded)
    types = find_types(encoded, made.vocabulary, classes=made.classes)
    frame = flow.to_frame(types)
    assert len(frame) == 22
    assert frame["word"].tolist() == list(made.vocabulary.words[1:])
    torch.testing.assert_close(
        torch.tensor(frame[["A", "B", "C"]].sum(axis=1).to_numpy()),
        flow.terms.polarity_change[1:, 0],
        rtol=1e-11,
        atol=1e-14,
    )
    three = flow_terms(model("dp", classes=3), texts(classes=3)).to_frame()
    assert {"polarity class 0", "pi class 2", "B class 1", "attention", "F"} <= set(three.columns)


def test_by_type_tells_mean_size_and_quartiles(model, texts):
    made, encoded = model("dp"), texts()
    types = find_types(encoded, made.vocabulary, classes=made.classes)
    codes = types.codes.copy()
    codes[[4, 5, 6, 7]] = 1
    types = replace(types, codes=codes)
    flow = flow_terms(made, encoded)
    told = flow.by_type(types).set_index(["quantity", "type"]).loc[("A", "positive")]
    values = flow.terms.polarity["A"][[4, 5, 6, 7], 0].numpy()
    assert told["count"] == 4
    assert told["mean"] == pytest.approx(values.mean())
    assert told["size"] == pytest.approx(np.abs(values).mean())
    assert told[["low", "middle", "high"]].tolist() == pytest.approx(
        np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    )
