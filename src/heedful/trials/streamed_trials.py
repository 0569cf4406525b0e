"""The trials of a corpus as streams: what is asked of each batch, and what all of them together say.

`layer_trial` and `word_trial` make the rows of `stream`; `layer_findings` and `word_findings` read them back.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from torch import Tensor

from heedful.data.batches import Batch
from heedful.errors import UserError
from heedful.models.subject import Subject
from heedful.records import Finding
from heedful.trials.erasure.comparisons import Coordinates, beats, fraction_removed, mass_removed
from heedful.trials.erasure.faithfulness import MEASURES, faithfulness, other_findings
from heedful.trials.erasure.optimality import no_short_set, optimal_share, optimality_gap
from heedful.trials.erasure.search import beam_flips
from heedful.trials.erasure.single import COLUMNS, SingleErasures, single_erasures, single_findings
from heedful.trials.erasure.skill import ONE, ZERO, word_skill
from heedful.trials.erasure.until_flip import SAMPLES, Erasures, erase
from heedful.trials.erasure.word_erasures import WordErasures, word_erasures
from heedful.trials.rankings.own_scores import OwnScores
from heedful.trials.rankings.ranking import Ranking
from heedful.trials.rankings.word_rankings import can_rank
from heedful.trials.stream import Trial

if TYPE_CHECKING:
    import pandas

NULLS = ("random", "shuffled")
Test = Callable[[], Iterable[Finding]]
ALWAYS = ("attention", ONE, ZERO, "shuffled")  # what word skill and its baselines need
_SHARED = ("instance", "items")  # columns that the single-item tests share with the multi-item ones


def layer_trial(
    subject: Subject,
    rankings: Sequence[str] | None = None,
    *,
    own: "Mapping[str, OwnScores | Ranking] | None" = None,
    level: str = "final",
    samples: int = SAMPLES,
    search: bool = False,
    seed: int = 0,
) -> Trial:
    """Erasure at an attention layer: multi-item tests, and the top item of each ranking alone.

    `own` are a user's rankings by name: scores of the whole split, or a function (`rankings.ranking`). The
    smallest sets are exact for a linear head; for other heads `search` gives an upper bound. Random orders
    are drawn `samples` times.
    """
    names = None if rankings is None else list(dict.fromkeys([*rankings, *NULLS]))

    def trial(batch: Batch, first: int) -> "pandas.DataFrame":
        trace = subject.trace(batch, level).numbered(first)
        given = _given(own, batch, trace.present)
        sets = None
        if search and trace.linear is None:
            sets = beam_flips(trace, width=4, depth=4, seed=seed)
        erasures = erase(trace, names, own=given, samples=samples, smallest=sets, seed=seed)
        frame = erasures.to_frame()
        for name in erasures.sizes:
            if name != "random":
                ranking = given.get(name, name)
                alone = single_erasures(trace, ranking, seed=seed).to_frame()
                frame = frame.join(alone.drop(columns=list(_SHARED)).add_prefix(f"single_{name}_"))
        return frame

    return trial


def word_trial(
    subject: Subject,
    rankings: Sequence[str] | None = None,
    *,
    own: "Mapping[str, OwnScores | Ranking] | None" = None,
    seed: int = 0,
    **options: Any,
) -> Trial:
    """Words taken out in the order of each ranking; `options` are those of `word_erasures`.

    `own` are a user's rankings by name: scores of the whole split, or a function (`rankings.ranking`).
    """
    always = [name for name in ALWAYS if can_rank(subject, name)]
    names = None if rankings is None else list(dict.fromkeys([*rankings, *always]))

    def trial(batch: Batch, first: int) -> "pandas.DataFrame":
        given = _given(own, batch, batch.mask)
        return word_erasures(subject, batch, names, own=given, seed=seed, **options).to_frame()

    return trial


def layer_findings(
    frame: "pandas.DataFrame", *, coordinates: Coordinates | None = None, seed: int = 0
) -> tuple[list[Finding], list[str]]:
    """What the rows of `layer_trial` say, and a sentence for each test that could not be made."""
    erasures = Erasures.from_frame(frame)
    about: dict[str, Any] = {"coordinates": coordinates, "seed": seed}
    tests: list[Test] = [
        partial(fraction_removed, erasures, **about),
        partial(mass_removed, erasures, **about),
    ]
    if erasures.smallest is not None:
        tests += [partial(test, erasures, **about) for test in (optimality_gap, optimal_share)]
        tests.append(lambda: [no_short_set(erasures, coordinates=coordinates)])
    if {"gradient", "attention"} <= erasures.sizes.keys():
        tests.append(partial(beats, erasures, **about))
    singles = {name: single_of(frame, name) for name in erasures.sizes if name != "random"}
    null = singles.pop("shuffled", None)
    tests += [
        partial(single_findings, alone, name, shuffled=null, **about) for name, alone in singles.items()
    ]
    return _together(tests)


def word_findings(
    frame: "pandas.DataFrame",
    *,
    classes: Sequence[str] | None = None,
    coordinates: Coordinates | None = None,
    seed: int = 0,
) -> tuple[list[Finding], list[str]]:
    """What the rows of `word_trial` say, and a sentence for each test that could not be made."""
    erasures = WordErasures.from_frame(frame)
    about: dict[str, Any] = {"coordinates": coordinates, "seed": seed}
    # Attention's skill in full, that of the others as one number each.
    tests: list[Test] = []
    if "attention" in erasures.without:
        tests.append(partial(word_skill, erasures, "attention", classes=classes, **about))
    others = [name for name in erasures.without if name not in ("attention", ZERO, ONE)]
    tests += [partial(_one_skill, erasures, name, **about) for name in others]
    tests += [partial(faithfulness, erasures, measure, **about) for measure in MEASURES]
    tests.append(partial(other_findings, erasures, **about))
    return _together(tests)


def _given(own: "Mapping[str, Any] | None", batch: Batch, present: Tensor) -> dict[str, Any]:
    """A user's rankings for one batch: of scores of the whole split, those of its texts."""
    return {
        name: one.of(batch.rows, present) if isinstance(one, OwnScores) else one
        for name, one in (own or {}).items()
    }


def _one_skill(erasures: WordErasures, name: str, **about: Any) -> list[Finding]:
    return word_skill(erasures, name, **about)[:1]


def single_of(frame: "pandas.DataFrame", name: str) -> SingleErasures:
    """The single-item tests of one ranking, from the rows of `layer_trial`."""
    columns = {column: frame[f"single_{name}_{column}"] for column in COLUMNS if column not in _SHARED}
    return SingleErasures.from_frame(frame[list(_SHARED)].assign(**columns))


def _together(tests: Iterable[Test]) -> tuple[list[Finding], list[str]]:
    """The findings of all tests; one that has nothing to measure says so, and does not stop the others."""
    found: list[Finding] = []
    said: list[str] = []
    for test in tests:
        try:
            found += test()
        except UserError as error:
            said.append(str(error))
    if not found:
        raise UserError(said[0])
    return found, list(dict.fromkeys(said))
