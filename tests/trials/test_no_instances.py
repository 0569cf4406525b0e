"""A trace without instances, as the last batch of a filter may be: every trial gives an empty result."""

import pytest
import torch
from erasure_traces import random_trace, stacked, through_the_head

from heedful import trials
from heedful.trials.agreement.correlations import agreement

NOBODY = torch.zeros(0, dtype=torch.long)
LINEAR = random_trace(classes=2).take(NOBODY)
ALL = {"linear": LINEAR, "function": through_the_head(LINEAR), "rows": stacked(random_trace()).take(NOBODY)}


@pytest.mark.parametrize("trace", ALL.values(), ids=ALL)
def test_trials_of_any_head_give_nothing_for_nobody(trace):
    order = trials.order_of("attention", trace)
    assert len(trials.flip_sizes(trace, order)) == 0
    for found in (trials.smallest_flips(trace), trials.beam_flips(trace), trials.small_shifts(trace, 0.1)):
        assert len(found) == len(found.items) == len(found.to_class) == len(found.to_frame()) == 0
    assert trials.leave_one_out(trace).shape[0] == len(trials.decided(trace)) == 0
    assert trials.permute_weights(trace).change.shape == (0,)
    assert trials.ascent_adversary(trace, 0.1, steps=2).weights.shape == trace.weights.shape
    assert len(trials.erase(trace).to_frame()) == len(trials.single_erasures(trace).to_frame()) == 0


def test_exact_trials_give_nothing_for_nobody():
    assert len(trials.smallest_overtakes(LINEAR, 1)) == len(trials.smallest_overtakes(LINEAR, NOBODY)) == 0
    adversary = trials.exact_adversary(LINEAR, 0.1)
    assert adversary.weights.shape == LINEAR.weights.shape
    assert adversary.findings() == []
    assert len(trials.near_ties(LINEAR, trials.order_of("attention", LINEAR))) == 0
    found = agreement(LINEAR.weights, LINEAR.weights, LINEAR.mask)
    assert found.tau.shape == (0,)
    assert found.findings() == []
