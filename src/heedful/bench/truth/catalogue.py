"""The models of the truth bench: seeded recipes in two parts that share no architecture on the same corpus.

Thresholds are fitted on one part and published on the other. Architectures that the fitting part has are held
out on other corpora; some architectures are held out altogether.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from heedful.bench.truth.built import Build
from heedful.bench.truth.drawing import draw_build, draw_lesson
from heedful.bench.truth.labels import PART, RIGHT, WRONG
from heedful.bench.truth.learning import Lesson
from heedful.bench.truth.planting import Task
from heedful.errors import choose_from

PARTS = ("fit", "held-out")
SEED = 14
VERSION = 5  # of making, labelling and measuring: rows of another are made anew
WANTED = {RIGHT: 0.38, PART: 0.24, WRONG: 0.38}
FITTED_CORPORA, OTHER_CORPORA = ("generated", "sst"), ("agnews", "20news-1")
ALL_CORPORA = FITTED_CORPORA + OTHER_CORPORA
BUILT, TRAINED = "built", "trained"


@dataclass(frozen=True)
class Group:
    """So many recipes of one architecture."""

    kind: str
    architecture: str
    count: int
    corpora: tuple[str, ...]


CATALOGUE: dict[str, tuple[Group, ...]] = {
    "fit": (
        Group(BUILT, "dot", 120, FITTED_CORPORA),
        Group(BUILT, "additive", 110, FITTED_CORPORA),
        Group(BUILT, "mlp", 90, FITTED_CORPORA),
        Group(TRAINED, "dot", 18, FITTED_CORPORA),
        Group(TRAINED, "additive", 18, FITTED_CORPORA),
        Group(TRAINED, "conv", 24, FITTED_CORPORA),
        Group(TRAINED, "bilstm", 24, FITTED_CORPORA),
        Group(TRAINED, "bert", 16, FITTED_CORPORA),
    ),
    "held-out": (
        Group(BUILT, "dot", 170, OTHER_CORPORA),
        Group(BUILT, "additive", 160, OTHER_CORPORA),
        Group(BUILT, "mlp", 110, OTHER_CORPORA),
        Group(BUILT, "multihead", 110, ALL_CORPORA),
        Group(BUILT, "hierarchical", 110, ALL_CORPORA),
        Group(TRAINED, "dot", 24, OTHER_CORPORA),
        Group(TRAINED, "additive", 24, OTHER_CORPORA),
        Group(TRAINED, "conv", 30, OTHER_CORPORA),
        Group(TRAINED, "bilstm", 30, OTHER_CORPORA),
        Group(TRAINED, "lstm", 32, ALL_CORPORA),
        Group(TRAINED, "hierarchical", 28, ALL_CORPORA),
        Group(TRAINED, "mlp", 28, OTHER_CORPORA),
        Group(TRAINED, "multihead", 28, ALL_CORPORA),
        Group(TRAINED, "bert", 26, OTHER_CORPORA),
        Group(TRAINED, "decoder", 26, ALL_CORPORA),
        Group(TRAINED, "minilm", 24, ALL_CORPORA),
    ),
}
# What CI can afford: a few of each that trains in a second or two, on generated texts.
QUICK = (
    Group(BUILT, "dot", 6, ("generated",)),
    Group(BUILT, "additive", 3, ("generated",)),
    Group(BUILT, "mlp", 3, ("generated",)),
    Group(BUILT, "multihead", 3, ("generated",)),
    Group(BUILT, "hierarchical", 3, ("generated",)),
    Group(TRAINED, "dot", 1, ("generated",)),
    Group(TRAINED, "conv", 1, ("generated",)),
)


@dataclass(frozen=True)
class Recipe:
    """One model: what is planted, where its attention looks, and the label that it should get."""

    key: str
    part: str
    kind: str
    architecture: str
    want: str
    way: str
    seed: int
    task: Task
    how: Build | Lesson

    @cached_property
    def digest(self) -> str:
        """Sixteen hexadecimal digits of everything that it says, and of how it is made."""
        return hashlib.blake2b(f"{VERSION} {self!r}".encode(), digest_size=8).hexdigest()


def recipes(part: str = "all", *, quick: bool = False, seed: int = SEED) -> list[Recipe]:
    """The recipes of a part, one seed always the same; all kinds mixed: whoever stops has some of each."""
    choose_from("part of the truth bench", part, (*PARTS, "all"))
    groups: dict[str, Sequence[Group]] = {"held-out": QUICK} if quick else dict(CATALOGUE)
    found = [
        _recipe(name, group, number, seed)
        for name, members in groups.items()
        if part in (name, "all") or quick
        for group in members
        for number in range(group.count)
    ]
    return sorted(found, key=lambda one: one.seed)


def _recipe(part: str, group: Group, number: int, chance: int) -> Recipe:
    key = f"{part}-{group.kind}-{group.architecture}-{number:03d}"
    digits = hashlib.blake2b(f"{chance} {key}".encode(), digest_size=4).digest()
    seed = int.from_bytes(digits) % 2**31
    draw = np.random.default_rng(seed)
    # In turn, so that each architecture has each label and each corpus.
    want = _in_turn(number)
    corpus = group.corpora[number % len(group.corpora)]
    drawn = draw_build if group.kind == BUILT else draw_lesson
    task, how, way = drawn(draw, group.architecture, corpus, want)
    return Recipe(key, part, group.kind, group.architecture, want, way, seed, task, how)


def _in_turn(number: int) -> str:
    """Wanted labels in a fixed order with about their shares."""
    place = (number * 0.6180339887 + 0.5) % 1  # spread evenly, and out of step with the corpora
    return RIGHT if place < WANTED[RIGHT] else PART if place < WANTED[RIGHT] + WANTED[PART] else WRONG
