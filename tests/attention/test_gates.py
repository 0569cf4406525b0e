"""D-Attn's gates do not sum to one, by intent: each lies between 0 and 1. The other promises hold."""

import pytest
import torch
from exporting import NOT_BY_TORCH_2_6
from torch import Generator
from torch.export import Dim, export

from heedful.attention import ConvolutionMaxima, DualAttention, GlobalGate, LocalGate, window_scores
from heedful.errors import UserError

# Sizes are different primes; the rows hold 7, 2 and 0 words.
B, T, H, F, WINDOW = 3, 7, 5, 11, 3
LENGTHS = (7, 2, 0)


def build(kind):
    with torch.random.fork_rng():
        torch.manual_seed(1)
        if kind == "local":
            return LocalGate(H, window=WINDOW)
        if kind == "global":
            return GlobalGate(H)
        return DualAttention(H, F, window=WINDOW, local_lengths=(1, 2), global_lengths=(2, 3, 4))


def text(seed=0, lengths=LENGTHS, tokens=T):
    states = torch.randn(len(lengths), tokens, H, generator=Generator().manual_seed(seed))
    return states, torch.arange(tokens) < torch.tensor(lengths)[:, None]


gates = pytest.mark.parametrize("kind", ["local", "global"])
every = pytest.mark.parametrize("kind", ["local", "global", "dual"])


def leaves(result):
    return torch.utils._pytree.tree_leaves(result)


def test_a_window_is_scored_as_a_person_scores_it():
    states = torch.tensor([[[1.0], [10.0], [100.0], [7.0]]])
    mask = torch.tensor([[True, True, True, False]])
    kernel = torch.tensor([[2.0], [3.0], [5.0]])  # the word before, the word, the word after
    scores = window_scores(states, mask, kernel=kernel)
    # 3·1 + 5·10, 2·1 + 3·10 + 5·100, 2·10 + 3·100: beyond the text is 0
    assert scores[0, :3].tolist() == [53.0, 532.0, 320.0]


def test_the_local_gate_sees_its_window_and_nothing_else():
    module, (states, mask) = build("local"), text(lengths=(7,))
    before = module(states, mask).weights
    states[0, 5] += 3
    after = module(states, mask).weights
    moved = (before != after)[0]
    assert moved.tolist() == [False, False, False, False, True, True, True]


def test_the_global_gate_sees_the_word_and_the_mean_of_the_text():
    module, (states, mask) = build("global"), text(lengths=(7,))
    with torch.no_grad():
        module.bias.fill_(0.3)
        by_hand = states[0] @ module.word + states[0].mean(0) @ module.text + 0.3
        torch.testing.assert_close(module(states, mask).weights[0], by_hand.sigmoid())


@gates
def test_gates_lie_between_0_and_1_each_by_itself_and_are_exactly_0_at_masked_words(kind):
    states, mask = text()
    gated = build(kind)(states, mask)
    assert ((gated.weights > 0) & (gated.weights < 1))[mask].all()
    assert (gated.weights[~mask] == 0).all()
    assert (gated.states[~mask] == 0).all()
    assert not torch.allclose(gated.weights.sum(-1)[:2], torch.ones(2))
    torch.testing.assert_close(gated.states, states * gated.weights[..., None])
    torch.testing.assert_close(gated.weights[mask], gated.scores[mask].sigmoid())


def test_maxima_are_those_of_the_convolutions_over_the_real_words():
    with torch.random.fork_rng():
        torch.manual_seed(2)
        module = ConvolutionMaxima(H, F, lengths=(3,))
    states, mask = text()
    found = module(states, mask)
    for row, length in enumerate(LENGTHS[:2]):
        padded = torch.cat([states[row, :length], torch.zeros(2, H)])
        windows = torch.stack([padded[first : first + 3] for first in range(length)])  # (·,3,H)
        convolution = module.convolutions[0]
        by_hand = torch.einsum("pkh,fhk->pf", windows, convolution.weight) + convolution.bias
        torch.testing.assert_close(found[row], by_hand.tanh().amax(0))
    assert (found[2] == 0).all()


@every
def test_a_text_alone_and_unpadded_equals_itself_in_company(kind):
    module, (states, mask) = build(kind), text()
    together = module(states, mask)
    for row, length in enumerate(LENGTHS[:2]):
        alone = module(states[row : row + 1, :length], mask[row : row + 1, :length])
        for ours, theirs in zip(leaves(alone), leaves(together), strict=True):
            same = theirs[row, :length] if theirs.shape[1] == T else theirs[row]
            torch.testing.assert_close(ours[0], same)


@every
def test_what_stands_in_the_padding_changes_nothing(kind):
    module, (states, mask) = build(kind), text()
    before = module(states, mask)
    after = module(states.masked_fill(~mask[..., None], 1e4), mask)
    if kind == "dual":
        torch.testing.assert_close(after.context, before.context)
        before, after = before.near, after.near
    torch.testing.assert_close(after.weights, before.weights)
    torch.testing.assert_close(after.states, before.states)


@every
@pytest.mark.parametrize("size", [1e4, 1e30])
def test_extreme_scores_give_finite_results_and_gradients(kind, size):
    module, (states, mask) = build(kind), text()
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name.split(".")[-1] in ("kernel", "word", "text"):
                parameter *= size
    states.requires_grad_()
    result = module(states, mask)
    gated = result.near if kind == "dual" else result
    assert gated.scores[0].abs().max() > size / 100
    assert all(leaf.isfinite().all() for leaf in leaves(result))
    total = sum(leaf.square().sum() for leaf in leaves(result) if leaf.abs().max() < 1e3)
    total.backward()
    for tensor in (states, *module.parameters()):
        assert tensor.grad.isfinite().all()


@every
def test_gradients_agree_with_finite_differences(kind):
    module, (states, mask) = build(kind).double(), text(seed=3)

    def results(given):
        result = module(given, mask)
        return result.context if kind == "dual" else result.states

    assert torch.autograd.gradcheck(results, [states.double().requires_grad_()], fast_mode=True)


@NOT_BY_TORCH_2_6
@every
def test_export_with_free_texts_and_words_changes_no_result(kind):
    module, (states, mask) = build(kind), text()
    free = {0: Dim("batch"), 1: Dim("tokens")}
    program = export(module, (states, mask), dynamic_shapes={"states": free, "mask": free}).module()
    for lengths, tokens in (((11, 2, 0, 5), 11), ((3, 1), 3)):
        other = text(seed=4, lengths=lengths, tokens=tokens)
        for ours, theirs in zip(leaves(module(*other)), leaves(program(*other)), strict=True):
            torch.testing.assert_close(theirs, ours, atol=0, rtol=0)


def test_the_context_has_the_maxima_after_the_local_gate_first():
    module, (states, mask) = build("dual"), text()
    attended = module(states, mask)
    assert attended.context.shape == (B, module.width) == (B, 5 * F)
    near = module.near_maxima(attended.near.states, mask)
    torch.testing.assert_close(attended.context[:, : 2 * F], near)


@pytest.mark.parametrize(("kind", "name"), [("local", "LocalGate"), ("global", "GlobalGate")])
def test_a_wrong_shape_is_refused_by_name(kind, name):
    states, mask = text()
    with pytest.raises(UserError) as refused:
        build(kind)(states[..., 1:], mask)
    assert str(refused.value) == f"{name} needs states of shape (B, T, {H}), but ({B}, {T}, {H - 1}) came."
    with pytest.raises(UserError, match="needs a mask of shape"):
        build(kind)(states, mask[:, 1:])
    with pytest.raises(UserError, match="boolean mask"):
        build(kind)(states, mask.long())


def test_impossible_windows_and_lengths_are_refused():
    with pytest.raises(UserError, match="odd window, to have a middle word, but 4 came"):
        LocalGate(H, window=4)
    with pytest.raises(UserError, match="1 or more words, but \\(2, 0\\) came"):
        ConvolutionMaxima(H, F, lengths=(2, 0))
    with pytest.raises(UserError, match="needs a kernel of shape \\(w, 5\\)"):
        window_scores(*text(), kernel=torch.zeros(3, H + 1))
