import pytest
import torch
from debate_traces import make_trace
from torch import nn

from heedful.errors import UserError
from heedful.models.trace import Trace, probabilities
from heedful.trials.rankings.layer_rankings import random_weights, shuffle_weights
from heedful.trials.weights import ascent as module
from heedful.trials.weights import moved
from heedful.trials.weights.ascent import ascent_adversary
from heedful.trials.weights.divergence import js_divergence, total_variation

QUICK = {"steps": 40, "rate": 0.2}


def nonlinear(classes=3, width=5):
    draw = torch.Generator().manual_seed(3)
    matrix = torch.randn(width, classes, generator=draw, dtype=torch.float64)
    return lambda attended: (2 * attended).tanh() @ matrix


def through_head(trace):
    return Trace(trace.weights, trace.values, trace.mask, lambda attended: trace.head(attended))


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_token_logits_and_the_head_climb_alike(classes):
    trace = make_trace(classes=classes)
    linear, general = (
        ascent_adversary(trace, 0.05, **QUICK),
        ascent_adversary(through_head(trace), 0.05, **QUICK),
    )
    torch.testing.assert_close(linear.divergence, general.divergence, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "trace", [make_trace(classes=3), make_trace(head=nonlinear())], ids=["linear", "other"]
)
def test_what_it_says_of_its_weights_is_true(trace):
    found = ascent_adversary(trace, 0.05, **QUICK)
    assert found.kind == "lower bound"
    assert found.tokens is None
    assert (found.weights[~trace.mask] == 0).all()
    torch.testing.assert_close(found.weights.sum(1), torch.ones(17, dtype=torch.float64))
    torch.testing.assert_close(
        found.divergence, js_divergence(trace.weights, found.weights), rtol=0, atol=1e-12
    )
    with torch.no_grad():
        change = total_variation(probabilities(trace.logits(found.weights)), probabilities(trace.logits()))
    torch.testing.assert_close(found.change, change, rtol=0, atol=1e-12)
    assert (change <= 0.05 + 1e-12).all()
    assert float(found.divergence.mean()) > 0.1


def test_climbing_longer_and_from_more_starts_finds_no_less():
    trace = make_trace(head=nonlinear())
    short = ascent_adversary(trace, 0.05, restarts=2, steps=10, rate=0.1)
    long = ascent_adversary(trace, 0.05, restarts=2, steps=60, rate=0.1)
    assert (long.divergence >= short.divergence).all()
    assert float((long.divergence - short.divergence).mean()) > 0.01


def test_where_nothing_is_feasible_the_own_weights_are_given():
    trace = make_trace()
    found = ascent_adversary(trace, 0.0, **QUICK)
    stuck = found.divergence == 0
    assert stuck.any()
    assert torch.equal(found.weights[stuck], trace.weights[stuck])
    assert (found.change == 0).all()


def test_results_do_not_depend_on_padding_or_batches(monkeypatch):
    trace = make_trace()
    whole = ascent_adversary(trace, 0.05, seed=1, **QUICK)
    pad = nn.functional.pad
    wide = Trace(
        pad(trace.weights, (0, 3)), pad(trace.values, (0, 0, 0, 3)), pad(trace.mask, (0, 3)), trace.head
    )
    later = ascent_adversary(trace.take(torch.arange(7, 17)).numbered(7), 0.05, seed=1, **QUICK)
    torch.testing.assert_close(ascent_adversary(wide, 0.05, seed=1, **QUICK).divergence, whole.divergence)
    torch.testing.assert_close(later.divergence, whole.divergence[7:])
    monkeypatch.setattr(module, "AT_ONCE", 1)
    torch.testing.assert_close(ascent_adversary(trace, 0.05, seed=1, **QUICK).divergence, whole.divergence)
    assert not torch.equal(ascent_adversary(trace, 0.05, seed=2, **QUICK).divergence, whole.divergence)


def test_several_rows_of_weights_climb_together():
    one = make_trace(instances=7)
    weights, values = torch.stack([one.weights, one.weights.flip(1)], 1), torch.stack([one.values] * 2, 1)
    mask = torch.stack([one.mask, one.mask.flip(1)], 1)
    weights[3, 1], mask[3, 1] = 0.0, False  # a row without tokens
    head = nonlinear()
    trace = Trace(weights, values, mask, lambda attended: head(attended.mean(1)))
    found = ascent_adversary(trace, 0.05, **QUICK)
    assert found.weights.shape == (7, 2, 13)
    assert (found.weights[~mask] == 0).all()
    each = js_divergence(weights, found.weights)
    assert float(found.divergence[3]) == pytest.approx(float(each[3, 0]))
    assert float(found.divergence[2]) == pytest.approx(float(each[2].mean()))


def test_the_models_parameters_gather_no_gradient():
    trace = make_trace(classes=3)
    hidden = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3)).double()
    for other in (trace, Trace(trace.weights, trace.values.clone().requires_grad_(), trace.mask, hidden)):
        found = ascent_adversary(other, 0.05, steps=3)
        assert all(parameter.grad is None for parameter in other.head.parameters())
        assert other.values.grad is None
        assert not found.weights.requires_grad


def test_weights_of_0_are_climbed_from_without_a_nan():
    trace = make_trace(spread=300.0)
    assert (trace.weights[trace.mask] == 0).any()
    found = ascent_adversary(trace, 0.05, **QUICK)
    assert found.divergence.isfinite().all()
    assert found.weights.isfinite().all()


def test_findings_say_that_they_are_a_lower_bound():
    finding = ascent_adversary(make_trace(classes=3), 0.05, steps=3).findings()[0]
    assert finding.kind == "lower bound"
    assert str(finding).startswith("≥ ")


@pytest.mark.parametrize("settings", [{"restarts": 0}, {"steps": 0}])
def test_no_start_and_no_step_are_refused(settings):
    with pytest.raises(UserError, match="at least one"):
        ascent_adversary(make_trace(), 0.05, **settings)


def test_the_weights_and_those_dealt_anew_climb_together_as_each_does_alone(monkeypatch):
    trace = make_trace(head=nonlinear()).numbered(5)
    climbs = []

    def climb(*given, **settings):
        climbs.append(len(given[0]))
        return ascent_adversary(*given, **settings)

    monkeypatch.setattr(moved, "ascent_adversary", climb)
    found = moved.farthest_weights(trace, epsilon=0.05, seed=3, nulls=True, **QUICK)
    assert climbs == [3 * len(trace)]
    for name, deal in (("", None), ("_shuffled", shuffle_weights), ("_random", random_weights)):
        of = trace if deal is None else deal(trace, seed=3)
        alone = ascent_adversary(of, 0.05, seed=3, restarts=5, **QUICK)
        several = alone.divergence.where(trace.item_counts > 1, torch.nan)
        torch.testing.assert_close(torch.tensor(found[f"divergence{name}"]), several, equal_nan=True)
