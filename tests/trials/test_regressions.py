"""LIME and Shapley values from random deletions: exact where all parts are read, else with true errors."""

import math
from itertools import product

import numpy as np
import pytest
import torch

from heedful.data.batches import Batch
from heedful.trials.erasure.random_deletions import Deletions, draw
from heedful.trials.rankings.regressions import kernel, lime_of, shapley_of, weighted_ridge

WORDS, TEXTS, PADDING = 7, 300, 2


@pytest.fixture(scope="module")
def game():
    """What is said of each set of words: pairs of words act together, and it saturates."""
    chance = torch.Generator().manual_seed(5)
    alone = torch.randn(WORDS, generator=chance, dtype=torch.float64)
    pairs = 0.6 * torch.randn(WORDS, WORDS, generator=chance, dtype=torch.float64).triu(1)
    return lambda there: torch.sigmoid(there @ alone + ((there @ pairs) * there).sum(-1))


def every_part(game):
    kept = torch.tensor(list(product([False, True], repeat=WORDS)))[None]
    return Deletions(np.zeros(1, dtype=np.int64), kept, game(kept.double()), kept.any(2), complete=True)


def drawn(game, count):
    mask = torch.arange(WORDS + PADDING).expand(TEXTS, -1) < WORDS
    batch = Batch(mask.long(), mask, labels=None, rows=np.arange(TEXTS))
    kept = draw(batch, np.arange(TEXTS), count)
    return Deletions(np.arange(TEXTS), kept, game(kept[..., :WORDS].double()), kept.any(2), False), mask


def by_definition(game):
    """The mean of what a word adds, over all orders of the words."""
    found = torch.zeros(WORDS, dtype=torch.float64)
    for word in range(WORDS):
        for others in product([0.0, 1.0], repeat=WORDS - 1):
            without = torch.tensor([*others[:word], 0.0, *others[word:]], dtype=torch.float64)
            size = int(without.sum())
            share = math.factorial(size) * math.factorial(WORDS - size - 1) / math.factorial(WORDS)
            added = without.clone()
            added[word] = 1
            found[word] += share * (game(added) - game(without))
    return found


def ends(game, texts):
    whole, nothing = (game(torch.full((WORDS,), x, dtype=torch.float64)) for x in (1.0, 0.0))
    return {"whole": whole.expand(texts), "nothing": nothing.expand(texts)}


def test_all_parts_of_a_text_give_its_exact_shapley_values(game):
    mask = torch.ones(1, WORDS, dtype=torch.bool)
    found = shapley_of(every_part(game), mask, **ends(game, 1))
    torch.testing.assert_close(found.scores[0], by_definition(game), atol=1e-6, rtol=0)
    assert (found.errors == 0).all()


def test_drawn_deletions_give_shapley_values_with_errors_that_are_true(game):
    deletions, mask = drawn(game, 160)
    found = shapley_of(deletions, mask, **ends(game, TEXTS))
    off = found.scores[:, :WORDS] - by_definition(game)
    assert off.mean(0).abs().max() < 0.004  # of a spread of 0.02 in each of 300 texts
    assert 0.9 < float((off.abs() <= 1.96 * found.errors[:, :WORDS]).double().mean()) < 0.98
    torch.testing.assert_close(
        found.scores.sum(1), ends(game, TEXTS)["whole"] - ends(game, TEXTS)["nothing"], atol=1e-9, rtol=0
    )
    assert (found.scores[:, WORDS:] == 0).all()
    assert (found.errors[:, WORDS:] == 0).all()


def test_lime_counts_deletions_as_it_would_draw_them(game):
    """Against the same regression on all sets, each counted by the chance that LIME draws it."""
    every = every_part(game)
    there = every.kept.double()
    stay = there.sum(2)
    inner = (stay > 0) & (stay < WORDS)
    ways = torch.tensor([math.comb(WORDS, int(size)) for size in stay[0]])
    chance = inner / (ways * (WORDS - 1.0))
    many = 1e6 * chance * kernel(stay / WORDS)  # so many draws that the ridge is nothing
    expected, _ = weighted_ridge(there, every.said, many)
    deletions, mask = drawn(game, 640)
    found = lime_of(deletions, mask)
    off = found.scores[:, :WORDS] - expected
    assert off.mean(0).abs().max() < 0.01
    assert 0.9 < float((off.abs() <= 1.96 * found.errors[:, :WORDS]).double().mean()) < 0.98
    assert (found.scores[:, WORDS:] == 0).all()


def test_a_linear_game_is_told_without_error():
    effects = torch.linspace(-0.1, 0.1, WORDS, dtype=torch.float64)
    deletions, mask = drawn(lambda there: 0.5 + there @ effects, 80)
    nothing = torch.full((TEXTS,), 0.5, dtype=torch.float64)
    found = shapley_of(deletions, mask, whole=nothing + effects.sum(), nothing=nothing)
    torch.testing.assert_close(found.scores[:, :WORDS], effects.expand(TEXTS, -1), atol=1e-7, rtol=0)
    assert found.errors.max() < 1e-6
