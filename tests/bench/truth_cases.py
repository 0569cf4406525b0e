"""Models that a rule must read as they are: cases in which an earlier rule of this project erred, and more.

All are of generated texts, so that they need no corpus.
"""

from dataclasses import dataclass, replace

from heedful.auditing.rule import CARE, FAITHFUL, NOT_SHOWN, Reading
from heedful.bench.truth.built import Build
from heedful.bench.truth.catalogue import BUILT, TRAINED, Recipe
from heedful.bench.truth.labels import PART, RIGHT, WRONG
from heedful.bench.truth.learning import Lesson
from heedful.bench.truth.looks import Look, shares
from heedful.bench.truth.planting import Task

SEED = 15


@dataclass(frozen=True)
class Case:
    """A model, and how its attention must read."""

    recipe: Recipe
    reading: Reading


def _case(
    name: str, reading: Reading, label: str, task: Task, how: Build | Lesson, architecture: str = "dot"
) -> tuple[str, Case]:
    kind = BUILT if isinstance(how, Build) else TRAINED
    if isinstance(how, Build):
        how = replace(how, architecture=architecture)
    return name, Case(Recipe(name, "cases", kind, architecture, label, name, SEED, task, how), reading)


def _built(look: Look) -> Build:
    return Build("dot", looks=(look,))


_ONE = Task()
_RARE = Task(ratio=24.0)
_DETECTION = Task(truth="detection")
_REDUNDANT = Task(truth="redundant", deciders=3)
_MIXED = Task(truth="mixed", deciders=3)
_PAIR = Task(truth="pair", classes=4)
_BOTH = Task(truth="both", decoys=1)
_RIGHT_FOR_FIRST = replace(shares(_RARE, deciders=0.9, strong=0.08), wrong=-1.0, right=1)

CASES: dict[str, Case] = dict(
    [
        _case("right", FAITHFUL, RIGHT, _ONE, _built(shares(_ONE, deciders=0.9))),
        _case("97 % on a decoy", NOT_SHOWN, WRONG, _ONE, _built(shares(_ONE, deciders=0.02, strong=0.97))),
        _case(
            "10 % left for the decider",
            NOT_SHOWN,
            WRONG,
            _ONE,
            _built(shares(_ONE, deciders=0.1, strong=0.85)),
        ),
        _case("right order, blank map", NOT_SHOWN, WRONG, _ONE, _built(Look(decider=0.1))),
        _case("a rare class attended wrongly", CARE, PART, _RARE, _built(_RIGHT_FOR_FIRST)),
        _case("attention is |contribution|", FAITHFUL, RIGHT, _MIXED, _built(shares(_MIXED, deciders=0.99))),
        _case("detection", FAITHFUL, RIGHT, _DETECTION, _built(shares(_DETECTION, deciders=0.9))),
        _case(
            "each of three words suffices",
            FAITHFUL,
            RIGHT,
            _REDUNDANT,
            _built(shares(_REDUNDANT, deciders=0.9)),
        ),
        _case("two words decide together", FAITHFUL, RIGHT, _PAIR, _built(shares(_PAIR, deciders=0.9))),
        _case(
            "two words under a head that is not linear",
            FAITHFUL,
            RIGHT,
            _BOTH,
            _built(shares(_BOTH, deciders=0.9)),
            "mlp",
        ),
        _case(
            "a BERT that finds the word",
            FAITHFUL,
            RIGHT,
            _ONE,
            Lesson(look=shares(_ONE, deciders=0.9), epochs=40, rate=2e-3),
            "bert",
        ),
    ]
)
