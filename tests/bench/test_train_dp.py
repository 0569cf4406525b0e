"""The ways of training that are compared are the same mathematics, and their measurements are ratios."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from heedful.bench.train_dp import WAYS, Recipe, measure
from heedful.errors import UserError

VOCABULARY = 31


@dataclass
class Texts:
    ids: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray


def texts(count, *, classes=2, seed=0):
    """Texts in which words 1–5 are of class 0 and words 6–10 of class 1; the rest say nothing."""
    draw = np.random.default_rng(seed)
    lengths = draw.integers(2, 12, count)
    labels = draw.integers(0, classes, count)
    ids = [
        np.append(draw.integers(11, VOCABULARY, n - 1), 5 * y + draw.integers(1, 6))
        for n, y in zip(lengths, labels, strict=True)
    ]
    return Texts(np.concatenate(ids).astype(np.int32), np.concatenate([[0], np.cumsum(lengths)]), labels)


def test_without_dropout_every_way_takes_the_same_steps():
    recipe, train = Recipe(width=7, dropout=0.0, scale=2.0, rate_decay=0.1), texts(53)
    ends = {}
    for name, way in WAYS.items():
        made = way(train, vocabulary=VOCABULARY, recipe=recipe, seed=3)
        start = made.embedding.clone()
        for rows in (np.arange(17), np.arange(11, 40), np.arange(52, 30, -1)):
            made.learn(rows)
        ends[name] = made.embedding, made.context, made.head
        assert (made.embedding != start).any()
    for name, parts in ends.items():
        for part, usual in zip(parts, ends["usual"], strict=True):
            torch.testing.assert_close(
                part.detach(), usual.detach(), rtol=1e-4, atol=1e-5, msg=f"{name} differs"
            )


@pytest.mark.parametrize("name", WAYS)
def test_an_epoch_gives_every_text_once(name):
    made = WAYS[name](texts(53), vocabulary=VOCABULARY, recipe=Recipe(width=7, batch=10), seed=3)
    assert sorted(np.concatenate(made.plan()).tolist()) == list(range(53))


@pytest.mark.parametrize("name", WAYS)
def test_every_way_learns_what_there_is_to_learn(name):
    torch.manual_seed(1)
    recipe, test = Recipe(width=11, batch=20, rate=0.1), texts(103, seed=2)
    made = WAYS[name](texts(307), vocabulary=VOCABULARY, recipe=recipe, seed=1)
    for _ in range(8):
        made.epoch()
    bounds = zip(test.offsets, test.offsets[1:], strict=False)
    rows = [made.embedding.detach()[test.ids[start:end]] for start, end in bounds]
    attended = [(row @ made.context.detach() / recipe.scale).softmax(0) @ row for row in rows]
    decided = np.array([float(one @ made.head.detach()) > 0 for one in attended])
    assert (decided == test.labels).mean() > 0.95


def test_measuring_gives_each_way_a_ratio_to_the_usual_one_and_leaves_the_threads_alone():
    before = torch.get_num_threads()
    found = measure(texts(29), vocabulary=VOCABULARY, rounds=1, recipe=Recipe(width=5, batch=10))
    assert [timing.way for timing in found] == list(WAYS)
    assert found[0].ratio == 1
    assert all(timing.ratio == pytest.approx(found[0].seconds / timing.seconds) for timing in found)
    assert torch.get_num_threads() == before


def test_a_corpus_with_more_classes_is_refused():
    with pytest.raises(UserError, match="two classes"):
        measure(texts(29, classes=3), vocabulary=VOCABULARY)
