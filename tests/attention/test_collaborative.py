"""Attentive collaborative filtering: the promises of every mechanism, at both of its levels."""

import pytest
import torch
from torch import Generator
from torch.export import Dim, export

from heedful.attention import CollaborativeAttention, masked_softmax, relu_scores
from heedful.errors import UserError

# Sizes are different primes.
B, L, M, D, X, A = 3, 7, 5, 11, 13, 17


def build():
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return CollaborativeAttention(D, X, width=A)


def inputs(seed=0, *, batch=B, items=L, components=M):
    """Histories of all, all but three and no items; the second item of the first has no component."""
    generator = Generator().manual_seed(seed)
    lengths = torch.tensor([items, max(items - 3, 1), 0] * batch)[:batch]
    mask = torch.arange(items) < lengths[:, None]
    component_mask = mask[..., None] & (torch.rand(batch, items, components, generator=generator) < 0.7)
    component_mask[0, min(1, items - 1)] = False
    return {
        "user": torch.randn(batch, D, generator=generator),
        "items": torch.randn(batch, items, D, generator=generator),
        "history": torch.randn(batch, items, D, generator=generator),
        "components": torch.randn(batch, items, components, X, generator=generator),
        "mask": mask,
        "component_mask": component_mask,
    }


def test_relu_scores_are_what_a_person_computes():
    queries, context = torch.tensor([1.0, -1.0]), torch.tensor([2.0, 10.0])
    keys = torch.tensor([[1.0, 2.0], [-3.0, 0.5], [0.0, 4.0]])
    # relu(key + query) is (2, 1), (0, 0) and (1, 3).
    assert relu_scores(queries[None], keys[None], context=context).tolist() == [[14.0, 0.0, 32.0]]


def test_both_levels_agree_with_the_papers_formula_in_plain_loops():
    module, given = build().double(), inputs()
    given = {name: value if value.dtype == torch.bool else value.double() for name, value in given.items()}
    attended = module(**given)
    user = given["user"][1]
    scores, contents = [], []
    for item in range(L - 3):
        real = given["component_mask"][1, item]
        own = [
            module.component_context
            @ (
                module.component_user @ user + module.component_projection @ component + module.component_bias
            ).relu()
            for component in given["components"][1, item]
        ]
        shares = masked_softmax(torch.stack(own), real)
        contents.append((shares[:, None] * given["components"][1, item]).sum(0))
        inner = (
            module.item_user @ user
            + module.item_projection @ given["items"][1, item]
            + module.history_projection @ given["history"][1, item]
            + module.content_projection @ contents[-1]
            + module.item_bias
        )
        scores.append(module.item_context @ inner.relu())
    weights = torch.stack(scores).softmax(0)
    torch.testing.assert_close(attended.items.weights[1, : L - 3], weights)
    torch.testing.assert_close(attended.components.context[1, : L - 3], torch.stack(contents))
    torch.testing.assert_close(attended.items.context[1], weights @ given["history"][1, : L - 3])


def test_weights_of_both_levels_sum_to_one_over_what_is_real_and_the_rest_is_exactly_zero():
    given = inputs()
    attended = build()(**given)
    for level, real in ((attended.items, given["mask"]), (attended.components, given["component_mask"])):
        assert (level.weights >= 0).all()
        assert (level.weights[~real] == 0).all()
        torch.testing.assert_close(level.weights.sum(-1), real.any(-1).float())
    assert (attended.items.context[2] == 0).all()  # no item
    assert (attended.components.context[0, 1] == 0).all()  # no component


def test_a_user_alone_and_unpadded_equals_itself_in_company():
    module, given = build(), inputs()
    together = module(**given)
    for row, length in ((0, L), (1, L - 3)):
        one = slice(row, row + 1)
        alone = module(
            **{name: value[one] if name == "user" else value[one, :length] for name, value in given.items()}
        )
        torch.testing.assert_close(alone.items.context[0], together.items.context[row])
        torch.testing.assert_close(alone.items.weights[0], together.items.weights[row, :length])
        torch.testing.assert_close(alone.components.weights[0], together.components.weights[row, :length])


def test_what_stands_in_the_padding_changes_nothing():
    module, given = build(), inputs()
    before = module(**given)
    for name, mask in (("items", "mask"), ("history", "mask"), ("components", "component_mask")):
        given[name] = given[name].masked_fill(~given[mask][..., None], 1e4)
    after = module(**given)
    torch.testing.assert_close(after.items.context, before.items.context)
    torch.testing.assert_close(after.items.weights, before.items.weights)
    torch.testing.assert_close(after.components.weights, before.components.weights)


@pytest.mark.parametrize("size", [1e4, 1e30])
def test_extreme_scores_give_finite_weights_and_gradients(size):
    module, given = build(), inputs()
    with torch.no_grad():
        module.item_context *= size
        module.component_context *= size
    given = {
        name: value if value.dtype == torch.bool else value.requires_grad_() for name, value in given.items()
    }
    attended = module(**given)
    assert attended.items.scores[0].abs().max() > size / 100
    assert attended.items.weights.isfinite().all()
    (attended.items.context.square().sum() + attended.components.context.square().sum()).backward()
    for tensor in (*given.values(), *module.parameters()):
        assert tensor.grad is None or tensor.grad.isfinite().all()


def test_gradients_agree_with_finite_differences():
    module, given = build().double(), inputs(seed=2)
    names = ("user", "items", "history", "components")
    tensors = [given[name].double().requires_grad_() for name in names]

    def contexts(*values):
        attended = module(**{**given, **dict(zip(names, values, strict=True))})
        return attended.items.context, attended.components.context

    assert torch.autograd.gradcheck(contexts, tensors, fast_mode=True)


def test_export_with_free_users_items_and_components_changes_no_result():
    module, given = build(), inputs()
    batch, items, components = Dim("batch"), Dim("items"), Dim("components")
    shapes = {
        name: {0: batch} | ({1: items} if value.dim() > 1 and name != "user" else {})
        for name, value in given.items()
    }
    shapes["components"][2] = shapes["component_mask"][2] = components
    program = export(module, (), given, dynamic_shapes=shapes).module()
    other = inputs(seed=4, batch=2, items=3, components=2)
    ours, theirs = module(**other), program(**other)
    for level in ("items", "components"):
        for field in ("context", "weights", "scores"):
            expected, came = getattr(getattr(ours, level), field), getattr(getattr(theirs, level), field)
            torch.testing.assert_close(came, expected, atol=0, rtol=0)


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("user", (B, D + 1), f"needs a user of shape (B, {D}), but ({B}, {D + 1}) came"),
        ("items", (B, L, D + 1), f"needs items of shape ({B}, L, {D}), but ({B}, {L}, {D + 1}) came"),
        ("history", (B, L + 1, D), f"needs a history of shape ({B}, {L}, {D})"),
        ("components", (B, L, M, X + 1), f"needs components of shape ({B}, {L}, M, {X})"),
    ],
)
def test_a_wrong_shape_is_refused_by_name(name, shape, message):
    with pytest.raises(UserError) as refused:
        build()(**{**inputs(), name: torch.zeros(shape)})
    assert f"CollaborativeAttention {message}" in str(refused.value)


@pytest.mark.parametrize("name", ["mask", "component_mask"])
def test_a_mask_that_is_not_boolean_or_does_not_fit_is_refused(name):
    given = inputs()
    with pytest.raises(UserError, match="needs a boolean mask"):
        build()(**{**given, name: given[name].long()})
    with pytest.raises(UserError, match="mask of shape"):
        build()(**{**given, name: given[name][:, 1:]})
