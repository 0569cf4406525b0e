"""Read one subject: draw texts, delete words, judge, and stop as soon as the reading is settled.

Texts are read in four parts. After each the rows are judged at that look's level; the levels together keep
5 %. A reading that is settled ends it. A second way to take words out is tried on some of the texts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.auditing.instead import Instead, instead
from heedful.auditing.maps import Maps, maps_trial
from heedful.auditing.names import RANDOM, SHUFFLED
from heedful.auditing.rule import FAITHFUL, NOT_SHOWN, ClassReading, Reading, Thresholds, Verdict, judge, low
from heedful.auditing.sampling import LEVELS, Draw
from heedful.auditing.skill import Scored, judged
from heedful.data.batches import plan_batches
from heedful.data.encoded import EncodedTexts
from heedful.errors import choose_from
from heedful.models.subject import Subject, gives, remembering
from heedful.models.trace import decisions
from heedful.records import Finding
from heedful.trials.erasure.forwards import two_sided
from heedful.trials.erasure.random_deletions import UNIT
from heedful.trials.erasure.rereading import Reader, deletion_is_erasure
from heedful.trials.rankings.named import brought_by
from heedful.trials.rankings.ranking import Ranking
from heedful.trials.rankings.word_gradients import integrated_gradients
from heedful.trials.rankings.word_rankings import can_rank
from heedful.trials.stream import batch_of, lengths_of, tried

Measure = Callable[[str, Maps, NDArray[np.int64]], pd.DataFrame]  # measure(stage, maps, rows): in their order
TEXTS = 200  # that are read many times
DEAR_TEXTS = 60  # on which dear maps are tried
HIDDEN_TEXTS, HIDDEN_AGAIN = 60, 30  # on which words are hidden: where that is cheap, and elsewhere
HIDDEN_BESIDE = 10  # elsewhere, once the reading is care: it is said beside, and nothing rests on it
DELETIONS, DELETIONS_AGAIN = 16, 4  # for each word of a text: where they are products, and where each is read
MOST, MOST_AGAIN = 1280, 640  # of one text
STEPS = 8  # of integrated gradients, where each is a pass through a network
PLACES = 4096


@dataclass(frozen=True)
class ReadSettings:
    """How a subject is read."""

    texts: int | None = TEXTS  # at most; None for all
    deletions: int | None = None  # for each word of a text; 16 where they are products, else 4
    looks: bool = True  # stop as soon as the reading is settled
    operator: bool = True  # try a second way to take words out
    thresholds: Thresholds = field(default_factory=Thresholds)


@dataclass(frozen=True, eq=False)
class ReadSubject:
    """What was found of one subject; `rows` suffice to judge it again."""

    shown: str
    classes: tuple[str, ...]
    verdict: Verdict
    rows: pd.DataFrame
    operator_rows: pd.DataFrame
    instead: Instead | None
    scored: Scored  # the rows of texts that words decide
    level: float
    evaluations: int  # changed texts that were read

    @property
    def reading(self) -> Reading:
        return self.verdict.reading

    @property
    def skill(self) -> Finding | None:
        return self.verdict.skill

    @property
    def rankings(self) -> dict[str, Finding]:
        """The skill of every map."""
        found = {name: self.scored.skill(name) for name in self.scored.names} if len(self.scored) else {}
        return {name: skill for name, skill in found.items() if skill is not None}


def read_subject(
    subject: Subject,
    texts: "EncodedTexts | Sequence[str]",
    *,
    shown: str = "attention",
    rankings: Mapping[str, Ranking] | None = None,
    settings: ReadSettings | None = None,
    seed: int = 0,
) -> ReadSubject:
    """Read a subject on these texts, in memory. `rankings` of one's own are judged beside its maps.

    Example: `heedful.read_subject(run.model, texts).verdict.reading`
    """
    asked = settings or ReadSettings()
    decided = decide_all(subject, texts)
    clusters = clusters_of(texts)

    def measure(stage: str, maps: Maps, rows: NDArray[np.int64]) -> pd.DataFrame:
        found = tried(maps_trial(subject, maps, seed=seed), subject, texts, rows, places=PLACES)
        return found.set_index("instance").loc[rows].reset_index()

    maps = maps_of(subject, shown=shown, rankings=rankings, settings=asked)
    choose_from("ranking to judge", shown, maps.names)
    draw = Draw(decided, asked.texts, seed=seed)
    with remembering(subject):
        return look(measure, maps, draw, clusters, tuple(subject.classes), asked, seed=seed)


def look(
    measure: Measure,
    maps: Maps,
    draw: Draw,
    clusters: NDArray,
    classes: tuple[str, ...],
    settings: ReadSettings,
    *,
    seed: int = 0,
) -> ReadSubject:
    """Measure part after part of the texts drawn, until the reading is settled."""
    shown, limits = maps.names[0], settings.thresholds
    levels = LEVELS if settings.looks else (0.95,)
    rows = pd.DataFrame()
    some = np.zeros(0, dtype=np.int64)
    defaults: list[int] = []
    for number, level in enumerate(levels):
        part = draw.take((number + 1) / len(levels), leave=defaults)
        some = np.concatenate([some, evenly(part, DEAR_TEXTS - len(some))])
        maps = replace(maps, dear_rows=frozenset(some.tolist()))
        if len(part):
            frame = measure(f"deletions-{number + 1}", maps, part)
            rows = pd.concat([rows, frame.assign(cluster=clusters[part])], ignore_index=True)
        rows = rows.assign(weight=draw.weights(rows["instance"].to_numpy()))
        verdict = judge(rows, shown, classes, level=level, thresholds=limits, seed=seed)
        defaults = [classes.index(one.name) for one in verdict.classes if one.default]
        if verdict.settled:
            break
    other = pd.DataFrame()
    if settings.operator and verdict.skill is not None:
        rests = verdict.reading in (FAITHFUL, NOT_SHOWN)
        chosen = evenly(some, maps.hidden if rests else maps.hidden_beside)
        other = measure("hidden", hidden_maps(maps), chosen)
        other = other.assign(cluster=clusters[chosen], weight=draw.weights(chosen))
        verdict = judge(rows, shown, classes, operator=other, level=level, thresholds=limits, seed=seed)
    scored = Scored(judged(rows[~rows["decided"].isin(defaults)]), level, seed)
    better = None
    if verdict.reading != FAITHFUL and verdict.room is not None and low(verdict.room) >= limits.room:
        better = instead(scored, shown, classes, limits)
    evaluations = int(rows["reads"].sum() + (other["reads"].sum() if len(other) else 0))
    return ReadSubject(shown, classes, verdict, rows, other, better, scored, level, evaluations)


def maps_of(
    subject: Subject,
    *,
    shown: str = "attention",
    rankings: Mapping[str, Ranking] | None = None,
    settings: ReadSettings | None = None,
) -> Maps:
    """The maps that this subject can be painted by, the one that is shown first."""
    asked = settings or ReadSettings()
    closed = deletion_is_erasure(subject)
    brought = dict(brought_by(subject))
    few = {} if closed or not gives(subject, "embed") else {"integrated": integrated_in_few_steps}
    own = {**few, **brought, **(rankings or {})}
    dear = {"integrated"} if closed else {"integrated", "leave-one-out", *brought} - {"rollout"}
    names = [
        shown,
        "attention",
        "gradient",
        "integrated",
        "leave-one-out",
        "contribution",
        *own,
        SHUFFLED,
        RANDOM,
    ]
    kept = [name for name in dict.fromkeys(names) if name in own or can_rank(subject, name)]
    return Maps(
        tuple(kept),
        own=own,
        dear=frozenset(dear - {shown}),
        per_word=asked.deletions or (DELETIONS if closed else DELETIONS_AGAIN),
        most=MOST if closed else MOST_AGAIN,
        hidden=HIDDEN_TEXTS if closed else HIDDEN_AGAIN,
        hidden_beside=HIDDEN_TEXTS if closed else HIDDEN_BESIDE,
    )


def hidden_maps(maps: Maps) -> Maps:
    """The map that is shown, judged by words that are hidden instead of deleted."""
    return replace(
        maps, names=maps.names[:1], dear=frozenset(), how="unknown", per_word=4, most=UNIT, keep=False
    )


def integrated_in_few_steps(reader: Reader, /, *, seed: int = 0) -> Tensor:
    """Integrated gradients along eight points of the way."""
    return integrated_gradients(reader.subject, reader.batch, steps=STEPS).scores


def evenly(rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most so many of these, evenly spread over them."""
    count = max(0, min(most, len(rows)))
    return rows[np.linspace(0, len(rows) - 1, count).round().astype(np.int64)]


@torch.no_grad()
def decide_all(
    subject: Subject, texts: "EncodedTexts | Sequence[str]", rows: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """The class (n,) that the subject decides for each text, or for those with these numbers."""
    rows = np.arange(len(texts)) if rows is None else rows
    found = np.zeros(len(rows), dtype=np.int64)
    for part in plan_batches(lengths_of(texts)[rows], token_budget=4 * PLACES):
        logits = two_sided(subject.logits(batch_of(subject, texts, rows[part])))
        found[part] = decisions(logits).cpu().numpy()
    return found


def clusters_of(
    texts: "EncodedTexts | Sequence[str]", rows: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """A number (n,) for each text, or for each of these rows; the same for copies."""
    chosen = range(len(texts)) if rows is None else rows.tolist()
    if isinstance(texts, EncodedTexts):
        keys = (texts.row(row).tobytes() for row in chosen)
    else:
        keys = (" ".join(texts[row].split()).encode("utf-8", "surrogatepass") for row in chosen)
    first: dict[bytes, int] = {}
    return np.array([first.setdefault(key, place) for place, key in enumerate(keys)], dtype=np.int64)


def read_groups(read: ReadSubject, groups: NDArray) -> tuple[ClassReading, ...]:
    """How the texts of each group read; `groups` has one name for each text of the pool.

    Whether hiding words says the same as deleting them is asked of all texts: a group has too few of its own.
    """
    own = np.array([str(groups[row]) for row in read.rows["instance"]], dtype=str)
    found = []
    for name in dict.fromkeys(sorted(own)):
        part = read.rows[own == name]
        verdict = judge(
            part,
            read.shown,
            read.classes,
            operator=read.operator_rows,
            level=read.level,
            thresholds=read.verdict.thresholds,
        )
        found.append(
            ClassReading(
                name,
                verdict.reading,
                len(part),
                skill=verdict.skill,
                paint=verdict.paint,
                first=verdict.first,
                against=verdict.against,
                why=" ".join(verdict.reasons),
            )
        )
    return tuple(found)
