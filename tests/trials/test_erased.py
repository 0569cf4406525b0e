"""Logits of erasures, in closed form and through the head; and traces that are refused."""

import pytest
import torch
from erasure_traces import linear, random_trace, stacked, through_the_head

from heedful.errors import UserError
from heedful.models.trace import Trace, decisions
from heedful.trials import compiled, decided, leave_one_out, logits_without, whole_logits


def two_sided(logits):
    return torch.cat([torch.zeros_like(logits), logits], -1) if logits.shape[-1] == 1 else logits


@pytest.mark.parametrize("classes", [1, 2, 5])
@pytest.mark.parametrize("items", ["slots", "words", "kept"])
def test_the_logits_of_any_erasure_are_those_of_the_head(classes, items):
    trace = random_trace(classes=classes, items=items)
    g = torch.Generator().manual_seed(1)
    erased = torch.rand(7, *trace.present.shape, generator=g) < torch.rand(7, 1, 1, generator=g)
    erased[0], erased[1] = True, False
    expected = torch.stack([two_sided(trace.logits(trace.erase(variant))) for variant in erased])
    assert torch.allclose(logits_without(trace, erased), expected)
    assert torch.allclose(logits_without(through_the_head(trace), erased, budget=1), expected)
    assert torch.allclose(whole_logits(trace), two_sided(trace.logits()))
    assert torch.equal(decided(trace), decisions(trace.logits()))
    assert torch.equal(decided(through_the_head(trace)), decisions(trace.logits()))


@pytest.mark.parametrize("items", ["slots", "words", "kept"])
def test_leave_one_out_is_each_single_erasure(items):
    trace = random_trace(items=items, longest=7)
    gone = torch.rand(trace.present.shape, generator=torch.Generator().manual_seed(2)) < 0.3
    for before in (None, gone):
        already = torch.zeros_like(gone) if before is None else before
        one = torch.eye(trace.present.shape[1], dtype=torch.bool)[:, None] | already
        expected = logits_without(trace, one).transpose(0, 1)
        assert torch.allclose(leave_one_out(trace, erased=before), expected)
        assert torch.allclose(leave_one_out(through_the_head(trace), erased=before, budget=2000), expected)
    several = stacked(trace)
    assert leave_one_out(several).shape == (len(trace), several.present.shape[1], 3)


def test_the_compiled_loop_leaves_out_what_the_arrays_leave_out(monkeypatch):
    pytest.importorskip("numba")
    for trace in (random_trace(classes=1), random_trace(classes=5, dtype=torch.float32)):
        monkeypatch.setattr(compiled, "LEAST", float("inf"))
        expected = leave_one_out(trace)
        monkeypatch.setattr(compiled, "LEAST", 0)
        assert torch.equal(leave_one_out(trace), expected)


@pytest.mark.parametrize("least", [0, float("inf")])
def test_leave_one_out_keeps_its_digits_where_one_item_has_nearly_all_attention(least, monkeypatch):
    monkeypatch.setattr(compiled, "LEAST", least)
    # The other two have 1e-13 of the weight: subtracting the first from the total would leave three digits.
    tiny = 1e-13
    weights = torch.tensor([[1 - 2 * tiny, tiny, tiny]]).double()
    values = torch.tensor([[[5.0, 1.0], [1.0, 0.0], [0.0, 3.0]]]).double()
    trace = Trace(weights, values, weights > 0, linear(torch.eye(2).double()))
    assert leave_one_out(trace)[0, 0].tolist() == pytest.approx([0.5, 1.5], rel=1e-12)


def values_of(trace):
    return {"weights": trace.weights.clone(), "values": trace.values, "mask": trace.mask.clone()}


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda w, m: w[3].mul_(0.9), "Row 3 .* do not sum to 1"),
        (lambda w, m: w[3, 0].fill_(torch.nan), "Row 3 .* NaN"),
        (lambda w, m: w[3, 0].fill_(-0.25), "Row 3 .* negative"),
        (lambda w, m: (w[3].zero_(), m[3].fill_(False)), "Row 3 .* no token"),
    ],
)
def test_a_trace_with_bad_weights_is_refused_naming_the_row(spoil, fault):
    trace = random_trace()
    parts = values_of(trace)
    spoil(parts["weights"], parts["mask"])
    with pytest.raises(UserError, match=fault):
        Trace(**parts, head=trace.head)
