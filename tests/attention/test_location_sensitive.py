"""Location-sensitive attention: what the filters see, the three kinds, and what is refused.

The promises of every mechanism are in `test_asking_promises`. Sizes: B 3, T 7, H 5, C 13, A 11, K 2, W 3.
"""

import re

import pytest
import torch
from torch import Generator, tensor

from heedful.attention import LocationSensitiveAttention, additive_scores, location_features
from heedful.errors import UserError

B, T, H, C, A, K, W = 3, 7, 5, 13, 11, 2, 3
MASK = torch.arange(T) < tensor((7, 4, 1))[:, None]


def built(**settings):
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return LocationSensitiveAttention(
            H, **({"query": C, "filters": K, "window": W, "width": A} | settings)
        )


def inputs():
    draw = Generator().manual_seed(0)
    states, query = (torch.randn(*shape, generator=draw) for shape in ((B, T, H), (B, C)))
    return states, query, torch.rand(B, T, generator=draw).softmax(-1)


def test_filters_slide_over_the_weights_and_see_nothing_beyond_the_text():
    previous = tensor([[0.5, 0.25, 0.25, 0.0]])
    filters = tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 2.0]])
    seen = location_features(previous, filters)
    assert seen.tolist() == [[[0.0, 1.0], [0.5, 0.75], [0.25, 0.25], [0.25, 0.0]]]


def test_features_move_with_the_weights():
    draw = Generator().manual_seed(0)
    filters = torch.randn(K, W, generator=draw)
    previous = torch.zeros(1, T)
    previous[0, 2] = 1
    torch.testing.assert_close(
        location_features(previous, filters)[0, 1:4], location_features(previous.roll(2, 1), filters)[0, 3:6]
    )


def test_a_hybrid_score_is_the_papers_sum():
    module, (states, query, previous) = built(), inputs()
    with torch.no_grad():
        module.bias.copy_(torch.linspace(-1, 1, A))
    features = location_features(previous.masked_fill(~MASK, 0), module.filters)
    inner = states @ module.projection.mT + (query @ module.query_projection.mT)[:, None]
    inner = inner + features @ module.filter_projection.mT + module.bias
    found = module(states, MASK, query=query, previous=previous)
    torch.testing.assert_close(found.scores[MASK], (inner.tanh() @ module.context)[MASK])


def test_content_alone_is_additive_attention():
    module, (states, query, _) = built(filters=0), inputs()
    expected = additive_scores(
        query @ module.query_projection.mT, states @ module.projection.mT, context=module.context
    )
    torch.testing.assert_close(module(states, MASK, query=query).scores, expected)


def test_equal_tokens_are_told_apart_by_location_and_not_by_content():
    _, query, _ = inputs()
    states, mask = torch.ones(B, T, H), torch.ones(B, T, dtype=torch.bool)
    previous = torch.zeros(B, T)
    previous[:, 3] = 1
    by_content = built(filters=0)(states, mask, query=query).weights
    torch.testing.assert_close(by_content, torch.full((B, T), 1 / T))
    for module, asked in ((built(), {"query": query}), (built(query=None), {})):
        weights = module(states, mask, previous=previous, **asked).weights
        assert weights[0, 2:5].std() > 1e-3
        torch.testing.assert_close(weights[:, 0], weights[:, 6])  # beyond the filters' reach


def test_location_alone_has_no_matrix_for_a_query_and_content_alone_no_filters():
    names = {
        kind: {name for name, _ in module.named_parameters()}
        for kind, module in (
            ("both", built()),
            ("content", built(filters=0)),
            ("location", built(query=None)),
        )
    }
    assert names["both"] - names["content"] == {"filters", "filter_projection"}
    assert names["both"] - names["location"] == {"query_projection"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"query": None, "filters": 0}, "needs a query, filters or both, but neither came"),
        ({"window": 4}, "needs an odd window, but 4 came"),
        ({"window": -1}, "needs an odd window, but -1 came"),
    ],
)
def test_a_mechanism_that_could_not_work_is_not_built(settings, message):
    with pytest.raises(UserError, match=message):
        built(**settings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": torch.zeros(B, T, 2)}, "states of shape (B, T, 5), but (3, 7, 2) came"),
        ({"mask": MASK[:, :4]}, "a mask of shape (3, 7), but (3, 4) came"),
        ({"mask": MASK.int()}, "needs a boolean mask, true on real tokens, but torch.int32 came"),
        ({"query": torch.zeros(B, 2)}, "a query of shape (3, 13), but (3, 2) came"),
        ({"query": torch.zeros(B, 2, C)}, "takes one query at a time, (B, C), but (3, 2, 13) came"),
        ({"query": None}, "was built for queries of width 13, but none came"),
        ({"previous": None}, "has filters and needs previous weights, but none came"),
        ({"previous": torch.zeros(B, 2)}, "previous weights of shape (3, 7), but (3, 2) came"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_was_needed_and_what_came(change, message):
    states, query, previous = inputs()
    given = {"states": states, "mask": MASK, "query": query, "previous": previous} | change
    with pytest.raises(UserError, match=re.escape(message)):
        built()(**given)


def test_previous_weights_are_refused_where_there_are_no_filters():
    states, query, previous = inputs()
    with pytest.raises(UserError, match="was built without filters and takes no previous weights"):
        built(filters=0)(states, MASK, query=query, previous=previous)


def test_filters_of_even_width_are_refused():
    with pytest.raises(UserError, match=re.escape("filters of odd width, but (2, 4) came")):
        location_features(torch.zeros(B, T), torch.zeros(K, 4))
