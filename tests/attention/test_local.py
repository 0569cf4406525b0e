"""Local attention: a window that moves on, and one that is sent somewhere.

Sizes are different primes: B 3, T 7, H 5, Q 2, C 5, values 17. The rows hold 7, 4 and 0 tokens.
"""

import math
import re
from functools import partial

import pytest
import torch
from torch import Generator, tensor
from torch.export import Dim, export

from heedful.attention import (
    AdditiveScore,
    DotScore,
    LocalMonotonic,
    LocalPredictive,
    centred_window,
    gaussian,
    masked_softmax,
    normal_init,
    predicted_centres,
)
from heedful.errors import UserError

B, T, H, Q, W = 3, 7, 5, 2, 17
LENGTHS = (7, 4, 0)
MASK = torch.arange(T) < tensor(LENGTHS)[:, None]
EDGE = math.exp(-2)  # the Gaussian 2σ from its centre


def monotonic():
    return LocalMonotonic(DotScore(H, query=H), reach=1)


def predictive():
    init = partial(normal_init, generator=Generator().manual_seed(1))
    score = AdditiveScore(H, query=H, width=11, init=init)
    return LocalPredictive(score, query=H, reach=2, width=13, init=init)


def inputs(queries=(Q,)):
    draw = Generator().manual_seed(0)
    return (
        torch.randn(B, T, H, generator=draw),
        torch.randn(B, *queries, H, generator=draw),
        torch.randn(B, T, W, generator=draw),
    )


every = pytest.mark.parametrize("build", [monotonic, predictive])
one_or_several = pytest.mark.parametrize("queries", [(), (Q,)], ids=["query", "queries"])


def test_a_window_holds_the_real_tokens_within_reach():
    window = centred_window(tensor([2.0, 3.6, 1.0]), MASK, reach=1)
    assert window.long().tolist() == [[1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0], [0] * 7]
    several = centred_window(tensor([[1.0, 7.0], [1.0, 4.0], [1.0, 2.0]]), MASK, reach=1)
    assert several[0].long().tolist() == [[1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1, 1]]


def test_the_gaussian_is_one_at_its_centre_and_falls_with_the_distance():
    bell = gaussian(tensor([2.0]), 4, deviation=1.0)
    expected = [math.exp(-0.5), 1, math.exp(-0.5), math.exp(-2)]
    assert bell.tolist() == [pytest.approx(expected)]


def test_a_predicted_centre_is_a_share_of_the_length():
    query = tensor([[[1.0], [0.0]], [[-1.0], [2.0]]])  # (2, 2, 1)
    centres = predicted_centres(
        query, tensor([10.0, 4.0]), projection=tensor([[1.0]]), direction=tensor([3.0])
    )

    def share(value):
        return 1 / (1 + math.exp(-3 * math.tanh(value)))

    assert centres.tolist() == [
        pytest.approx([10 * share(1), 5]),
        pytest.approx([4 * share(-1), 4 * share(2)]),
    ]


def test_the_monotonic_window_moves_one_slot_a_step_and_stops_at_the_end():
    module, (states, queries, _) = monotonic(), inputs(queries=(T,))
    weights = module(states, MASK, query=queries).weights
    reads = [[place + 1 for place in range(T) if row[place] > 0] for row in weights[0]]
    assert reads == [[1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6], [5, 6, 7], [6, 7]]
    shorter = [[place + 1 for place in range(T) if row[place] > 0] for row in weights[1]]
    assert shorter[3:] == [[3, 4]] * 4


@every
def test_later_steps_go_on_where_the_first_ended(build):
    module, (states, queries, _) = build(), inputs(queries=(T,))
    together = module(states, MASK, query=queries).weights
    for step in range(T):
        more = {"first": step + 1} if isinstance(module, LocalMonotonic) else {}
        one = module(states, MASK, query=queries[:, step], **more)
        torch.testing.assert_close(one.weights, together[:, step])


def test_monotonic_weights_are_the_softmax_within_the_window():
    module, (states, queries, values) = monotonic(), inputs()
    attended = module(states, MASK, query=queries, values=values)
    window = centred_window(module.centres(queries, MASK), MASK, reach=1)
    scores = queries @ states.mT
    torch.testing.assert_close(attended.weights, masked_softmax(scores, window))
    torch.testing.assert_close(attended.context, attended.weights @ values)
    torch.testing.assert_close(attended.weights.sum(-1), MASK.any(-1).float()[:, None].expand(B, Q))


def test_predictive_weights_are_the_softmax_within_the_window_times_the_gaussian():
    module, (states, queries, values) = predictive(), inputs()
    attended = module(states, MASK, query=queries, values=values)
    centres = module.centres(queries, MASK)
    window = centred_window(centres, MASK, reach=2)
    expected = masked_softmax(module.score(states, queries), window) * gaussian(centres, T, deviation=1.0)
    torch.testing.assert_close(attended.weights, expected)
    torch.testing.assert_close(attended.context, attended.weights @ values)


@pytest.mark.parametrize("seed", range(20))
def test_predictive_weights_sum_to_at_most_one_and_at_least_the_edge_of_the_gaussian(seed):
    draw = Generator().manual_seed(seed)
    module = predictive()
    states, queries = torch.randn(B, T, H, generator=draw), 9 * torch.randn(B, Q, H, generator=draw)
    totals = module(states, MASK, query=queries).weights.sum(-1)
    assert (totals[:2] <= 1).all()
    assert (totals[:2] >= EDGE * (1 - 1e-6)).all()
    assert (totals[2] == 0).all()


def test_the_centre_learns_through_the_gaussian():
    module, (states, queries, values) = predictive(), inputs()
    module(states, MASK, query=queries, values=values).context.square().sum().backward()
    assert module.direction.grad.abs().sum() > 0
    assert module.projection.grad.abs().sum() > 0


@pytest.mark.parametrize(("dtype", "step"), [(torch.bfloat16, 301), (torch.half, 2501)], ids=str)
def test_centres_are_counted_exactly_whatever_the_query_is(dtype, step):
    # bfloat16 has no number between 300 and 302, half none between 2500 and 2502.
    mask, query = torch.ones(1, step + 2, dtype=torch.bool), torch.zeros(1, H, dtype=dtype)
    assert monotonic().centres(query, mask, first=step).tolist() == [step]
    assert monotonic().centres(query[:, None], mask, first=step).tolist() == [[step]]
    middle = predictive().to(dtype).centres(query, mask)  # where a query of zeros looks
    assert middle.tolist() == [(step + 2) / 2]


def test_a_coarse_query_reads_the_slots_of_its_step_and_the_weights_are_of_its_dtype():
    last, dtype = 311, torch.bfloat16
    mask = torch.ones(1, last, dtype=torch.bool)
    states, query = torch.zeros(1, last, H, dtype=dtype), torch.zeros(1, H, dtype=dtype)
    weights = monotonic().to(dtype)(states, mask, query=query, first=301).weights
    assert (weights[0].nonzero().squeeze(-1) + 1).tolist() == [300, 301, 302]
    module = LocalPredictive(DotScore(H, query=H), query=H, reach=2).to(dtype)
    attended = module(states, mask, query=query)
    assert attended.weights.dtype == attended.context.dtype == weights.dtype == dtype
    bell = gaussian(tensor([last / 2]), last, deviation=1.0)
    near = centred_window(tensor([last / 2]), mask, reach=2)
    torch.testing.assert_close(attended.weights, (bell * near / near.sum()).to(dtype))


def test_windows_and_bells_around_coarse_centres_are_of_exact_slots():
    centre = tensor([300.0], dtype=torch.bfloat16)
    mask = torch.ones(1, 311, dtype=torch.bool)
    assert centred_window(centre, mask, reach=1).nonzero()[:, 1].tolist() == [298, 299, 300]
    torch.testing.assert_close(gaussian(centre, 311, deviation=1.0)[0, 300].item(), math.exp(-0.5))


@every
@one_or_several
def test_masked_tokens_get_exactly_zero_and_what_they_hold_changes_nothing(build, queries):
    module, (states, query, values) = build(), inputs(queries)
    before = module(states, MASK, query=query, values=values)
    real = MASK[:, None].expand_as(before.weights) if queries else MASK
    assert (before.weights[~real] == 0).all()
    assert (before.context[2] == 0).all()
    states[~MASK], values[~MASK] = 1e4, -1e4
    after = module(states, MASK, query=query, values=values)
    torch.testing.assert_close(after.weights, before.weights)
    torch.testing.assert_close(after.context, before.context)


@every
@one_or_several
def test_an_instance_alone_and_unpadded_equals_itself_in_company(build, queries):
    module, (states, query, values) = build(), inputs(queries)
    together = module(states, MASK, query=query, values=values)
    alone = module(states[1:2, :4], MASK[1:2, :4], query=query[1:2], values=values[1:2, :4])
    torch.testing.assert_close(alone.weights[0], together.weights[1, ..., :4])
    torch.testing.assert_close(alone.context[0], together.context[1])


@every
@pytest.mark.parametrize("size", [1e4, 1e30])
def test_extreme_scores_give_finite_weights_and_gradients(build, size):
    module, (states, query, values) = build(), inputs()
    module.score.scale = 1 / size
    states.requires_grad_()
    attended = module(states, MASK, query=query, values=values)
    assert attended.scores[0].abs().max() > size / 100
    (attended.context.square().sum() + attended.weights.square().sum()).backward()
    assert attended.weights.isfinite().all()
    for tensor_ in (states, *module.parameters()):
        assert tensor_.grad.isfinite().all()


def test_an_extreme_query_sends_the_window_to_an_end_and_stays_finite():
    module, (states, query, _) = predictive(), inputs()
    for size in (1e6, -1e6):
        sent = (size * query).requires_grad_()
        attended = module(states, MASK, query=sent)
        attended.context.square().sum().backward()
        assert attended.weights.isfinite().all()
        assert sent.grad.isfinite().all()


def test_gradients_agree_with_finite_differences():
    module = predictive().double()
    states, query, values = (part.double().requires_grad_() for part in inputs())
    assert torch.autograd.gradcheck(
        lambda *given: module(given[0], MASK, query=given[1], values=given[2]).context,
        (states, query, values),
        fast_mode=True,
    )


@every
def test_export_with_free_batch_length_and_queries_changes_no_result(build):
    module, (states, query, values) = build(), inputs()
    batch, tokens, rows = Dim("batch"), Dim("tokens"), Dim("rows")
    shapes = {
        "states": {0: batch, 1: tokens},
        "mask": {0: batch, 1: tokens},
        "query": {0: batch, 1: rows},
        "values": {0: batch, 1: tokens},
    }
    keywords = {"query": query, "values": values}
    program = export(module, (states, MASK), keywords, dynamic_shapes=shapes).module()
    draw = Generator().manual_seed(4)
    for lengths, steps in (((11, 2, 0, 5), 3), ((2, 2), 5)):
        mask = torch.arange(max(lengths)) < tensor(lengths)[:, None]
        states = torch.randn(*mask.shape, H, generator=draw)
        queries = torch.randn(len(lengths), steps, H, generator=draw)
        values = torch.randn(*mask.shape, W, generator=draw)
        ours = module(states, mask, query=queries, values=values)
        theirs = program(states, mask, query=queries, values=values)
        for part in ("context", "weights", "scores"):
            torch.testing.assert_close(getattr(theirs, part), getattr(ours, part), atol=0, rtol=0)


STATES, QUERY = torch.ones(B, T, H), torch.ones(B, Q, H)
WRONG = {
    "reach of nothing": (
        lambda: LocalMonotonic(DotScore(H, query=H), reach=0),
        "LocalMonotonic needs a reach of at least 1 slot, but 0 came",
    ),
    "mask of another length": (
        lambda: monotonic()(STATES, MASK[:, :3], query=QUERY),
        "LocalMonotonic needs a mask of shape (3, 7), but (3, 3) came",
    ),
    "mask of numbers": (
        lambda: predictive()(STATES, MASK.long(), query=QUERY),
        "needs a boolean mask, true on real tokens, but torch.int64 came",
    ),
    "query of another width": (
        lambda: predictive()(STATES, MASK, query=torch.ones(B, 11)),
        "LocalPredictive needs a query of shape (3, 5), but (3, 11) came",
    ),
    "query of another batch": (
        lambda: monotonic()(STATES, MASK, query=torch.ones(2, H)),
        "DotScore needs a query of shape (3, 5), but (2, 5) came",
    ),
    "values of another length": (
        lambda: predictive()(STATES, MASK, query=QUERY, values=torch.ones(B, 2, W)),
        "LocalPredictive needs values of shape (3, 7, ·), but (3, 2, 17) came",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_says_what_was_needed_what_came_and_where(name):
    call, sentence = WRONG[name]
    with pytest.raises(UserError, match=re.escape(sentence)):
        call()
