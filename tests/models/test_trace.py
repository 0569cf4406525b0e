"""What a trace promises: a check on what comes in, and erasure that renormalises."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from heedful.errors import UserError
from heedful.models import Trace, decisions, probabilities

B, T, H, K, R = 5, 7, 3, 11, 2


def random_trace(seed: int = 0, dtype: torch.dtype = torch.float64, classes: int = K) -> Trace:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.tensor([7, 5, 3, 2, 1])
    mask = torch.arange(T) < lengths[:, None]
    scores = torch.randn(B, T, generator=generator, dtype=torch.float64)
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1).to(dtype)
    values = torch.randn(B, T, H, generator=generator, dtype=torch.float64).to(dtype)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        head = nn.Linear(H, classes, dtype=dtype)
    return Trace(weights, values, mask, head.requires_grad_(False))


class Heads(nn.Module):
    """A head over R attention heads and a residual: not linear."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(R * H, H, dtype=torch.float64)
        self.out = nn.Linear(H, K, dtype=torch.float64)

    def forward(self, attended: Tensor, state: Tensor) -> Tensor:
        return self.out((self.mix(attended.flatten(1)) + state).tanh())


def multi_head_trace(seed: int = 0) -> Trace:
    """Two heads over seven sub-words of four words, after a mark that is never erased."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.tensor([7, 6, 4, 3, 2])
    mask = (torch.arange(T) < lengths[:, None])[:, None].expand(B, R, T)
    scores = torch.randn(B, R, T, generator=generator, dtype=torch.float64)
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    values = torch.randn(B, R, T, H, generator=generator, dtype=torch.float64)
    words = torch.tensor([-1, 0, 1, 1, 2, 3, 3]).expand(B, R, T)
    state = torch.randn(B, H, generator=generator, dtype=torch.float64)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        head = Heads().requires_grad_(False)
    return Trace(weights, values, mask, head, items=torch.where(mask, words, -1), state=state)


TRACES = {"flat": random_trace, "multi-head": multi_head_trace}


@pytest.fixture(params=TRACES)
def trace(request: pytest.FixtureRequest) -> Trace:
    return TRACES[request.param]()


def test_attending_is_the_weighted_sum_of_the_values() -> None:
    weights = torch.tensor([[0.25, 0.75, 0.0]])
    values = torch.tensor([[[1.0, 2.0], [3.0, -4.0], [9.0, 9.0]]])
    head = nn.Linear(2, 1, bias=False)
    head.weight.data = torch.tensor([[2.0, 1.0]])
    trace = Trace(weights, values, torch.tensor([[True, True, False]]), head)
    assert trace.attend().tolist() == [[2.5, -2.5]]
    assert trace.logits().tolist() == [[2.5]]
    assert trace.items.tolist() == [[0, 1, -1]]
    # Without the second token the first has all the weight.
    assert trace.erase(torch.tensor([[False, True, False]])).tolist() == [[1.0, 0.0, 0.0]]


def test_erasing_nothing_changes_not_one_bit(trace: Trace) -> None:
    nothing = torch.zeros_like(trace.present)
    assert torch.equal(trace.erase(nothing), trace.weights)


def test_erasing_everything_leaves_the_zero_vector() -> None:
    trace = random_trace()
    weights = trace.erase(torch.ones_like(trace.present))
    assert torch.equal(weights, torch.zeros(B, T, dtype=torch.float64))
    assert torch.equal(trace.logits(weights), trace.head.bias.expand(B, K))


def test_what_is_never_erased_keeps_the_whole_weight_when_all_items_go() -> None:
    trace = multi_head_trace()
    weights = trace.erase(torch.ones_like(trace.present))
    assert (weights[..., 0] == 1).all()
    assert (weights[..., 1:] == 0).all()


def test_erasing_an_item_erases_all_its_slots_in_every_row_and_renormalises_each() -> None:
    trace = multi_head_trace()
    erased = torch.zeros_like(trace.present)
    erased[:, 1] = True  # the word of the third and fourth slots
    left = trace.weights.clone()
    left[..., 2:4] = 0
    torch.testing.assert_close(trace.erase(erased), left / left.sum(-1, keepdim=True))


def test_a_trace_of_marks_alone_has_nothing_to_erase() -> None:
    mask = torch.ones(1, 2, dtype=torch.bool)
    items = torch.full((1, 2), -1)
    trace = Trace(torch.tensor([[0.5, 0.5]]), torch.ones(1, 2, 3), mask, nn.Linear(3, 2), items=items)
    assert trace.item_counts.tolist() == [0]
    assert torch.equal(trace.erase(torch.ones(1, 0, dtype=torch.bool)), trace.weights)


def test_a_row_whose_remaining_weights_are_exactly_zero_attends_to_nothing() -> None:
    mask = torch.ones(1, 3, dtype=torch.bool)
    trace = Trace(torch.tensor([[1.0, 0.0, 0.0]]), torch.ones(1, 3, 2), mask, nn.Linear(2, 2))
    assert trace.erase(torch.tensor([[True, False, False]])).tolist() == [[0.0, 0.0, 0.0]]


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(0, 2**T - 1), st.sampled_from(sorted(TRACES)))
def test_erasure_agrees_with_a_plain_loop(seed: int, pattern: int, kind: str) -> None:
    trace = TRACES[kind](seed)
    erased = torch.tensor([bool(pattern >> item & 1) for item in range(T)]).expand(B, T)
    weights = trace.erase(erased)
    for place in torch.cartesian_prod(*(torch.arange(size) for size in trace.weights.shape[:-1])).view(
        -1, trace.weights.dim() - 1
    ):
        row = tuple(place.tolist())
        kept = [
            0.0 if item >= 0 and erased[row[0], item] else weight
            for weight, item in zip(trace.weights[row].tolist(), trace.items[row].tolist(), strict=True)
        ]
        total = sum(kept)
        expected = [weight / total if total else 0.0 for weight in kept]
        assert weights[row].tolist() == pytest.approx(expected, abs=1e-12)


def test_variants_in_front_give_what_each_gives_alone(trace: Trace) -> None:
    generator = torch.Generator().manual_seed(3)
    erased = torch.rand(13, *trace.present.shape, generator=generator) < 0.4
    weights = trace.erase(erased)
    logits = trace.logits(weights)
    assert logits.shape == (13, B, K)
    for variant in range(13):
        assert torch.equal(weights[variant], trace.erase(erased[variant]))
        torch.testing.assert_close(logits[variant], trace.logits(weights[variant]))


def test_taking_rows_gives_their_logits_in_their_order(trace: Trace) -> None:
    rows = torch.tensor([3, 0, 3])
    torch.testing.assert_close(trace.take(rows).logits(), trace.logits()[rows])
    assert len(trace.take(torch.tensor([False] * B))) == 0


def test_items_are_counted_once_however_many_slots_they_have() -> None:
    assert random_trace().item_counts.tolist() == [7, 5, 3, 2, 1]
    assert multi_head_trace().item_counts.tolist() == [4, 4, 2, 2, 1]


def test_token_logits_add_up_to_the_logits() -> None:
    trace = random_trace()
    assert trace.token_logits.shape == (B, T, K)
    summed = torch.einsum("bt,btk->bk", trace.weights, trace.token_logits) + trace.head.bias
    torch.testing.assert_close(summed, trace.logits())


def test_a_linear_head_is_found_also_behind_dropout_that_sleeps() -> None:
    trace = random_trace()
    wrapped = nn.Sequential(nn.Dropout(0.5), trace.head)
    assert replace(trace, head=wrapped.eval()).linear is trace.head
    assert replace(trace, head=wrapped.train()).linear is None
    assert replace(trace, head=nn.Sequential(nn.Tanh(), trace.head)).linear is None


def test_other_heads_have_no_closed_form() -> None:
    trace = multi_head_trace()
    assert trace.linear is None
    with pytest.raises(UserError, match="linear head"):
        _ = trace.token_logits


def test_a_tie_of_one_score_is_the_negative_class_and_of_logits_the_first() -> None:
    assert decisions(torch.tensor([[0.0], [-0.0], [1e-30], [-1e-30]])).tolist() == [0, 0, 1, 0]
    assert decisions(torch.tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 0.0]])).tolist() == [1, 0]


def test_one_score_gives_two_probabilities() -> None:
    scores = torch.tensor([[0.0], [2.0], [-90.0]], dtype=torch.float64)
    expected = torch.cat([torch.zeros_like(scores), scores], dim=1).softmax(-1)
    torch.testing.assert_close(probabilities(scores), expected)
    assert probabilities(torch.zeros(2, K)).shape == (2, K)


def broken(what: str, trace: Trace) -> dict[str, Tensor]:
    """The trace's weights, values, mask or items with one fault in row 3, which has two tokens."""
    weights, values, mask, items = (
        trace.weights.clone(),
        trace.values.clone(),
        trace.mask.clone(),
        trace.items.clone(),
    )
    if what == "NaN weight":
        weights[3, 0] = torch.nan
    elif what == "negative":
        weights[3, :2] = torch.tensor([1.5, -0.5])
    elif what == "sum":
        weights[3, :2] = torch.tensor([0.5, 0.4])
    elif what == "padding":
        weights[3, :3] = torch.tensor([0.5, 0.4, 0.1])
    elif what == "no token":
        mask[3], weights[3], items[3] = False, 0, -1
    elif what == "NaN value":
        values[3, 1, 2] = torch.nan
    elif what == "item on padding":
        items[3, 4] = 4
    return {"weights": weights, "values": values, "mask": mask, "items": items}


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("NaN weight", "NaN"),
        ("negative", "negative"),
        ("sum", "do not sum to 1"),
        ("padding", "weight on padding"),
        ("no token", "no token"),
        ("NaN value", "value that is NaN"),
        ("item on padding", "item on padding"),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_a_faulty_row_is_named(fault: str, said: str, dtype: torch.dtype) -> None:
    trace = random_trace(dtype=dtype)
    with pytest.raises(UserError, match=f"^Row 3 .*{said}"):
        Trace(head=trace.head, **broken(fault, trace))


def test_a_row_of_an_instance_may_be_empty_but_not_all_of_them() -> None:
    trace = multi_head_trace()
    mask, weights, items = trace.mask.clone(), trace.weights.clone(), trace.items.clone()
    mask[2, 1], weights[2, 1], items[2, 1] = False, 0, -1
    thinned = replace(trace, mask=mask, weights=weights, items=items)
    assert torch.equal(thinned.attend()[2, 1], torch.zeros(H, dtype=torch.float64))
    mask[2], weights[2], items[2] = False, 0, -1
    with pytest.raises(UserError, match=r"Row 2 .*no token"):
        replace(trace, mask=mask, weights=weights, items=items)


@pytest.mark.parametrize("name", ["weights", "values", "mask", "items", "state"])
def test_shapes_that_do_not_belong_together_are_refused(name: str) -> None:
    trace = multi_head_trace()
    with pytest.raises(UserError, match="trace"):
        replace(trace, **{name: getattr(trace, name)[1:]})


def test_a_mask_of_numbers_is_refused() -> None:
    trace = random_trace()
    with pytest.raises(UserError, match="bool mask"):
        replace(trace, mask=trace.mask.long())


def test_a_head_without_a_class_axis_is_noticed() -> None:
    trace = random_trace()
    with pytest.raises(ValueError, match="the head must give logits"):
        replace(trace, head=lambda attended: attended.sum(-1)).logits()


@pytest.mark.parametrize("shape", [(B, T - 1), (B - 1, T)])
def test_erasure_of_another_shape_is_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="erased must be bool"):
        random_trace().erase(torch.zeros(shape, dtype=torch.bool))


def test_weights_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="weights must end in"):
        random_trace().logits(torch.zeros(B, T - 1, dtype=torch.float64))


def test_arrays_and_lists_become_tensors() -> None:
    weights, values, mask = (
        [[0.25, 0.75, 0.0]],
        [[[1.0, 2.0], [3.0, 5.0], [7.0, 11.0]]],
        [[True, True, False]],
    )
    head = nn.Linear(2, 3)
    expected = Trace(torch.tensor(weights), torch.tensor(values), torch.tensor(mask), head)
    arrays = (np.array(weights, np.float32), np.array(values, np.float32), np.array(mask))
    for parts in (arrays, (weights, values, mask)):
        trace = Trace(*parts, head, items=np.array([[0, 0, -1]]))
        assert all(
            isinstance(part, Tensor) for part in (trace.weights, trace.values, trace.mask, trace.items)
        )
        assert trace.logits().equal(expected.logits())


@pytest.mark.parametrize("weights", ["half", [[0.5, 0.5], [1.0]], object()])
def test_what_cannot_become_a_tensor_is_refused_in_a_sentence(weights: object) -> None:
    with pytest.raises(
        UserError, match="The weights of a trace must be given as a tensor, an array, or lists"
    ):
        Trace(weights, torch.ones(1, 2, 3), torch.ones(1, 2, dtype=torch.bool), nn.Linear(3, 2))


def test_a_linear_head_of_another_width_or_type_is_refused_naming_both() -> None:
    weights, values, mask = torch.tensor([[1.0]]), torch.ones(1, 1, 3), torch.ones(1, 1, dtype=torch.bool)
    for head in (nn.Linear(5, 2), nn.Sequential(nn.Dropout(), nn.Linear(5, 2)).eval()):
        with pytest.raises(UserError, match=r"needs values of width 5 .* of width 3 "):
            Trace(weights, values, mask, head)
    with pytest.raises(UserError, match=r"type torch.float32, but .* type torch.float64"):
        Trace(weights.double(), values.double(), mask, nn.Linear(3, 2))
