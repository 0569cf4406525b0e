"""One catalogue, one set of promises: what holds for every mechanism, normaliser and control."""

import pytest
import torch
from attention_catalogue import CATALOGUE, LENGTHS, MECHANISMS, SHORT_CATALOGUE, H, N, T, W, mechanism
from torch import Generator
from torch.export import Dim, export
from torch.func import functional_call

from heedful.attention import NORMALISERS, SCORES, Attended

every = pytest.mark.parametrize("case", CATALOGUE, ids=str)
every_learned = pytest.mark.parametrize("case", MECHANISMS, ids=str)


@every
def test_the_axes_are_where_the_documentation_says(case):
    attended = case.run(case.build(), inputs := case.inputs())
    rows = () if case.queries is None or len(case.queries) == 1 else (case.queries[0],)
    batch = len(LENGTHS)
    assert attended.weights.shape == attended.scores.shape == (batch, *rows, T)
    assert attended.context.shape == (batch, *rows, W)
    without_values = case.build()(inputs.states, inputs.mask, query=inputs.query)
    assert without_values.context.shape == (batch, *rows, H)
    torch.testing.assert_close(without_values.weights, attended.weights)


@every
def test_weights_of_real_tokens_sum_to_one_and_the_rest_is_exactly_zero(case):
    inputs = case.inputs()
    weights = case.run(case.build(), inputs).weights
    real = inputs.mask if weights.dim() == 2 else inputs.mask[:, None].expand_as(weights)
    assert (weights >= 0).all()
    assert (weights[~real] == 0).all()
    if case.sums_to_one:
        totals = weights.sum(-1)  # (B) or (B,Q)
        torch.testing.assert_close(totals, real.any(-1).float())


@every
def test_the_context_is_the_sum_of_the_values_by_the_weights(case):
    inputs = case.inputs()
    attended = case.run(case.build(), inputs)
    by_hand = (
        attended.weights.unsqueeze(-1)
        * (inputs.values if attended.weights.dim() == 2 else inputs.values[:, None])
    ).sum(-2)
    torch.testing.assert_close(attended.context, by_hand)


@every
def test_a_row_without_tokens_gives_zeros_and_no_gradient(case):
    inputs = case.inputs()
    inputs.states.requires_grad_()
    module = case.build()
    attended = case.run(module, inputs)
    assert (attended.weights[2] == 0).all()
    assert (attended.context[2] == 0).all()
    loss = attended.context.square().sum() + attended.weights.square().sum()
    if loss.requires_grad:
        loss.backward()
        assert all(parameter.grad.isfinite().all() for parameter in module.parameters())
        if inputs.states.grad is not None:
            assert inputs.states.grad.isfinite().all()
            assert (inputs.states.grad[2] == 0).all()


@every
def test_an_instance_alone_and_unpadded_equals_itself_in_company(case):
    module, inputs = case.build(), case.inputs()
    together = case.run(module, inputs)
    for row, length in enumerate(LENGTHS):
        if length == 0:
            continue
        alone = case.run(module, case.cut(inputs, row, length))
        torch.testing.assert_close(alone.weights[0], together.weights[row, ..., :length])
        torch.testing.assert_close(alone.scores[0], together.scores[row, ..., :length])
        torch.testing.assert_close(alone.context[0], together.context[row])


@every
def test_what_stands_in_the_padding_changes_nothing(case):
    module, inputs = case.build(), case.inputs()
    before = case.run(module, inputs)
    inputs.states[~inputs.mask] = 1e4
    inputs.values[~inputs.mask] = -1e4
    after = case.run(module, inputs)
    torch.testing.assert_close(after.weights, before.weights)
    torch.testing.assert_close(after.context, before.context)


@pytest.mark.parametrize("case", [case for case in CATALOGUE if case.equivariant], ids=str)
def test_moving_a_token_moves_its_weight_and_leaves_the_context(case):
    module, inputs = case.build(), case.inputs()
    before = case.run(module, inputs)
    order = torch.randperm(T, generator=Generator().manual_seed(3))
    assert (order != torch.arange(T)).any()
    moved = type(inputs)(
        inputs.states[:, order], inputs.mask[:, order], inputs.query, inputs.values[:, order]
    )
    after = case.run(module, moved)
    torch.testing.assert_close(after.weights, before.weights[..., order])
    torch.testing.assert_close(after.context, before.context)


@every_learned
def test_gradients_agree_with_finite_differences(case):
    module = case.build().double()
    inputs = case.inputs(seed=2).to(torch.float64)
    names = [name for name, _ in module.named_parameters()]
    parameters = [parameter.detach().requires_grad_() for parameter in module.parameters()]

    def contexts(states, values, *given):
        return functional_call(
            module,
            dict(zip(names, given, strict=True)),
            (states, inputs.mask),
            {"query": inputs.query, "values": values},
        ).context

    arguments = (inputs.states.requires_grad_(), inputs.values.requires_grad_(), *parameters)
    assert torch.autograd.gradcheck(contexts, arguments, fast_mode=True)


@every_learned
def test_extreme_scores_give_finite_weights_and_gradients(case):
    for size in (1e4, 1e30):
        module, inputs = case.build(), case.inputs()
        module.score.scale /= size
        attended = run_with_finite_gradients(case, module, inputs)
        assert attended.scores[0].abs().max() > size / 100
        if case.sums_to_one:
            totals = attended.weights[:2].sum(-1)
            torch.testing.assert_close(totals, torch.ones_like(totals))


def run_with_finite_gradients(case, module, inputs):
    inputs.states.requires_grad_()
    attended = case.run(module, inputs)
    assert attended.weights.isfinite().all()
    assert (attended.weights[2] == 0).all()
    (attended.context.float().square().sum() + attended.weights.float().square().sum()).backward()
    for tensor in (inputs.states, *module.parameters()):
        assert tensor.grad is None or tensor.grad.isfinite().all()
    return attended


@every_learned
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_close_to_single(case, dtype):
    inputs = case.inputs()
    single = case.run(case.build(), inputs)
    half = case.run(case.build().to(dtype), inputs.to(dtype))
    assert half.context.dtype == half.weights.dtype == half.scores.dtype == dtype
    tolerance = 0.01 if dtype == torch.float16 else 0.06
    torch.testing.assert_close(half.weights.float(), single.weights, atol=tolerance, rtol=0)


@every_learned
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_extreme_scores_in_half_precision_stay_finite(case, dtype):
    for size in (1e4, 1e12):  # 1e12 is infinite in float16
        module, inputs = case.build().to(dtype), case.inputs().to(dtype)
        module.score.scale /= size
        run_with_finite_gradients(case, module, inputs)


def exported_equals(case):
    module, inputs = case.build(), case.inputs()
    batch, tokens, rows = Dim("batch"), Dim("tokens", max=N), Dim("rows")
    shapes = {
        "states": {0: batch, 1: tokens},
        "mask": {0: batch, 1: tokens},
        "values": {0: batch, 1: tokens},
    }
    keywords = {"values": inputs.values}
    if inputs.query is not None:
        keywords["query"] = inputs.query
        shapes["query"] = {0: batch} | ({1: rows} if inputs.query.dim() == 3 else {})
        if case.query_has_tokens:
            shapes["query"][inputs.query.dim() - 1] = tokens
    program = export(module, (inputs.states, inputs.mask), keywords, dynamic_shapes=shapes).module()
    for lengths, tokens_now in (((11, 2, 0, 5, 1), 11), ((3,), 3), ((1, 1), 1)):
        other = case.inputs(seed=4, lengths=lengths, tokens=tokens_now)
        ours, theirs = case.run(module, other), case.run(program, other)
        assert isinstance(theirs, Attended)
        torch.testing.assert_close(theirs.context, ours.context, atol=0, rtol=0)
        torch.testing.assert_close(theirs.weights, ours.weights, atol=0, rtol=0)
        torch.testing.assert_close(theirs.scores, ours.scores, atol=0, rtol=0)


@pytest.mark.parametrize("score", SCORES)
def test_export_with_free_batch_and_length_keeps_every_score(score):
    exported_equals(mechanism(score, "softmax", "learned"))


@pytest.mark.parametrize("normaliser", [name for name in NORMALISERS if name != "softmax"])
def test_export_with_free_batch_and_length_keeps_every_normaliser(normaliser):
    exported_equals(mechanism("dot", normaliser, "learned"))


@pytest.mark.slow
@pytest.mark.parametrize("case", SHORT_CATALOGUE, ids=str)
def test_export_with_free_batch_length_and_queries_changes_no_result(case):
    exported_equals(case)
