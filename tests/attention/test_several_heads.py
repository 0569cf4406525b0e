"""Multi-head attention: agrees with torch's own, and keeps the promises of every mechanism.

Sizes: B 3, T 7, H 15 in R 3 heads of D 5, Q 2. The rows hold 7, 4 and 0 tokens.
"""

import re
from functools import partial

import pytest
import torch
from torch import Generator, nn, tensor
from torch.export import Dim, export

from heedful.attention import MultiHead, scaled_dot_attention, xavier_init
from heedful.errors import UserError

B, T, H, R, Q = 3, 7, 15, 3, 2
MASK = torch.arange(T) < tensor((7, 4, 0))[:, None]


def built(heads=R, **settings):
    return MultiHead(H, heads, init=partial(xavier_init, generator=Generator().manual_seed(1)), **settings)


def inputs(seed=0):
    draw = Generator().manual_seed(seed)
    return tuple(torch.randn(B, length, H, generator=draw) for length in (T, Q, T))


def torchs(**settings):
    with torch.random.fork_rng():
        torch.manual_seed(2)
        theirs = nn.MultiheadAttention(H, R, batch_first=True, **settings)
        for parameter in theirs.parameters():  # torch starts biases at 0, which would hide a swap
            nn.init.normal_(parameter, std=0.3)
    return theirs


@pytest.mark.parametrize("bias", [True, False])
def test_self_attention_agrees_with_torchs_own_given_the_same_weights_and_padding(bias):
    theirs = torchs(bias=bias)
    states = inputs()[0][:2]
    mask = MASK[:2]
    ours = MultiHead.from_torch(theirs)(states, mask)
    context, weights = theirs(states, states, states, key_padding_mask=~mask, average_attn_weights=False)
    torch.testing.assert_close(ours.context, context)
    torch.testing.assert_close(ours.weights, weights)


def test_queries_and_values_of_their_own_agree_with_torchs_own():
    theirs, (states, queries, values) = torchs(), inputs()
    ours = MultiHead.from_torch(theirs)(states[:2], MASK[:2], query=queries[:2], values=values[:2])
    context, weights = theirs(
        queries[:2], states[:2], values[:2], key_padding_mask=~MASK[:2], average_attn_weights=False
    )
    torch.testing.assert_close(ours.context, context)
    torch.testing.assert_close(ours.weights, weights)


def test_a_causal_mask_agrees_with_torchs_own():
    theirs, states = torchs(), inputs()[0]
    causal = torch.ones(T, T, dtype=torch.bool).tril()
    ours = MultiHead.from_torch(theirs)(states, causal.expand(B, T, T))
    context, weights = theirs(states, states, states, attn_mask=~causal, average_attn_weights=False)
    torch.testing.assert_close(ours.context, context)
    torch.testing.assert_close(ours.weights, weights)


def test_the_copy_does_not_share_its_weights():
    theirs = torchs()
    ours = MultiHead.from_torch(theirs)
    before = ours.keys.weight.clone()
    with torch.no_grad():
        theirs.in_proj_weight.zero_()
    assert ours.keys.weight.equal(before)


def test_scaled_dot_attention_agrees_with_torchs_own():
    states, queries, values = inputs()
    ours = scaled_dot_attention(queries, states, values, MASK)
    theirs = nn.functional.scaled_dot_product_attention(
        queries[:2], states[:2], values[:2], attn_mask=MASK[:2, None]
    )
    torch.testing.assert_close(ours.context[:2], theirs)


def test_one_head_is_scaled_dot_attention_between_projections():
    module, (states, queries, _) = built(heads=1), inputs()
    plain = scaled_dot_attention(module.queries(queries), module.keys(states), module.values(states), MASK)
    attended = module(states, MASK, query=queries)
    torch.testing.assert_close(attended.weights[:, 0], plain.weights)
    torch.testing.assert_close(attended.context, module.output(plain.context))


def test_as_many_parameters_whatever_the_heads():
    counts = {sum(p.numel() for p in built(heads).parameters()) for heads in (1, 3, 5)}
    assert counts == {4 * (H * H + H)}


def test_weights_of_each_head_sum_to_one_over_real_tokens_and_the_rest_is_exactly_zero():
    weights = built()(inputs()[0], MASK).weights
    assert weights.shape == (B, R, T, T)
    torch.testing.assert_close(weights.sum(-1)[:2], torch.ones(2, R, T))
    assert (weights[~MASK[:, None, None].expand_as(weights)] == 0).all()


def test_a_row_without_tokens_reads_nothing():
    module = built()
    nn.init.normal_(module.output.bias, generator=Generator().manual_seed(0))
    attended = module(inputs()[0], MASK)
    torch.testing.assert_close(attended.context[2], module.output.bias.expand(T, H))


def test_an_instance_alone_and_unpadded_equals_itself_in_company():
    module, (states, queries, values) = built(), inputs()
    together = module(states, MASK, query=queries, values=values)
    alone = module(states[1:2, :4], MASK[1:2, :4], query=queries[1:2], values=values[1:2, :4])
    torch.testing.assert_close(alone.context[0], together.context[1])
    torch.testing.assert_close(alone.weights[0], together.weights[1, ..., :4])


def test_what_stands_in_the_padding_changes_nothing():
    module, (states, queries, _) = built(), inputs()
    before = module(states, MASK, query=queries)
    states[~MASK] = 1e4
    after = module(states, MASK, query=queries)
    torch.testing.assert_close(after.context, before.context)
    torch.testing.assert_close(after.weights, before.weights)


@pytest.mark.parametrize("size", [1e3, 1e15])
def test_extreme_scores_give_finite_weights_and_gradients(size):
    module, (states, _, values) = built(), inputs()
    states = (size * states).requires_grad_()
    attended = module(states, MASK, values=values)
    assert attended.scores[:2].abs().max() > size**2 / 100
    (attended.context.square().sum() + attended.weights.square().sum()).backward()
    for tensor_ in (states, *module.parameters()):
        assert tensor_.grad.isfinite().all()


def test_gradients_agree_with_finite_differences():
    module, given = built().double(), tuple(part.double().requires_grad_() for part in inputs())
    assert torch.autograd.gradcheck(
        lambda states, queries, values: module(states, MASK, query=queries, values=values).context,
        given,
        fast_mode=True,
    )


@pytest.mark.parametrize("form", ["self", "queries"])
def test_export_with_free_batch_and_length_changes_no_result(form):
    module, (states, queries, _) = built(), inputs()
    batch, tokens, rows = Dim("batch"), Dim("tokens"), Dim("rows")
    keywords = {"query": queries} if form == "queries" else {}
    shapes = {"states": {0: batch, 1: tokens}, "mask": {0: batch, 1: tokens}}
    if keywords:
        shapes["query"] = {0: batch, 1: rows}
    program = export(module, (states, MASK), keywords, dynamic_shapes=shapes).module()
    draw = Generator().manual_seed(4)
    for lengths, asked in (((11, 2, 0, 5), 3), ((2, 2), 5)):
        mask = torch.arange(max(lengths)) < tensor(lengths)[:, None]
        states = torch.randn(*mask.shape, H, generator=draw)
        more = {"query": torch.randn(len(lengths), asked, H, generator=draw)} if keywords else {}
        ours, theirs = module(states, mask, **more), program(states, mask, **more)
        for part in ("context", "weights", "scores"):
            torch.testing.assert_close(getattr(theirs, part), getattr(ours, part), atol=0, rtol=0)


STATES = torch.ones(B, T, H)
WRONG = {
    "heads that do not divide": (
        lambda: MultiHead(15, 2),
        "MultiHead needs a width divisible by its heads, but 15 and 2 came",
    ),
    "no heads": (lambda: MultiHead(15, 0), "but 15 and 0 came"),
    "states of another width": (
        lambda: built()(torch.ones(B, T, 5), MASK),
        "MultiHead needs states of shape (B, T, 15), but (3, 7, 5) came",
    ),
    "queries of another batch": (
        lambda: built()(STATES, MASK, query=torch.ones(2, Q, H)),
        "MultiHead needs queries of shape (3, Q, 15), but (2, 2, 15) came",
    ),
    "values of another length": (
        lambda: built()(STATES, MASK, values=torch.ones(B, Q, H)),
        "MultiHead needs values of shape (3, 7, 15), but (3, 2, 15) came",
    ),
    "mask of another length": (
        lambda: built()(STATES, MASK[:, :2]),
        "MultiHead needs a mask of shape (3, 7) or (3, 7, 7), but (3, 2) came",
    ),
    "mask of numbers": (lambda: built()(STATES, MASK.long()), "MultiHead needs a boolean mask"),
    "torch's own with dropout": (
        lambda: MultiHead.from_torch(nn.MultiheadAttention(H, R, dropout=0.1)),
        "no dropout",
    ),
    "torch's own with other widths": (
        lambda: MultiHead.from_torch(nn.MultiheadAttention(H, R, kdim=5)),
        "kdim=5",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_says_what_was_needed_what_came_and_where(name):
    call, sentence = WRONG[name]
    with pytest.raises(UserError, match=re.escape(sentence)):
        call()
