import math

import numpy as np
import pytest
import torch
from debate_traces import make_trace
from scipy.special import expit, logit, rel_entr
from torch import nn

from heedful.errors import UserError
from heedful.models.trace import Trace, probabilities
from heedful.trials.compiled import compiled_pairs
from heedful.trials.weights import adversary as module
from heedful.trials.weights.adversary import exact_adversary
from heedful.trials.weights.ascent import ascent_adversary
from heedful.trials.weights.divergence import js_divergence, total_variation

ROUNDING = 1e-11


@pytest.fixture(params=["compiled", "enumerated"])
def way(request, monkeypatch):
    choose(monkeypatch, request.param)


def choose(monkeypatch, name):
    found = compiled_pairs(10**9) if name == "compiled" else None
    assert (found is not None) == (name == "compiled"), "the tests need numba"
    monkeypatch.setattr(module, "compiled_pairs", lambda pairs: found)


def of_scores(weights, scores, *, bias=0.0):
    """A trace of instances whose tokens say these scores (B,T), with one score for a head."""
    head = nn.Linear(1, 1, dtype=torch.float64)
    with torch.no_grad():
        head.weight.fill_(1.0)
        head.bias.fill_(bias)
    weights, scores = (torch.tensor(part, dtype=torch.float64) for part in (weights, scores))
    return Trace(weights, scores[..., None], torch.ones_like(weights, dtype=torch.bool), head)


def by_definition(a, b):
    """The mean of the two relative entropies from the distribution half-way."""
    middle = (a + b) / 2
    return (rel_entr(a, middle) + rel_entr(b, middle)).sum(-1) / 2


def output_change(trace, weights):
    with torch.no_grad():
        return total_variation(probabilities(trace.logits(weights)), probabilities(trace.logits()))


def feasible_draws(trace, row, epsilon, count):
    """An instance's own weights, and random ones that keep within ε of its output.

    Some are dense and some on few light tokens; each is moved toward a token as far as the score needs.
    """
    draw = np.random.default_rng(row)
    slots = trace.mask[row].nonzero()[:, 0]
    own = trace.weights[row, slots].numpy()
    says = trace.token_logits[row, slots].detach().numpy()
    bias = trace.linear.bias.detach().numpy()
    if says.shape[1] == 2:
        says, bias = says[:, 1:] - says[:, :1], bias[1:] - bias[:1]
    scores = says[:, 0] + bias
    before = expit(own @ scores)

    evenness = draw.choice([0.02, 0.1, 1.0], size=(count, 1))
    drawn = draw.standard_gamma(evenness, size=(count, len(own))) + 1e-300
    kept = draw.integers(1, len(own) + 1, size=(count, 1))
    light = np.argsort(np.argsort(own)) < kept
    drawn = np.where(light | (draw.random((count, 1)) < 0.3), drawn, 0.0)
    drawn /= drawn.sum(1, keepdims=True)

    # Into the band, at any height: to its very edges too, where the farthest ones are.
    allowed = epsilon * draw.choice([-1.0, 1.0, 0.0, 0.5], size=count)
    target = logit(np.clip(before + allowed, 1e-12, 1 - 1e-12))
    reached = drawn @ scores
    beyond = (scores >= target[:, None]) == (reached < target)[:, None]
    token = np.argmax(beyond * draw.random(beyond.shape), axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.nan_to_num((target - reached) / (scores[token] - reached), posinf=1.0, neginf=1.0)
    step = np.clip(step, 0, 1)
    moved = drawn * (1 - step[:, None])
    moved[np.arange(count), token] += step
    fine = np.abs(expit(moved @ scores) - before) <= epsilon + 1e-15
    return own, moved[fine]


def assert_no_draw_beats(trace, epsilon, draws):
    found = exact_adversary(trace, epsilon)
    seen, gaps = 0, []
    for row in range(len(trace)):
        own, others = feasible_draws(trace, row, epsilon, draws)
        seen += len(others)
        if len(others):
            farthest = js_divergence(torch.from_numpy(own), torch.from_numpy(others)).max()
            gaps.append(float(found.divergence[row] - farthest))
    assert min(gaps) >= -ROUNDING
    # The draws are no straw men: there are many, and they come near.
    assert seen > draws * len(trace) / 2
    assert np.median(gaps) < 0.01


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("classes", [1, 2])
@pytest.mark.parametrize("epsilon", [0.01, 0.2])
def test_no_random_feasible_distribution_is_farther(classes, epsilon):
    assert_no_draw_beats(make_trace(classes=classes), epsilon, draws=2_000)


@pytest.mark.slow
@pytest.mark.parametrize(("spread", "strength"), [(0.3, 1.0), (2.0, 1.0), (1.0, 0.1), (2.0, 4.0)])
def test_no_random_feasible_distribution_of_100_000_is_farther(spread, strength):
    trace = make_trace(instances=79, slots=23, spread=spread, strength=strength, seed=1)
    assert_no_draw_beats(trace, 0.01, draws=110_000)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("spread", [0.0, 0.1, 2.0, 9.0])
@pytest.mark.parametrize("strength", [0.01, 1.0, 8.0])
@pytest.mark.parametrize("epsilon", [0.0, 1e-4, 0.01, 0.3, 1.0])
def test_the_pruned_search_finds_what_enumeration_finds(monkeypatch, seed, spread, strength, epsilon):
    trace = make_trace(
        instances=23, slots=19, classes=1 + seed % 2, spread=spread, strength=strength, seed=seed
    )
    choose(monkeypatch, "compiled")
    pruned = exact_adversary(trace, epsilon)
    choose(monkeypatch, "enumerated")
    torch.testing.assert_close(
        pruned.divergence, exact_adversary(trace, epsilon).divergence, rtol=0, atol=2e-15
    )
    assert (pruned.change <= epsilon + ROUNDING).all()


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("classes", [1, 2])
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.3])
def test_what_it_says_of_its_weights_is_true(classes, epsilon):
    trace = make_trace(classes=classes)
    found = exact_adversary(trace, epsilon)
    assert ((found.weights > 0).sum(1) <= 2).all()
    assert (found.weights[~trace.mask] == 0).all()
    torch.testing.assert_close(found.weights.sum(1), torch.ones(17, dtype=torch.float64))
    torch.testing.assert_close(found.change, output_change(trace, found.weights), rtol=0, atol=ROUNDING)
    assert (found.change <= epsilon + ROUNDING).all()
    for own, other, divergence in zip(trace.weights, found.weights, found.divergence, strict=True):
        assert float(divergence) == pytest.approx(by_definition(own.numpy(), other.numpy()), abs=1e-12)
    for weights, tokens in zip(found.weights, found.tokens, strict=True):
        assert set(weights.nonzero()[:, 0].tolist()) == {token for token in tokens.tolist() if token >= 0}


@pytest.mark.usefixtures("way")
def test_the_ascent_is_never_farther():
    trace = make_trace(instances=29)
    exact, climbed = exact_adversary(trace, 0.05), ascent_adversary(trace, 0.05, steps=120, rate=0.1)
    assert (climbed.divergence <= exact.divergence + ROUNDING).all()
    assert float(climbed.divergence.mean()) > 0.1  # it does climb


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 1.0])
def test_a_text_of_one_token_cannot_be_attended_otherwise(epsilon):
    found = exact_adversary(of_scores([[1.0]], [[0.7]]), epsilon)
    assert found.weights.tolist() == [[1.0]]
    assert found.divergence.tolist() == [0.0]
    assert found.tokens.tolist() == [[0, -1]]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("score", [0.0, 0.1, -37.7])
@pytest.mark.parametrize("epsilon", [0.0, 0.01])
def test_with_equal_scores_all_weight_goes_to_the_least_attended_token(score, epsilon):
    found = exact_adversary(of_scores([[0.5, 0.1, 0.3, 0.1]], [[score] * 4], bias=0.3), epsilon)
    assert int(found.tokens[0, 0]) in (1, 3)
    assert found.weights.max() == 1
    assert float(found.change) <= ROUNDING


@pytest.mark.usefixtures("way")
def test_no_change_at_all_still_leaves_other_weights():
    trace = of_scores([[0.5, 0.25, 0.25, 0.0]], [[0.0, 2.0, -2.0, 1.0]])
    found = exact_adversary(trace, 0.0)
    # The score 0 is also that of the last two tokens, mixed two to one.
    torch.testing.assert_close(found.weights, torch.tensor([[0.0, 0.0, 1 / 3, 2 / 3]], dtype=torch.float64))
    assert float(found.change) < 1e-15


@pytest.mark.usefixtures("way")
def test_a_token_that_has_no_weight_and_says_the_same_is_as_far_as_can_be():
    found = exact_adversary(of_scores([[0.6, 0.4, 0.0]], [[1.0, 3.0, 1.8]]), 0.0)
    assert found.weights.tolist() == [[0.0, 0.0, 1.0]]
    assert float(found.divergence) == pytest.approx(math.log(2), abs=1e-15)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_side_that_cannot_be_reached_is_open(sign):
    # σ(6) = 0.9975 can rise by 0.0025 at most, so any higher score will do; a clamped band would shut it out.
    trace = of_scores([[0.98, 0.02, 0.0]], [[sign * 6.0, sign * 6.0, sign * 800.0]])
    found = exact_adversary(trace, 0.01)
    assert found.tokens.tolist() == [[2, -1]]
    assert float(found.change) <= 0.0025


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("score", [50.0, -50.0, 700.0])
def test_a_saturated_output_is_handled(score):
    trace = of_scores([[0.7, 0.2, 0.1]], [[score, score + 1, score - 1]])
    for epsilon in (0.0, 0.01):
        found = exact_adversary(trace, epsilon)
        assert found.divergence.isfinite().all()
        assert float(found.change) <= epsilon + ROUNDING


@pytest.mark.usefixtures("way")
def test_padding_and_company_change_nothing():
    trace = make_trace()
    found = exact_adversary(trace, 0.01)
    pad = nn.functional.pad
    wide = Trace(
        pad(trace.weights, (2, 3)),
        pad(trace.values, (0, 0, 2, 3), value=9.0),
        pad(trace.mask, (2, 3)),
        trace.head,
    )
    torch.testing.assert_close(exact_adversary(wide, 0.01).weights[:, 2:-3], found.weights)
    for row in range(len(trace)):
        alone = exact_adversary(trace.take(torch.tensor([row])), 0.01)
        torch.testing.assert_close(alone.divergence[0], found.divergence[row])


def test_single_precision_gives_nearly_the_same():
    double, single = make_trace(), make_trace(dtype=torch.float32)
    found = exact_adversary(single, 0.01)
    assert found.weights.dtype == torch.float32
    assert (output_change(single, found.weights) <= 0.01 + 1e-5).all()
    torch.testing.assert_close(found.divergence, exact_adversary(double, 0.01).divergence, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    "trace",
    [make_trace(classes=3), make_trace(head=lambda attended: attended[:, :2].tanh())],
    ids=["3", "tanh"],
)
def test_other_heads_are_sent_to_the_ascent(trace):
    with pytest.raises(UserError, match="ascent_adversary"):
        exact_adversary(trace, 0.01)


@pytest.mark.parametrize("epsilon", [-0.1, 1.5, math.nan])
def test_an_epsilon_that_is_no_change_of_a_probability_is_refused(epsilon):
    with pytest.raises(UserError, match="epsilon"):
        exact_adversary(make_trace(), epsilon)


def test_findings_say_that_they_are_exact():
    overall, *rest = exact_adversary(make_trace(), 0.01).findings(classes=["no", "yes"])
    assert (overall.kind, overall.count, overall.unit) == ("exact", 17, "nats")
    assert {"predicted", "largest_weight"} == {key for finding in rest for key in finding.coordinates}


def test_divergences_are_what_their_definition_says():
    draw = torch.Generator().manual_seed(0)
    a, b = (torch.rand(2, 19, 7, generator=draw, dtype=torch.float64) ** 3).unbind()
    a[0], b[0] = torch.tensor([1.0, 0, 0, 0, 0, 0, 0]), torch.tensor([0, 1.0, 0, 0, 0, 0, 0])
    a, b = a / a.sum(1, keepdim=True), b / b.sum(1, keepdim=True)
    found = js_divergence(a, b)
    np.testing.assert_allclose(found, by_definition(a.numpy(), b.numpy()), atol=1e-14)
    assert float(found[0]) == math.log(2)
    assert (js_divergence(a, a) < 1e-15).all()
    mask = torch.ones_like(a, dtype=torch.bool)
    wide = [
        nn.functional.pad(part, (0, 2), value=value) for part, value in ((a, 5.0), (b, 3.0), (mask, False))
    ]
    torch.testing.assert_close(js_divergence(*wide), found, rtol=0, atol=1e-15)


def test_a_divergence_can_be_differentiated_where_weights_are_0():
    a = torch.tensor([0.5, 0.5, 0.0, 0.0], dtype=torch.float64)
    b = torch.tensor([0.5, 0.0, 0.5, 0.0], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(js_divergence(a, b), b)
    assert slope.isfinite().all()
    assert slope[0] == pytest.approx(0.0, abs=1e-15)
    assert float(slope[2]) == pytest.approx(math.log(2) / 2)


def test_a_bound_may_be_a_tensor_of_one_number():
    trace = make_trace()
    found = exact_adversary(trace, torch.tensor(0.25))
    assert found.epsilon == 0.25
    assert isinstance(found.epsilon, float)
    assert found.weights.equal(exact_adversary(trace, 0.25).weights)
    with pytest.raises(UserError, match="epsilon"):
        exact_adversary(trace, torch.tensor([0.1, 0.2]))
