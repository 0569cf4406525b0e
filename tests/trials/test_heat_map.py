"""Heat-map skill: exact effects by brute force, unbiased estimates, and what a map of the truth reaches."""

import itertools

import numpy as np
import pytest
import torch
from word_subjects import CLOSED, batch_for, many_texts, model

from heedful.trials.erasure import heat_map
from heedful.trials.erasure.heat_map import (
    LIVE,
    SEEN,
    SPREAD,
    TOLD,
    Effects,
    effects_of,
    first_on,
    paint_on,
    painted,
)
from heedful.trials.erasure.random_deletions import CHANCES, Deletions, draw, read_deletions
from heedful.trials.erasure.rereading import Reader


def brute_force(function, words):
    """φ of a function of which words (n,) stay: each subset counted by its chance at each p."""
    top, bottom = np.zeros(words), 0.0
    for p in CHANCES:
        subsets = list(itertools.product([0, 1], repeat=words))
        chance = np.array([np.prod([p if bit else 1 - p for bit in one]) for one in subsets])
        f = np.array([function(np.array(one)) for one in subsets])
        top += chance * (f - (chance * f).sum()) @ (np.array(subsets) - p)
        bottom += p * (1 - p)
    return top / bottom


def all_parts(function, words):
    """The deletions of one text in all its parts."""
    kept = torch.tensor(list(itertools.product([False, True], repeat=words)))[None]
    said = torch.tensor([function(one.numpy().astype(int)) for one in kept[0]], dtype=torch.float64)[None]
    return Deletions(np.array([0]), kept, said, said < 0.5, True)


def sampled(function, words, count, *, texts=1, seed=0):
    """Random deletions of texts of distinct words, as an audit draws them."""
    text = " ".join(f"w{number % 29}" for number in range(words))
    batch = batch_for(model("dp"), [text] * texts)
    kept = draw(batch, np.arange(texts), count, seed=seed)
    said = torch.from_numpy(function(kept.numpy().astype(float)))
    return Deletions(np.arange(texts), kept, said, said < 0.5, False), batch.mask


def linear(weights):
    return lambda kept: 0.5 + kept @ weights


@pytest.mark.parametrize(
    "function",
    [
        lambda one: 0.3 + 0.2 * one[0] - 0.1 * one[2],
        lambda one: 0.2 + 0.6 * (one[0] or one[1]),  # either suffices
        lambda one: 0.2 + 0.6 * (one[0] and one[1]),  # both are needed
        lambda one: 1 / (1 + np.exp(-(2 * one[0] - one[1] + one[2] * one[3]))),
    ],
)
def test_effects_of_a_short_text_are_those_of_brute_force(function):
    found = effects_of(all_parts(function, 5), torch.ones(1, 5, dtype=torch.bool))
    assert found.mean[0].numpy() == pytest.approx(brute_force(function, 5), abs=1e-12)
    assert found.size.item() == pytest.approx(np.linalg.norm(brute_force(function, 5)))
    assert found.square.item() == pytest.approx(found.size.item() ** 2)
    assert found.error.item() == 0


def test_of_a_linear_model_the_effects_are_its_weights_and_explain_all_of_it():
    weights = np.array([0.2, -0.1, 0.05, 0.0, 0.1])
    found = effects_of(all_parts(linear(weights), 5), torch.ones(1, 5, dtype=torch.bool))
    assert found.mean[0].numpy() == pytest.approx(weights, abs=1e-12)
    assert SPREAD * found.square.item() == pytest.approx(found.variance.item())
    assert pytest.approx(0.17) == SPREAD


def test_redundant_words_share_their_effect_and_each_counts():
    either = effects_of(
        all_parts(lambda one: float(one[:3].any()), 5), torch.ones(1, 5, dtype=torch.bool)
    ).mean[0]
    assert either[0] > 0.1
    assert either[:3].tolist() == pytest.approx([either[0].item()] * 3)
    assert either[3:].tolist() == [0, 0]


def test_what_only_pairs_do_is_no_effect_of_a_word_and_rounding_is_none():
    pairs = all_parts(lambda one: 0.5 + 0.4 * (2 * one[0] - 1) * (2 * one[1] - 1), 5)
    found = effects_of(pairs, torch.ones(1, 5, dtype=torch.bool))
    assert found.mean.abs().max() == 0
    assert found.variance.item() > 0.05
    assert not found.told_apart.any()


@pytest.mark.parametrize("name", CLOSED)
def test_the_closed_form_says_what_reading_again_says(name):
    subject, texts = model(name), many_texts(11, 13)
    found = []
    for closed in (True, False):
        reader = Reader(subject, batch_for(subject, texts), closed=closed)
        mask = reader.batch.mask
        found.append([effects_of(one, mask[torch.from_numpy(one.rows)]) for one in read_deletions(reader)])
    for one, other in zip(*found, strict=True):
        assert one.mean.numpy() == pytest.approx(other.mean.numpy(), abs=1e-9)
        assert one.size.numpy() == pytest.approx(other.size.numpy(), abs=1e-9)


def test_neither_company_nor_padding_nor_order_changes_effects():
    subject, texts = model("bigru"), many_texts(7, 17, seed=2)

    def by_text(order):
        batch = subject.encode([texts[row] for row in order])
        batch = batch.__class__(**{**vars(batch), "rows": np.array(order)})
        reader, found = Reader(subject, batch), {}
        for one in read_deletions(reader):
            effects = effects_of(one, batch.mask[torch.from_numpy(one.rows)])
            for place, row in enumerate(one.rows):
                words = int(batch.mask[row].sum())
                found[order[row]] = effects.mean[place, :words].numpy(), effects.error[place].item()
        return found

    together, turned, alone = by_text(range(7)), by_text([6, 0, 3, 2, 5, 4, 1]), by_text([3])
    for other in (turned, alone):
        for row, (effects, error) in other.items():
            assert effects == pytest.approx(together[row][0], abs=1e-9)
            assert error == pytest.approx(together[row][1], abs=1e-9)


WEIGHTS = np.array([0.2, 0.15, -0.1, 0.02, 0.02, 0.01, 0, 0, 0, 0, 0])


def noisy(kept):
    """Eleven words, some of which act together."""
    return 0.4 + kept @ WEIGHTS + 0.2 * kept[..., 3] * kept[..., 4] - 0.1 * kept[..., 5] * kept[..., 6]


def truth():
    return brute_force(noisy, 11)


def test_estimates_are_unbiased():
    mask = torch.ones(1, 11, dtype=torch.bool)
    parts = [effects_of(sampled(noisy, 11, 80, seed=seed)[0], mask) for seed in range(400)]
    own = truth()
    mean = torch.stack([one.mean[0] for one in parts]).numpy()
    error = mean.std(0) / np.sqrt(400)
    assert (np.abs(mean.mean(0) - own) < 4 * error).all()
    square = np.array([one.square.item() for one in parts])
    assert abs(square.mean() - own @ own) < 4 * square.std() / 20
    claimed = np.mean([one.error.item() for one in parts])
    assert 1 < claimed / mean.std(0).mean() < 2  # mirrored pairs are better than it says
    each = np.array([one.variance.item() for one in parts])
    exact = effects_of(all_parts(noisy, 11), mask).variance.item()
    assert abs(each.mean() - exact) < 4 * each.std() / 20


def skill_of(effects, sizes, mask, *, signed=False):
    blank = mask.double()
    told = effects.told_signed if signed else effects.told
    top = told(sizes, mask) - told(blank, mask)
    return (top.sum() / (effects.size - told(blank, mask)).sum()).item()


def test_the_true_map_has_skill_1_a_blank_one_0_and_a_peaked_wrong_one_less():
    found, mask = sampled(noisy, 11, 640, texts=40)
    effects = effects_of(found, mask)
    own = torch.from_numpy(truth()).expand(40, -1)
    assert skill_of(effects, own, mask) == pytest.approx(1, abs=0.03)
    assert skill_of(effects, own.abs(), mask) == pytest.approx(1, abs=0.03)  # signs are lent
    assert skill_of(effects, own, mask, signed=True) == pytest.approx(1, abs=0.03)
    assert skill_of(effects, -own, mask, signed=True) < -0.5
    assert skill_of(effects, torch.ones(40, 11), mask) == 0
    assert skill_of(effects, torch.full((40, 11), 7.0), mask) == pytest.approx(0, abs=1e-12)
    assert skill_of(effects, torch.zeros(40, 11), mask) == 0  # nothing painted is a blank map
    peaked = torch.zeros(40, 11)
    peaked[:, 9] = 1
    assert skill_of(effects, peaked, mask) < -0.5


def test_a_blank_map_is_lent_signs_too():
    weights = np.array([0.1, -0.1, 0.1, -0.1, 0.0])
    effects = effects_of(all_parts(linear(weights), 5), torch.ones(1, 5, dtype=torch.bool))
    mask = torch.ones(1, 5, dtype=torch.bool)
    assert effects.told(mask.double(), mask).item() == pytest.approx(0.4 / np.sqrt(5))
    assert effects.told_signed(mask.double(), mask).item() == pytest.approx(0, abs=1e-12)


def test_fewer_deletions_never_make_a_right_map_read_better_nor_more_words_live():
    own = torch.from_numpy(truth())
    skills, live = [], []
    for count in (80, 160, 640):
        mask = torch.ones(1, 11, dtype=torch.bool)
        tried = [effects_of(sampled(noisy, 11, count, seed=seed)[0], mask) for seed in range(150)]
        tops = [(one.told(own[None], mask) - one.told(mask.double(), mask)).item() for one in tried]
        rest = [(one.size - one.told(mask.double(), mask)).item() for one in tried]
        skills.append(sum(tops) / sum(rest))
        live.append(np.mean([one.live.sum().item() for one in tried]))
    assert skills[0] < skills[1] + 0.03
    assert skills[1] < skills[2] + 0.03
    assert skills[2] == pytest.approx(1, abs=0.03)
    exact = effects_of(all_parts(noisy, 11), mask).live.sum().item()
    assert live[0] <= live[1] + 0.1
    assert live[1] <= live[2] + 0.1
    assert live[2] <= exact + 0.1


# What a reader sees


def by_hand(mean, error):
    mean = torch.tensor(mean, dtype=torch.float64)
    size = mean.norm(dim=1)
    return Effects(
        mean[None], mean[None], size, size.square(), size, torch.tensor(error, dtype=torch.float64)
    )


def test_texts_are_told_apart_from_five_errors():
    found = by_hand([[0.625, 0.1], [0.6249, 0.1], [0.0, 0.0], [-0.625, 0.1]], [0.125, 0.125, 0.0, 0.125])
    assert found.told_apart.tolist() == [True, False, False, True]
    assert (TOLD, LIVE, SEEN) == (5, 1 / 4, 1 / 5)


def test_live_words_matter_a_quarter_as_much_as_the_strongest_and_an_error_more():
    found = by_hand([[0.75, 0.1875, -0.1875, 0.1874, 0.0]], [0.0])
    assert found.live.tolist() == [[True, True, True, False, False]]
    wide = by_hand([[0.75, 0.25, -0.2499, 0.1875, 0.0]], [0.0625])
    assert wide.live.tolist() == [[True, True, False, False, False]]


def test_a_reader_sees_a_fifth_of_the_strongest():
    assert painted(torch.tensor([[1.0, -0.2, 0.199, 0.0]])).tolist() == [[1.0, pytest.approx(0.2), 0, 0]]


def test_paint_on_live_words_is_a_share_of_what_is_seen():
    found = by_hand([[0.75, 0.5, 0.0, 0.0], [0.75, 0, 0, 0]], [0.0, 0.0])
    sizes = torch.tensor([[0.5, -0.25, 0.25, 0.0625], [0.0, 0, 0, 0]])
    assert paint_on(found.live, sizes).tolist() == [0.75, 0]


def test_the_strongest_word_is_live_or_the_share_of_those_that_tie():
    found = by_hand([[0.75, 0.5, 0.0, 0.0]] * 4, [0.0] * 4)
    mask = torch.tensor([[True, True, True, False]] * 4)
    sizes = torch.tensor([[0.1, 0.2, 0.1, 9.0], [0.1, 0.1, -0.5, 0], [0.5, 0, 0.5, 0], [0.0, 0, 0, 0]])
    assert first_on(found.live, sizes, mask).tolist() == pytest.approx([1, 0, 0.5, 2 / 3])


def test_paint_against_the_decision_lies_on_words_that_surely_speak_against_it():
    found = by_hand([[0.5, -0.26, -0.25, 0.0]], [0.125])
    assert found.against(torch.tensor([[0.5, 0.25, 0.25, 0.0]])).tolist() == [0.25]


def test_padding_is_no_word():
    effects = by_hand([[0.5, 0.25, 0.0]], [0.0])
    mask = torch.tensor([[True, True, False]])
    junk = torch.tensor([[2.0, 1.0, 50.0]])
    assert effects.told(junk, mask).item() == pytest.approx((0.5 * 2 + 0.25) / np.sqrt(5))
    assert effects.told(mask.double(), mask).item() == pytest.approx(0.75 / np.sqrt(2))


def test_an_unknown_map_stays_unknown():
    effects = by_hand([[0.5, 0.25], [0.5, 0.25]], [0.0, 0.0])
    mask = torch.ones(2, 2, dtype=torch.bool)
    sizes = torch.tensor([[torch.nan, torch.nan], [1.0, 0.0]])
    for found in (effects.told(sizes, mask), effects.told_signed(sizes, mask)):
        assert found.isnan().tolist() == [True, False]


def test_many_texts_are_estimated_in_parts_alike(monkeypatch):
    found, mask = sampled(noisy, 11, 80, texts=5)
    whole = effects_of(found, mask)
    monkeypatch.setattr(heat_map, "GRAM", 4 * 11 * 11 * 2)
    parts = effects_of(found, mask)
    for name in ("guess", "effects", "size", "square", "variance", "error"):
        assert torch.allclose(getattr(whole, name), getattr(parts, name), atol=1e-12), name


def test_what_a_map_of_the_effects_reaches_grows_with_the_deletions():
    reached = []
    for count in (80, 640):
        found, mask = sampled(noisy, 11, count, texts=60)
        effects = effects_of(found, mask)
        blank = effects.told(mask.double(), mask)
        reached.append(((effects.limit() - blank).sum() / (effects.size - blank).sum()).item())
    assert reached[0] < reached[1]
    assert 0.9 < reached[1] < 1.02


# Texts of more words than deletions


def many_words(words, count, *, texts, seed):
    """Deletions of texts, one of them shorter, of which a tenth of the words do something."""
    generator = torch.Generator().manual_seed(seed)
    found, mask = sampled(lambda kept: kept.sum(-1), words, count, texts=texts, seed=seed)
    mask[0, -words // 10 :] = False
    effects = torch.randn(texts, words, generator=generator, dtype=torch.float64)
    effects *= (torch.rand(texts, words, generator=generator) < 0.1) / words**0.5
    kept = found.kept & mask[:, None]
    noise = torch.randn(texts, count, generator=generator, dtype=torch.float64)
    said = 0.5 + 0.5 * (kept.double() @ effects[..., None])[..., 0] + 0.01 * noise
    return Deletions(found.rows, kept, said, said < 0.5, False), mask


@pytest.mark.parametrize(("words", "count"), [(300, 160), (161, 160), (60, 320)])
def test_both_ways_to_write_the_ridge_say_the_same(monkeypatch, words, count):
    found, mask = many_words(words, count, texts=2, seed=words)
    own = effects_of(found, mask)
    by_words, by_rows = heat_map._ridge, heat_map._ridge_by_rows
    taken = []

    def other_way(rows, answers, penalty):
        """What is solved by rows, by words: from products that are made here."""
        taken.append("rows")
        parts = []
        for part in range(heat_map.PARTS):
            out = [one for one in range(heat_map.PARTS) if one != part]
            z, f = (x[:, out].flatten(1, 2).unflatten(1, (-1, len(CHANCES))) for x in (rows, answers))
            z, f = (x - x.mean(1, keepdim=True) for x in (z, f))
            gram = torch.einsum("brpt,brpu->btu", z, z)[:, None]
            products = torch.einsum("brpt,brp->bt", z, f)[:, None]
            parts.append(by_words(gram, products, penalty[:, [part]]))
        return torch.cat(parts, 1)

    monkeypatch.setattr(heat_map, "_ridge_by_rows", other_way)
    other = effects_of(found, mask)
    assert taken == (["rows"] if words > count else [])
    if not taken:  # and by rows where words are few
        z = torch.randn(2, 4, count // 4, words, dtype=torch.float64)
        f, penalty = torch.randn(2, 4, count // 4, dtype=torch.float64), torch.rand(2, 4).double() + 1
        torch.testing.assert_close(by_rows(z, f, penalty), other_way(z, f, penalty), atol=1e-12, rtol=0)
    assert own.guess.abs().max() > 1e-4
    for name in ("guess", "effects", "size", "square", "variance", "error"):
        torch.testing.assert_close(getattr(own, name), getattr(other, name), atol=1e-12, rtol=0)
