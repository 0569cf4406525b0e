"""Hierarchical attention: the promises of every mechanism, at both of its levels."""

import pytest
import torch
from torch import Generator, nn
from torch.export import Dim, export

from heedful.attention import HierarchicalAttention
from heedful.errors import UserError

# Sizes are different primes.
B, S, T, H, G, A = 3, 5, 7, 11, 13, 17


class Between(nn.Module):
    """Sentences' states from each sentence alone, so that a text alone stays as it is in company."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(H, G)

    def forward(self, vectors, present):
        return self.layer(vectors).tanh() * present.unsqueeze(-1)


def build(*, encodes=True):
    with torch.random.fork_rng():
        torch.manual_seed(1)
        if encodes:
            return HierarchicalAttention(H, between=Between(), sentence_hidden=G, width=A)
        return HierarchicalAttention(H)


def inputs(seed=0, *, batch=B, sentences=S, words=T):
    """Texts of all, all but two and no sentences, of many lengths; the first's second sentence is empty."""
    generator = Generator().manual_seed(seed)
    counts = torch.tensor([sentences, max(sentences - 2, 1), 0] * batch)[:batch]
    lengths = torch.randint(1, words + 1, (batch, sentences), generator=generator)
    lengths = lengths.where(torch.arange(sentences) < counts[:, None], 0)
    if sentences > 1:
        lengths[0, 1] = 0
    mask = torch.arange(words) < lengths[..., None]
    return torch.randn(batch, sentences, words, H, generator=generator), mask


def levels(attended):
    return attended.words, attended.sentences


def test_both_levels_agree_with_the_papers_formula_in_plain_loops():
    module = build().double()
    states, mask = inputs()
    states = states.double()
    for score in (module.word_score, module.sentence_score):
        score.bias.data = torch.linspace(-1, 1, A, dtype=torch.float64)
    attended = module(states, mask)
    vectors = []
    for sentence, real in zip(states[0], mask[0], strict=True):
        if not real.any():
            continue
        own = sentence[real]
        u = [(module.word_score.projection @ h + module.word_score.bias).tanh() for h in own]
        alpha = torch.stack([vector @ module.word_score.context for vector in u]).softmax(0)
        vectors.append(sum(a * h for a, h in zip(alpha, own, strict=True)))
    states_of_sentences = [module.between.layer(vector).tanh() for vector in vectors]
    u = [
        (module.sentence_score.projection @ h + module.sentence_score.bias).tanh()
        for h in states_of_sentences
    ]
    alpha = torch.stack([vector @ module.sentence_score.context for vector in u]).softmax(0)
    torch.testing.assert_close(attended.words.context[0, mask[0].any(-1)], torch.stack(vectors))
    torch.testing.assert_close(attended.sentences.weights[0, mask[0].any(-1)], alpha)
    text = sum(a * h for a, h in zip(alpha, states_of_sentences, strict=True))
    torch.testing.assert_close(attended.sentences.context[0], text)


@pytest.mark.parametrize("encodes", [True, False])
def test_weights_of_both_levels_sum_to_one_over_what_is_real_and_the_rest_is_exactly_zero(encodes):
    states, mask = inputs()
    for level, real in zip(levels(build(encodes=encodes)(states, mask)), (mask, mask.any(-1)), strict=True):
        assert (level.weights >= 0).all()
        assert (level.weights[~real] == 0).all()
        torch.testing.assert_close(level.weights.sum(-1), real.any(-1).float())


@pytest.mark.parametrize("encodes", [True, False])
def test_a_text_alone_and_unpadded_equals_itself_in_company(encodes):
    module, (states, mask) = build(encodes=encodes), inputs()
    together = module(states, mask)
    for row in (0, 1):
        sentences = int(mask[row].any(-1).nonzero().max()) + 1
        words = int(mask[row].sum(-1).max())
        alone = module(states[row : row + 1, :sentences, :words], mask[row : row + 1, :sentences, :words])
        torch.testing.assert_close(alone.words.weights[0], together.words.weights[row, :sentences, :words])
        torch.testing.assert_close(alone.words.context[0], together.words.context[row, :sentences])
        torch.testing.assert_close(alone.sentences.weights[0], together.sentences.weights[row, :sentences])
        torch.testing.assert_close(alone.sentences.context[0], together.sentences.context[row])


def test_what_stands_in_the_padding_changes_nothing():
    module, (states, mask) = build(), inputs()
    before = module(states, mask)
    after = module(states.masked_fill(~mask.unsqueeze(-1), 1e4), mask)
    for old, new in zip(levels(before), levels(after), strict=True):
        torch.testing.assert_close(new.weights, old.weights)
        torch.testing.assert_close(new.context, old.context)


@pytest.mark.parametrize("size", [1e4, 1e30])
def test_extreme_scores_give_finite_weights_and_gradients(size):
    module, (states, mask) = build(), inputs()
    with torch.no_grad():
        module.word_score.context.mul_(size)
        module.sentence_score.context.mul_(size)
    states.requires_grad_()
    attended = module(states, mask)
    for level in levels(attended):
        assert level.scores.abs().max() > size / 100
        assert level.weights.isfinite().all()
    torch.testing.assert_close(attended.sentences.weights[:2].sum(-1), torch.ones(2))
    sum(level.weights.square().sum() + level.context.square().sum() for level in levels(attended)).backward()
    for tensor in (states, *module.parameters()):
        assert tensor.grad is None or tensor.grad.isfinite().all()


def test_gradients_agree_with_finite_differences():
    module, (states, mask) = build().double(), inputs(seed=2)

    def contexts(given):
        return tuple(level.context for level in levels(module(given, mask)))

    assert torch.autograd.gradcheck(contexts, (states.double().requires_grad_(),), fast_mode=True)


@pytest.mark.parametrize("encodes", [True, False])
def test_export_with_free_texts_sentences_and_words_changes_no_result(encodes):
    module, given = build(encodes=encodes), inputs()
    free = {0: Dim("texts"), 1: Dim("sentences"), 2: Dim("words")}
    program = export(module, given, dynamic_shapes={"states": free, "mask": free}).module()
    for batch, sentences, words in ((5, 7, 11), (2, 3, 2)):
        other = inputs(seed=4, batch=batch, sentences=sentences, words=words)
        ours, theirs = module(*other), program(*other)
        assert type(theirs) is type(ours)
        for one, two in zip(levels(ours), levels(theirs), strict=True):
            for name in ("context", "weights", "scores"):
                torch.testing.assert_close(getattr(two, name), getattr(one, name), atol=0, rtol=0)


@pytest.mark.parametrize(
    ("states", "mask", "message"),
    [
        ((B, S, T, 2), (B, S, T), "needs states of shape (B, S, T, 11), but (3, 5, 7, 2) came"),
        ((B, T, H), (B, T), "needs states of shape (B, S, T, 11), but (3, 7, 11) came"),
        ((B, S, T, H), (B, S), "needs a mask of shape (3, 5, 7), but (3, 5) came"),
    ],
)
def test_a_wrong_shape_is_refused_by_name(states, mask, message):
    with pytest.raises(UserError) as caught:
        build()(torch.ones(states), torch.ones(mask, dtype=torch.bool))
    assert f"HierarchicalAttention {message}" in str(caught.value)


def test_a_mask_that_is_not_boolean_and_an_encoder_of_another_width_are_refused():
    states, mask = inputs()
    with pytest.raises(UserError, match="HierarchicalAttention needs a boolean mask"):
        build()(states, mask.float())
    narrow = HierarchicalAttention(H, between=Between(), sentence_hidden=2)
    with pytest.raises(UserError, match=r"sentences' states of shape \(3, 5, 2\), but \(3, 5, 13\) came"):
        narrow(states, mask)
