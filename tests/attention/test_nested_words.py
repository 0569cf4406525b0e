"""Nested attention: the promises of every mechanism, at both of its levels."""

import pytest
import torch
from exporting import NOT_BY_TORCH_2_6
from torch import Generator
from torch.export import Dim, export

from heedful.attention import NestedAttention, TanhDotScore, nest
from heedful.errors import UserError

# Sizes are different primes; the rows hold 7, 3 and 0 words.
B, T, J, H, X, Q, C, D, A = 3, 7, 5, 11, 13, 2, 17, 19, 23


def build(*, hard=False):
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return NestedAttention(H, X, query=C, character_query=D, width=A, hard=hard)


def inputs(seed=0, *, lengths=(7, 3, 0), words=T, characters=J, queries=Q):
    """The first word of each sentence is all of its characters long; the others are of any length."""
    generator = Generator().manual_seed(seed)
    batch = len(lengths)
    mask = torch.arange(words) < torch.tensor(lengths)[:, None]
    spelt = torch.randint(1, characters + 1, (batch, words), generator=generator)
    spelt[:, 0] = characters
    return {
        "words": torch.randn(batch, words, H, generator=generator),
        "mask": mask,
        "characters": torch.randn(batch, words, characters, X, generator=generator),
        "character_mask": (torch.arange(characters) < spelt[..., None]) & mask[..., None],
        "query": torch.randn(batch, C, generator=generator),
        "character_query": torch.randn(batch, queries, D, generator=generator),
    }


every = pytest.mark.parametrize("hard", [False, True], ids=["soft", "hard"])


def test_a_character_weighs_its_word_times_itself():
    outer = torch.tensor([[0.25, 0.75]])
    inner = torch.tensor([[[[1.0, 0.0], [0.5, 0.5]]]])
    assert nest(outer, inner).tolist() == [[[[0.25, 0.0], [0.375, 0.375]]]]
    assert nest(outer, inner, hard=True).tolist() == [[[[0.0, 0.0], [0.5, 0.5]]]]
    assert nest(torch.zeros(1, 2), inner, hard=True).sum() == 0


def test_scores_are_the_product_of_two_tanh_layers():
    module = TanhDotScore(2, query=1, width=2)
    with torch.no_grad():
        module.projection.copy_(torch.tensor([[1.0, 0.0], [0.0, 2.0]]))
        module.query_projection.copy_(torch.tensor([[1.0], [3.0]]))
        module.bias.fill_(0.1)
        module.query_bias.fill_(-0.2)
    scores = module(torch.tensor([[[0.5, -0.3]]]), torch.tensor([[0.4]]))
    by_hand = torch.tensor([0.6, -0.5]).tanh() @ torch.tensor([0.2, 1.0]).tanh()
    torch.testing.assert_close(scores, by_hand.reshape(1, 1))


@every
def test_weights_of_both_levels_sum_to_one_over_what_is_real_and_the_rest_is_exactly_zero(hard):
    given = inputs()
    attended = build(hard=hard)(**given)
    assert (attended.words.weights[~given["mask"]] == 0).all()
    torch.testing.assert_close(attended.words.weights.sum(-1), given["mask"].any(-1).float())
    weights, real = attended.characters.weights, given["character_mask"][:, None].expand(-1, Q, -1, -1)
    assert weights.shape == attended.characters.scores.shape == (B, Q, T, J)
    assert (weights >= 0).all()
    assert (weights[~real] == 0).all()
    torch.testing.assert_close(weights.sum((-2, -1)), given["mask"].any(-1).float()[:, None].expand(-1, Q))
    by_hand = torch.einsum("bqtj,btjx->bqx", weights, given["characters"])
    torch.testing.assert_close(attended.characters.context, by_hand)
    assert (attended.characters.context[2] == 0).all()


def test_the_characters_of_a_word_share_its_weight():
    attended = build()(**inputs())
    within = attended.characters.weights.sum(-1)  # (B,Q,T)
    torch.testing.assert_close(within, attended.words.weights[:, None].expand(-1, Q, -1))


def test_the_hard_form_reads_one_word():
    attended = build(hard=True)(**inputs())
    words_read = attended.characters.weights.sum(-1) > 0
    assert words_read[:2].sum(-1).tolist() == [[1, 1], [1, 1]]
    assert words_read[0, 0].int().argmax() == attended.words.weights[0].argmax()


def test_a_word_without_characters_is_left_out():
    module, given = build(), inputs()
    given["character_mask"][0, 2] = False
    attended = module(**given)
    assert attended.words.weights[0, 2] == 0
    torch.testing.assert_close(attended.characters.weights[0].sum((-2, -1)), torch.ones(Q))


@every
def test_a_sentence_alone_and_unpadded_equals_itself_in_company(hard):
    module, given = build(hard=hard), inputs()
    together = module(**given)
    for row, length in ((0, 7), (1, 3)):
        one = slice(row, row + 1)
        alone = module(
            **{
                name: value[one] if name in ("query", "character_query") else value[one, :length]
                for name, value in given.items()
            }
        )
        torch.testing.assert_close(alone.words.weights[0], together.words.weights[row, :length])
        torch.testing.assert_close(alone.words.context[0], together.words.context[row])
        torch.testing.assert_close(alone.characters.weights[0], together.characters.weights[row, :, :length])
        torch.testing.assert_close(alone.characters.context[0], together.characters.context[row])


@every
def test_what_stands_in_the_padding_changes_nothing(hard):
    module, given = build(hard=hard), inputs()
    before = module(**given)
    for name, mask in (("words", "mask"), ("characters", "character_mask")):
        given[name] = given[name].masked_fill(~given[mask][..., None], 1e4)
    after = module(**given)
    torch.testing.assert_close(after.words.weights, before.words.weights)
    torch.testing.assert_close(after.characters.weights, before.characters.weights)
    torch.testing.assert_close(after.characters.context, before.characters.context)


@every
@pytest.mark.parametrize("size", [1e4, 1e30])
def test_extreme_scores_give_finite_weights_and_gradients(hard, size):
    # tanh keeps a score within the width A, so what is extreme here is what comes in.
    module, given = build(hard=hard), inputs()
    given = {
        name: value if value.dtype == torch.bool else (value * size).requires_grad_()
        for name, value in given.items()
    }
    attended = module(**given)
    assert attended.words.weights.isfinite().all()
    torch.testing.assert_close(attended.characters.weights[:2].sum((-2, -1)), torch.ones(2, Q))
    (attended.words.weights.square().sum() + attended.characters.weights.square().sum()).backward()
    for tensor in (*given.values(), *module.parameters()):
        assert tensor.grad is None or tensor.grad.isfinite().all()


def test_gradients_agree_with_finite_differences():
    module, given = build().double(), inputs(seed=2)
    names = ("words", "characters", "query", "character_query")
    tensors = [given[name].double().requires_grad_() for name in names]

    def contexts(*values):
        attended = module(**{**given, **dict(zip(names, values, strict=True))})
        return attended.words.context, attended.characters.context

    assert torch.autograd.gradcheck(contexts, tensors, fast_mode=True)


@NOT_BY_TORCH_2_6
@every
def test_export_with_free_sentences_words_and_characters_changes_no_result(hard):
    module, given = build(hard=hard), inputs()
    batch, words, letters, asked = Dim("batch"), Dim("words"), Dim("letters"), Dim("asked")
    shapes = {
        "words": {0: batch, 1: words},
        "mask": {0: batch, 1: words},
        "characters": {0: batch, 1: words, 2: letters},
        "character_mask": {0: batch, 1: words, 2: letters},
        "query": {0: batch},
        "character_query": {0: batch, 1: asked},
    }
    program = export(module, (), given, dynamic_shapes=shapes).module()
    other = inputs(seed=4, lengths=(4, 2, 0, 1), words=4, characters=3, queries=6)
    ours, theirs = module(**other), program(**other)
    for level in ("words", "characters"):
        for field in ("context", "weights", "scores"):
            expected, came = getattr(getattr(ours, level), field), getattr(getattr(theirs, level), field)
            torch.testing.assert_close(came, expected, atol=0, rtol=0)


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("words", (B, T, H + 1), f"needs words of shape (B, T, {H}), but ({B}, {T}, {H + 1}) came"),
        ("characters", (B, T, J, X + 1), f"needs characters of shape ({B}, {T}, J, {X})"),
        ("query", (B, C + 1), f"needs a query of shape ({B}, {C}), but ({B}, {C + 1}) came"),
        ("character_query", (B, D), f"needs a character_query of shape ({B}, Q, {D}), but ({B}, {D}) came"),
    ],
)
def test_a_wrong_shape_is_refused_by_name(name, shape, message):
    with pytest.raises(UserError) as refused:
        build()(**{**inputs(), name: torch.zeros(shape)})
    assert f"NestedAttention {message}" in str(refused.value)


@pytest.mark.parametrize("name", ["mask", "character_mask"])
def test_a_mask_that_is_not_boolean_or_does_not_fit_is_refused(name):
    given = inputs()
    with pytest.raises(UserError, match="needs a boolean mask"):
        build()(**{**given, name: given[name].long()})
    with pytest.raises(UserError, match="mask of shape"):
        build()(**{**given, name: given[name][:, 1:]})
