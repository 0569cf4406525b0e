"""LIME and Shapley values from random deletions: exact where all parts are read, else with true errors."""

import math
from itertools import product

import numpy as np
import pytest
import torch

from heedful.data.batches import Batch
from heedful.trials.erasure.heat_map import effects_of
from heedful.trials.erasure.random_deletions import CHANCES, PARTS, Deletions, draw
from heedful.trials.rankings import regressions
from heedful.trials.rankings.regressions import (
    Regressed,
    kernel,
    lime_apart,
    lime_of,
    shapley_apart,
    shapley_of,
    weighted_ridge,
)

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


def without_quarter(found, quarter):
    """The deletions outside a quarter, as if no others had been read."""

    def left(values):
        dealt = values.reshape(len(values), -1, PARTS, len(CHANCES), *values.shape[2:])
        return dealt[:, :, [part for part in range(PARTS) if part != quarter]].flatten(1, 3)

    return Deletions(found.rows, left(found.kept), left(found.said), left(found.lost), complete=False)


def test_what_judges_a_quarter_was_fitted_to_the_others_alone(game, monkeypatch):
    found, mask = drawn(game, 160)
    own = ends(game, TEXTS)
    lime, shapley = lime_apart(found, mask), shapley_apart(found, mask, **own)
    assert lime.shape == shapley.shape == (PARTS, TEXTS, WORDS + PADDING)
    # Errors need whole quarters; what is compared here are the scores.
    monkeypatch.setattr(regressions, "_with_errors", lambda of, scores, *_: Regressed(scores, scores))
    for quarter in range(PARTS):
        rest = without_quarter(found, quarter)
        torch.testing.assert_close(lime[quarter], lime_of(rest, mask).scores * mask)
        expected = shapley_of(rest, mask, **own).scores * mask
        torch.testing.assert_close(shapley[quarter], expected, atol=1e-6, rtol=1e-6)


def test_where_all_parts_were_read_nothing_is_left_out(game):
    mask = torch.ones(1, WORDS, dtype=torch.bool)
    found, own = every_part(game), ends(game, 1)
    torch.testing.assert_close(lime_apart(found, mask)[0], lime_of(found, mask).scores)
    torch.testing.assert_close(shapley_apart(found, mask, **own)[0], shapley_of(found, mask, **own).scores)


def test_of_words_that_do_nothing_a_fit_to_noise_predicts_nothing(game):
    found, mask = drawn(game, 80)
    noise = torch.rand(found.said.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    found = Deletions(found.rows, found.kept, noise, found.lost, complete=False)
    effects = effects_of(found, mask)
    flattered = effects.told_signed(lime_of(found, mask).scores, mask)
    honest = effects.told_fitted(lime_apart(found, mask), mask, signed=True)
    assert flattered.mean() > 10 * flattered.std() / TEXTS**0.5
    assert honest.mean().abs() < 3 * honest.std() / TEXTS**0.5
