import itertools

import pytest
import torch
from debate_traces import make_trace
from torch import nn

from heedful.errors import UserError
from heedful.models.trace import Trace, probabilities
from heedful.trials.weights.divergence import total_variation
from heedful.trials.weights.moved import dealt_weights, permute_weights


def through_head(trace):
    """The same trace with its linear head hidden in a function, so that no closed form applies."""
    return Trace(trace.weights, trace.values, trace.mask, lambda attended: trace.head(attended))


def test_permuted_weights_are_the_same_weights_on_the_same_real_slots():
    trace = make_trace()
    permuted = dealt_weights(trace, 7, seed=1)
    assert permuted.shape == (7, 17, 13)
    assert (permuted.masked_select(~trace.mask) == 0).all()
    assert torch.equal(permuted.sort(-1).values, trace.weights.sort(-1).values.expand(7, -1, -1))


def test_every_permutation_is_equally_likely():
    weights = torch.tensor([[0.5, 0.0, 0.3, 0.2]])
    mask = torch.tensor([[True, False, True, True]])
    trace = Trace(weights, torch.zeros(1, 4, 2), mask, nn.Linear(2, 2))
    permuted = dealt_weights(trace, 6000)[:, 0, [0, 2, 3]]
    counts = [
        int((permuted == torch.tensor(order)).all(1).sum())
        for order in itertools.permutations([0.5, 0.3, 0.2])
    ]
    assert sum(counts) == 6000
    assert all(abs(count - 1000) < 150 for count in counts)  # five standard deviations


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_one_product_gives_what_the_head_gives(classes):
    trace = make_trace(classes=classes)
    linear, general = (
        permute_weights(trace, permutations=11),
        permute_weights(through_head(trace), permutations=11),
    )
    torch.testing.assert_close(linear.change, general.change, equal_nan=True, rtol=0, atol=1e-12)


def test_the_median_is_over_the_outputs_of_each_permutation():
    trace = make_trace(instances=5)
    result = permute_weights(trace, permutations=7, seed=2)
    before = probabilities(trace.logits())
    for b in range(1, 5):
        changes = [
            total_variation(probabilities(trace.logits(weights))[b], before[b]).item()
            for weights in dealt_weights(trace, 7, seed=2)
        ]
        assert float(result.change[b]) == pytest.approx(sorted(changes)[3], abs=1e-12)


def test_results_do_not_depend_on_padding_batches_or_budget():
    trace = make_trace()
    whole = permute_weights(trace, permutations=5, seed=3)
    pad = nn.functional.pad
    wide = Trace(
        pad(trace.weights, (0, 3)), pad(trace.values, (0, 0, 0, 3)), pad(trace.mask, (0, 3)), trace.head
    )
    for other in (
        permute_weights(wide, permutations=5, seed=3),
        permute_weights(trace, permutations=5, seed=3, budget=1),
    ):
        torch.testing.assert_close(other.change, whole.change, equal_nan=True, rtol=0, atol=1e-12)
    later = permute_weights(trace.take(torch.arange(7, 17)).numbered(7), permutations=5, seed=3)
    torch.testing.assert_close(later.change, whole.change[7:], equal_nan=True, rtol=0, atol=1e-12)
    assert not torch.equal(permute_weights(trace, permutations=5, seed=4).change[2:], whole.change[2:])


def test_a_single_token_has_nothing_to_permute_and_is_left_out():
    result = permute_weights(make_trace(), permutations=3)
    alone = make_trace().mask.sum(1) == 1
    assert alone.any()
    assert torch.equal(result.change.isnan(), alone)
    assert result.findings()[0].count == int((~alone).sum())


def test_uniform_weights_change_nothing():
    change = permute_weights(make_trace(spread=0.0), permutations=5).change
    assert (change[~change.isnan()] < 1e-12).all()


def test_each_row_of_a_trace_with_several_is_permuted_by_itself():
    one = make_trace(instances=7, width=3)
    weights = torch.stack([one.weights, one.weights.flip(1)], 1)
    values, mask = torch.stack([one.values] * 2, 1), torch.stack([one.mask, one.mask.flip(1)], 1)
    trace = Trace(weights, values, mask, lambda attended: attended.sum(1))
    permuted = dealt_weights(trace, 5)
    assert torch.equal(permuted.sort(-1).values, weights.sort(-1).values.expand(5, -1, -1, -1))
    assert not torch.equal(permuted[:, 2, 0].sort(-1).indices, permuted[:, 2, 1].flip(-1).sort(-1).indices)
    assert permute_weights(trace, permutations=5).change.shape == (7,)


def test_dropout_in_the_head_is_refused():
    head = nn.Sequential(nn.Dropout(0.5), nn.Linear(5, 2, dtype=torch.float64))
    with pytest.raises(UserError, match="dropout"):
        permute_weights(make_trace(head=head))
