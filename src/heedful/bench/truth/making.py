"""From a recipe to a model with a label that is known before any audit."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.bench.truth import trained, transformed
from heedful.bench.truth.built import Build, build
from heedful.bench.truth.catalogue import Recipe
from heedful.bench.truth.labels import Aim, Use, aim_of, attention_maps, use_of
from heedful.bench.truth.planting import Planted, plant
from heedful.models.subject import Subject

TRIES = 2
POOL, DEAR_POOL = 1200, 400  # texts, at least
CHEAP = ("dot", "additive")  # architectures whose deletions are products


@dataclass(frozen=True, eq=False)
class Made:
    """A model whose deciding words are confirmed, or the last try at one that are not."""

    recipe: Recipe
    subject: Subject
    planted: Planted  # the texts that it may be audited on
    deciding: NDArray[np.bool_]  # (N,T) words that decide
    use: Use
    aim: Aim | None  # None where the use test fails
    tries: int


def make(recipe: Recipe) -> Made:
    """Make the model; where the use test does not confirm its deciding words, once more with another seed."""
    for number in range(TRIES):
        found = _make(recipe, seed_of(recipe, number + 1), number + 1)
        if found.use.confirmed:
            break
    return found


def seed_of(recipe: Recipe, tries: int) -> int:
    """The seed of this try, the first being 1."""
    return recipe.seed + 1_000_003 * (tries - 1)


def _make(recipe: Recipe, seed: int, tries: int) -> Made:
    planted = plant(recipe.task, pool_size(recipe), seed=seed)
    if isinstance(recipe.how, Build):
        subject = build(recipe.how, planted, seed=seed)
    else:
        train = transformed.train if recipe.architecture in transformed.ARCHITECTURES else trained.train
        subject = train(recipe.architecture, planted, recipe.how, seed=seed)
    use, deciding = use_of(subject, planted)
    aim = None
    if use.confirmed:
        aim = aim_of(attention_maps(subject, planted.texts), planted, deciding, seed=seed)
    return Made(recipe, subject, planted, deciding, use, aim, tries)


def pool_size(recipe: Recipe) -> int:
    """How many texts a model may be audited on: twice forty of the rarest class, at least."""
    task = recipe.task
    rarest = int(80 * (task.ratio + task.classes - 1))
    least = POOL if recipe.architecture in CHEAP else DEAR_POOL
    return least if recipe.architecture == "minilm" else max(least, rarest)
