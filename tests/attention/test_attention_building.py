"""Mechanisms from settings, and errors that say what was needed, what came, and where."""

import io
import re

import pytest
import torch
from attention_catalogue import H, mechanism
from torch import Generator

import heedful.attention as attention
from heedful.attention import (
    CONTROLS,
    NORMALISERS,
    SCORES,
    Attended,
    Attention,
    DotScore,
    attend,
    build_attention,
    dot_scores,
    entmax15,
    general_scores,
    split_heads,
    uniform_weights,
)
from heedful.errors import UserError

STATES, MASK = torch.ones(2, 3, 5), torch.ones(2, 3, dtype=torch.bool)


def test_every_name_of_the_list_is_there_once_and_lives_here():
    assert len(attention.__all__) == len(set(attention.__all__)) > 60
    for name in attention.__all__:
        found = getattr(attention, name)
        assert name.isupper() or found.__module__.startswith("heedful.attention."), name


def test_every_public_function_and_class_says_what_it_is():
    named = [name for name in attention.__all__ if not name.isupper()]
    missing = [name for name in named if not getattr(attention, name).__doc__]
    assert missing == []


def test_a_setting_reaches_its_mechanism():
    built = build_attention("additive", 5, normaliser="entmax15", width=7, scale=3, bias=False, query=11)
    assert isinstance(built, Attention)
    assert built.normalise is entmax15
    assert (built.score.scale, built.score.bias) == (3, None)
    assert built.score.projection.shape == (7, 5)
    assert built.score.query_projection.shape == (7, 11)


def test_the_same_seed_builds_the_same_parameters_and_leaves_torchs_own_generator_alone():
    before = torch.get_rng_state()
    one, two, other = (
        build_attention("general", 5, init="xavier", generator=Generator().manual_seed(seed))
        for seed in (1, 1, 2)
    )
    assert torch.get_rng_state().equal(before)
    assert one.score.matrix.equal(two.score.matrix)
    assert one.score.context.equal(two.score.context)
    assert not one.score.matrix.equal(other.score.matrix)


@pytest.mark.parametrize("name", [*SCORES, *CONTROLS])
def test_every_name_builds(name):
    assert build_attention(name, 5, longest=7 if name == "location" else None) is not None


@pytest.mark.parametrize("name", NORMALISERS)
def test_every_normaliser_builds(name):
    assert build_attention("dot", 5, normaliser=name)(STATES, MASK).weights.shape == (2, 3)


def test_a_mechanism_can_be_exported_saved_and_loaded():
    module = build_attention("dot", 5, normaliser="sparsemax")
    file = io.BytesIO()
    torch.export.save(torch.export.export(module, (STATES, MASK)), file)
    file.seek(0)
    loaded = torch.export.load(file).module()(STATES, MASK)
    assert isinstance(loaded, Attended)
    assert loaded.weights.equal(module(STATES, MASK).weights)


def test_a_mechanism_shows_its_settings_when_printed():
    shown = repr(build_attention("additive", 5, width=7, scale=10, normaliser="sparsemax"))
    assert "normalise=sparsemax" in shown
    assert "width=7, scale=10" in shown


WRONG = {
    "unknown score": (
        lambda: build_attention("additve", 5),
        "no attention 'additve'; the nearest is 'additive'",
    ),
    "unknown normaliser": (
        lambda: build_attention("dot", 5, normaliser="sparsmax"),
        "no normaliser 'sparsmax'; the nearest is 'sparsemax'",
    ),
    "unknown init": (lambda: build_attention("dot", 5, init="xavir"), "the nearest is 'xavier'"),
    "needless setting": (lambda: build_attention("dot", 5, width=7), "'dot' has no setting width"),
    "needless setting of a control": (
        lambda: build_attention("uniform", 5, scale=2, normaliser="softmax"),
        "'uniform' has no setting normaliser, scale",
    ),
    "missing length": (lambda: build_attention("location", 5), "set longest"),
    "scale of zero": (lambda: DotScore(5, scale=0), "DotScore needs a scale above 0 and finite, but 0 came"),
    "query too wide for a dot": (lambda: DotScore(5, query=7), "as wide as the states (5), but width 7 came"),
    "states of another width": (
        lambda: build_attention("dot", 7)(STATES, MASK),
        "DotScore needs states of shape (B, T, 7), but (2, 3, 5) came",
    ),
    "states of another rank": (
        lambda: build_attention("additive", 5)(STATES[0], MASK),
        "AdditiveScore needs states of shape (B, T, 5), but (3, 5) came",
    ),
    "mask of another length": (
        lambda: build_attention("dot", 5)(STATES, MASK[:, :2]),
        "Attention needs a mask for scores of shape (2, 3), but (2, 2) came",
    ),
    "mask of another batch": (
        lambda: build_attention("dot", 5)(STATES, MASK[:1].repeat(7, 1)),
        "Attention needs a mask for scores of shape (2, 3), but (7, 3) came",
    ),
    "mask of numbers": (
        lambda: build_attention("dot", 5)(STATES, MASK.long()),
        "needs a boolean mask, true on real tokens, but torch.int64 came",
    ),
    "mask of numbers for a control": (lambda: uniform_weights(MASK.float()), "needs a boolean mask"),
    "values of another length": (
        lambda: build_attention("dot", 5)(STATES, MASK, values=torch.ones(2, 7, 5)),
        "Attention needs values of shape (2, 3, ·), but (2, 7, 5) came",
    ),
    "query where none is taken": (
        lambda: build_attention("dot", 5)(STATES, MASK, query=torch.ones(2, 5)),
        "takes no query, but one of (2, 5) came: build it with query=5",
    ),
    "no query where one is needed": (
        lambda: build_attention("additive", 5, query=7)(STATES, MASK),
        "AdditiveScore was built for queries of width 7, but none came",
    ),
    "query of another width": (
        lambda: build_attention("general", 5, query=7)(STATES, MASK, query=torch.ones(2, 11)),
        "GeneralScore needs a query of shape (2, 7), but (2, 11) came",
    ),
    "queries of another batch": (
        lambda: build_attention("cosine", 5, query=5)(STATES, MASK, query=torch.ones(3, 7, 5)),
        "CosineScore needs a query of shape (2, Q, 5), but (3, 7, 5) came",
    ),
    "text too long": (
        lambda: build_attention("location", 5, longest=2)(STATES, MASK),
        "LocationScore needs texts of at most 2 tokens, but one of 3 came",
    ),
    "frozen without weights": (
        lambda: build_attention("frozen", 5)(STATES, MASK),
        "pass them, (B, T), as query=",
    ),
    "frozen with weights of another length": (
        lambda: build_attention("frozen", 5)(STATES, MASK, query=torch.ones(2, 7)),
        "FrozenAttention needs weights (as query=) of shape (2, 3), but (2, 7) came",
    ),
    "uniform with another mask": (
        lambda: build_attention("uniform", 5)(STATES, MASK[:, :2]),
        "UniformAttention needs a mask of shape (2, 3), but (2, 2) came",
    ),
    "functions: widths": (
        lambda: dot_scores(torch.ones(7), STATES),
        "dot_scores needs queries and keys of one width, but queries (7) and keys (2, 3, 5) came",
    ),
    "functions: ranks": (
        lambda: dot_scores(torch.ones(2, 3, 5), torch.ones(3, 5, 2, 5, 5)),
        "dot_scores needs keys (..., T, H)",
    ),
    "functions: leading axes": (
        lambda: dot_scores(torch.ones(7, 5), STATES),
        "but keys (2, 3, 5) with queries (7, 5) came",
    ),
    "functions: matrix": (
        lambda: general_scores(torch.ones(7), STATES, matrix=torch.ones(5, 7)),
        "general_scores needs a matrix of shape (7, 5), but (5, 7) came",
    ),
    "functions: values": (
        lambda: attend(torch.ones(2, 5), STATES, torch.ones(2, 7, 5), MASK),
        "attend needs values (..., T, ·) for scores of shape (2, 3), but (2, 7, 5) came",
    ),
    "heads that do not divide": (lambda: split_heads(STATES, 2), "divisible by 2 heads, but (2, 3, 5) came"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_says_what_was_needed_what_came_and_where(name):
    call, sentence = WRONG[name]
    with pytest.raises(UserError, match=re.escape(sentence)):
        call()


def test_the_learned_context_of_the_catalogue_is_the_parameter_called_context():
    for score in ("dot", "scaled-dot", "general", "additive", "cosine"):
        assert (
            dict(mechanism(score, "softmax", "learned").build().named_parameters())["score.context"].dim()
            == 1
        )
    assert DotScore(H, query=H).context is None
