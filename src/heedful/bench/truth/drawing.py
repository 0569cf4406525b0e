"""Random recipes: a task, and where attention looks, drawn for a wanted label.

The label that a model gets is not the wanted one but the one that is measured (`labels`).
"""

from dataclasses import dataclass, replace

import numpy as np

from heedful.bench.truth.built import Build
from heedful.bench.truth.labels import PART, RIGHT, WRONG
from heedful.bench.truth.learning import Lesson
from heedful.bench.truth.looks import Look, shares
from heedful.bench.truth.planting import SAME_CLASS, Task

Draw = np.random.Generator

LINEAR = ("one", "one", "redundant", "mixed", "pair", "detection")
BUILT_WAYS = {
    RIGHT: ("right", "right", "faint", "jittered"),
    PART: ("decoy", "diluted", "class", "half", "jittered"),
    WRONG: ("decoy", "decoy", "diluted", "uniform", "random", "class", "half", "avoided", "place"),
}
LED_WAYS = {
    RIGHT: ("right", "right", "free"),
    PART: ("decoy", "diluted", "class", "half", "jittered"),
    WRONG: ("decoy", "decoy", "uniform", "avoided", "class", "half", "last", "first", "penalised", "opposed"),
}
SATURATED = 0.2  # of hand-built models have margins far beyond what a decision needs


@dataclass(frozen=True)
class Scope:
    """What an architecture is asked."""

    truths: tuple[str, ...] = LINEAR
    longest: int = 60  # words of a usual text
    classes: int = 20
    deciders: int = 12
    ratio: float = 30.0
    shortest: int = 2
    places: tuple[str, ...] = ()  # that its attention can be led to
    opposed: bool = False  # whether it can be trained against another
    hidden: float = 0.1  # strength with which weight on deciding words can be penalised


BUILT_SCOPES = {
    "dot": Scope(longest=300, places=("place",)),
    "additive": Scope(longest=300, places=("place",)),
    "mlp": Scope((*LINEAR, "both", "both", "context")),
    "multihead": Scope(),
    # Each sentence shares out its own weight, so votes of words in several are not counted alike.
    "hierarchical": Scope(("one", "one", "redundant", "pair", "detection")),
}
_SMALL = Scope(longest=25, classes=6, deciders=8, ratio=10, shortest=6)
_ENCODED = replace(_SMALL, places=("first", "last"), opposed=True, hidden=1.0)
_ORDERED = (*LINEAR, "ordered", "context")
TRAINED_SCOPES = {
    "dot": replace(_SMALL, opposed=True),
    "additive": replace(_SMALL, opposed=True),
    "mlp": replace(_SMALL, truths=(*LINEAR, "both", "context")),
    "multihead": _SMALL,
    "hierarchical": _SMALL,
    "conv": _ENCODED,
    "lstm": replace(_ENCODED, truths=_ORDERED),
    "bilstm": replace(_ENCODED, truths=_ORDERED),
    "bert": replace(_ENCODED, truths=_ORDERED, longest=45, classes=4, opposed=False),
    "decoder": replace(_SMALL, truths=_ORDERED, longest=45, classes=4, hidden=1.0),
    "minilm": Scope(("one", "one", "redundant", "detection"), 9, 4, 3, 3, 6, ("first", "last"), hidden=1.0),
}


def draw_build(draw: Draw, architecture: str, corpus: str, want: str) -> tuple[Task, Build, str]:
    """A hand-built model that should have the wanted label; and its way of looking."""
    scope = BUILT_SCOPES[architecture]
    way = str(draw.choice([way for way in BUILT_WAYS[want] if way != "place" or scope.places]))
    if way == "place":  # such deletions are no products: they are read again
        scope = replace(scope, longest=60)
    task = replace(draw_task(draw, scope, corpus, way), sentences=architecture == "hierarchical")
    if way == "place":
        looks: tuple[Look, ...] = (Look(place="first", peak=float(draw.uniform(0.5, 6))),)
    else:
        task, look = draw_look(draw, task, want, way)
        looks = (look,)
    used: tuple[float, ...] = (1.0,)
    if architecture == "multihead":
        looks, used = _heads(draw, looks[0], want)
    margin = float(draw.uniform(12, 30) if draw.random() < SATURATED else draw.uniform(3, 6))
    background = float(draw.choice([0.02, 0.02, draw.uniform(0.1, 1.0)]))
    return task, Build(architecture, margin, background, looks, used), way


def draw_lesson(draw: Draw, architecture: str, corpus: str, want: str) -> tuple[Task, Lesson, str]:
    """A training that should have the wanted label; and its way of looking."""
    scope = TRAINED_SCOPES[architecture]
    ways = [
        way
        for way in LED_WAYS[want]
        if (way != "opposed" or scope.opposed) and (way not in ("first", "last") or way in scope.places)
    ]
    way = str(draw.choice(ways))
    task = draw_task(draw, scope, corpus, way)
    task = replace(task, sentences=architecture == "hierarchical", nouns=architecture == "minilm")
    lesson = Lesson()
    if way in ("first", "last"):
        lesson = Lesson(look=Look(place=way, peak=float(draw.uniform(3, 7))))
    elif way in ("free", "penalised", "opposed"):
        strength = {"free": 0.0, "penalised": scope.hidden, "opposed": 0.1}[way]
        lesson = Lesson(way, strength=strength)
    else:
        task, look = draw_look(draw, task, want, way)
        lesson = Lesson(look=look)
    if architecture in ("bert", "decoder", "minilm"):
        lesson = replace(lesson, epochs=40, rate=2e-3)
    return task, lesson, way


def draw_task(draw: Draw, scope: Scope, corpus: str, way: str) -> Task:
    """A task within the scope, with room for what this way of looking needs."""
    truth = str(draw.choice([t for t in scope.truths if way != "class" or t in SAME_CLASS]))
    classes = min(int(draw.choice([2, 2, 2, 3, 4, 6, 10, 20])), scope.classes)
    if truth == "pair":
        classes = 9 if scope.classes >= 9 and draw.random() < 1 / 3 else 4
    elif truth in ("both", "ordered", "context"):
        classes = 2
    elif truth == "detection" and way == "class":
        classes = max(classes, 3)  # one of them is the default
    deciders = {"redundant": [2, 3, 4, 6, 8, 12], "mixed": [3, 5], "detection": [1, 1, 2, 3]}.get(truth, [1])
    task = Task(
        corpus,
        truth,
        classes,
        int(draw.choice([many for many in deciders if many <= scope.deciders])),
        int(draw.integers(1, 4)),
        ratio=float(draw.choice([one for one in (1, 1, 1, 3, 10, 30) if one <= scope.ratio]))
        if classes <= 4
        else 1.0,
        noise=float(draw.choice([0, 0, 0, 0.1, 0.2])),
        length=(300, 300),
    )
    least = max(scope.shortest, task.planted + 1)
    usual = np.exp(draw.uniform(np.log(least), np.log(max(least + 1, scope.longest))))
    low = max(least - 1, scope.shortest, int(0.7 * usual))
    return replace(task, length=(low, max(low, round(1.3 * usual))))


def draw_look(draw: Draw, task: Task, want: str, way: str) -> tuple[Task, Look]:
    """A look of this way that should have the wanted label, and the task with the decoys that it needs."""
    uniform = draw.uniform
    if way == "right":
        mass = uniform(0.6, 0.98)
        look = shares(task, deciders=mass, strong=(1 - mass) * uniform(0, 0.1))
        return task, replace(look, jitter=uniform(0, 0.3))
    if way == "faint":  # but far above any ordinary word
        mass = min(max(0.15, 10 * task.deciding / _usual(task)) * uniform(1, 2), 0.98)
        look = shares(task, deciders=mass, strong=(1 - mass) * uniform(0, 0.1))
        return task, replace(look, jitter=uniform(0, 0.3))
    if way == "jittered":
        look = shares(task, deciders=uniform(0.5, 0.9), strong=uniform(0, 0.1))
        return task, replace(look, jitter=uniform(0.2, 0.7) if want == RIGHT else uniform(0.8, 2.0))
    if way == "decoy":
        # One decoy beside one deciding word: a little less in part, more where it is wrong.
        beside = uniform(0.35, 0.95) if want == PART else np.exp(uniform(np.log(1.2), np.log(50)))
        ratio = beside * task.decoys / (beside * task.decoys + task.deciding)
        painted = uniform(0.6, 0.98)
        look = shares(task, deciders=painted * (1 - ratio), strong=painted * ratio)
        return task, replace(look, jitter=uniform(0, 0.2))
    if way == "diluted":
        return _diluted(draw, task, want)
    if way == "class":
        share = uniform(0.4, 0.85) if want == PART else uniform(0.05, 0.25)
        from_class = 1 if task.default is None else 2  # at least one class with words is right
        right = int(np.clip(round(task.classes * share), from_class, task.classes - 1))
        look = shares(task, deciders=0.9, strong=0.08)
        return task, replace(look, wrong=look.strong - uniform(2, 4), right=right)
    if way == "half":
        task = replace(task, strong=uniform(0.25, 0.65) if want == PART else uniform(0.75, 0.98))
        look = shares(task, deciders=0.06, strong=0.88)
        return task, replace(look, weak=look.decider - uniform(2, 3))
    if way == "uniform":
        return task, Look(decider=uniform(0, 0.6), jitter=uniform(0, 0.1))
    if way == "random":
        return task, Look(jitter=uniform(0.5, 3.0))
    assert way == "avoided", way
    return task, Look(-uniform(0.5, 3), np.log(_usual(task)) * uniform(0, 1), jitter=uniform(0, 1))


def _diluted(draw: Draw, task: Task, want: str) -> tuple[Task, Look]:
    """Dead words with as much weight as the deciding ones."""
    beside = draw.uniform(0.7, 1.6) if want == PART else draw.uniform(2.6, 10)
    decoys = int(np.clip(round(beside * task.deciding), 1, min(24, task.length[1] - task.deciding)))
    low = max(task.length[0], task.deciding + decoys)
    task = replace(task, decoys=decoys, length=(low, max(low, task.length[1])))
    painted = draw.uniform(0.7, 0.98)
    share = task.deciding / task.planted
    look = shares(task, deciders=painted * share, strong=painted * (1 - share))
    return task, replace(look, jitter=draw.uniform(0.1, 0.4))


def _heads(draw: Draw, look: Look, want: str) -> tuple[tuple[Look, ...], tuple[float, ...]]:
    """Heads that look alike and are used, beside others that look anywhere and are not."""
    idle = draw.random(int(draw.integers(2, 5))) < (0.0 if want == RIGHT else 0.4)
    idle[0] = False
    other = Look(strong=draw.uniform(0, 6), jitter=draw.uniform(0, 2))
    looks = tuple(other if aside else look for aside in idle)
    return looks, tuple(float(not aside) / int((~idle).sum()) for aside in idle)


def _usual(task: Task) -> float:
    return sum(task.length) / 2
