"""Traces that would give numbers as if they were real: refused when they are made, or before a trial."""

import pytest
import torch
from torch import nn

from heedful.errors import UserError
from heedful.models.trace import MOST_SPARE, Trace
from heedful.trials import flip_sizes, leave_one_out, smallest_flips

B, T, H = 2, 5, 3


def parts(slots=T):
    torch.manual_seed(1)
    weights = torch.rand(B, slots).softmax(-1)
    return {
        "weights": weights,
        "values": torch.randn(B, slots, H),
        "mask": torch.ones(B, slots, dtype=torch.bool),
    }


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("where", ["weight", "bias"])
def test_a_linear_head_that_is_not_finite_is_refused(where, value):
    head = nn.Linear(H, 2)
    with torch.no_grad():
        getattr(head, where).view(-1)[0] = value
    with pytest.raises(UserError, match="head of this trace has a weight or bias that is NaN or infinite"):
        Trace(**parts(), head=head)


def test_any_other_head_that_is_not_finite_is_refused_before_a_trial():
    head = nn.Sequential(nn.Linear(H, 7), nn.Tanh(), nn.Linear(7, 2)).eval()
    with torch.no_grad():
        head[2].bias[1] = float("nan")
    trace = Trace(**parts(), head=head)
    for trial in (
        lambda: flip_sizes(trace, trace.weights.argsort(descending=True)),
        lambda: smallest_flips(trace),
    ):
        with pytest.raises(UserError, match="logits that are NaN or infinite for row 0"):
            trial()


@pytest.mark.parametrize("largest", [MOST_SPARE, 10**9, 10**12])
def test_items_with_absurd_numbers_are_refused(largest):
    items = torch.arange(T).repeat(B, 1)
    items[1, 2] = largest
    with pytest.raises(UserError, match=f"has the number {largest:,}: number them again"):
        Trace(**parts(), items=items, head=nn.Linear(H, 2))
    items[1, 2] = MOST_SPARE - 1
    assert len(Trace(**parts(), items=items, head=nn.Linear(H, 2))) == B


def test_a_search_that_would_take_minutes_is_refused_at_once():
    head = nn.Sequential(nn.Linear(H, 7), nn.Tanh(), nn.Linear(7, 2)).eval()
    with pytest.raises(UserError, match=r"20,000 items would take minutes .* width of at most 1, or"):
        smallest_flips(Trace(**parts(20_000), head=head))


def test_running_a_head_for_each_of_very_many_items_is_refused_at_once():
    head = nn.Sequential(nn.Linear(H, 7), nn.Tanh(), nn.Linear(7, 2)).eval()

    trace = Trace(**parts(50_000), head=head)
    for trial in (
        lambda: flip_sizes(trace, trace.weights.argsort(descending=True)),
        lambda: leave_one_out(trace),
    ):
        with pytest.raises(UserError, match=r"for each of 50,000 items, which would take minutes"):
            trial()
    assert len(leave_one_out(Trace(**parts(50_000), head=nn.Linear(H, 2)))) == B  # by its closed form
