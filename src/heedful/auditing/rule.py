"""The rule: from what was measured to one of four readings, with every reason said.

Three numbers of the map that people are shown, each with its interval: C, its heat-map skill; P, the share of
its paint on live words; F, the share of texts whose strongest word is live. In this order:

1. *cannot say*: fewer than `texts` texts that words decide; deletions hardly move the model; no bounded
   interval; or so few deletions that even the words' own effects would not be told.
2. *do not show as an explanation*: surely C < `wrong_skill`, P < `wrong_paint`, F < `wrong_first`, or
   `against` of its paint on words that speak against the decision. A map that surely paints live words is not
   called wrong for its proportions alone.
3. *faithful*: surely C ≥ `skill`, P ≥ `paint` and above random paint's by `chance`, F ≥ `first`, and less of
   its paint than `against` on words that speak against the decision; and each at least its `class_…` for the
   texts of every decided class. A class whose paint surely lies on live words need not surely have the skill.
   A class with fewer than `class_texts` texts caps the reading at care, and so do live words that are not
   told.
4. *use with care* otherwise; what failed is named.

A *default class*, which the model decides when nothing speaks against it, is not scored: no word decides it.
Where all words matter alike no map can stand out, and the reading is never better than care.
Where a second way to take words out (`operator`) surely says otherwise, faithful and do not show become care.
Nothing else has a say. docs/verdict.md has the measured error rates.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import pandas as pd

from heedful.auditing.names import RANDOM
from heedful.auditing.skill import Scored, judged
from heedful.records import Estimate, Finding
from heedful.records.wording import in_percent

Reading = Literal["faithful", "use with care", "do not show as an explanation", "cannot say"]
FAITHFUL: Reading = "faithful"
CARE: Reading = "use with care"
NOT_SHOWN: Reading = "do not show as an explanation"
UNKNOWN: Reading = "cannot say"
READINGS: tuple[Reading, ...] = (FAITHFUL, CARE, NOT_SHOWN, UNKNOWN)


@dataclass(frozen=True)
class Thresholds:
    """What is compared with: fitted on one part of the truth bench and published on the other."""

    skill: float = 0.65  # lower(C) of a faithful map
    paint: float = 0.8  # lower(P)
    first: float = 0.8  # lower(F)
    class_skill: float = 0.4  # the same for the texts of each decided class
    class_paint: float = 0.5
    class_first: float = 0.5
    class_texts: int = 10  # texts of a decided class, fewer of which cap the reading
    wrong_skill: float = 0.25  # upper(C) of a map not to be shown
    wrong_paint: float = 0.4  # upper(P)
    wrong_first: float = 0.5  # upper(F): its strongest word is one that does not matter in most texts
    right_paint: float = 0.85  # lower(P) and
    right_first: float = 0.9  # lower(F) of a map that is not called wrong for its proportions alone
    chance: float = 0.05  # by which P must surely be above that of random paint
    against: float = 0.5  # upper(paint on words against the decision): a reader takes paint for a reason
    linear: float = 0.03  # share of what the model does that any map can show, below which none vouches
    texts: int = 30  # that words decide, below which nothing is said
    moved: float = 0.05  # standard deviation of the probability over deletions, below which nothing is said
    limit: float = 0.7  # skill that the words' own effects must reach before C can call a map wrong
    room: float = 0.1  # share of the effects that a blank map must leave, or all words matter alike
    default_lost: float = 0.1  # share of deletions that lose a decision from which words count as deciding it
    default_texts: float = 1 / 3  # share of such texts below which a class may be a default
    default_nothing: float = 0.6  # probability that it has where no word is left, or
    default_alone: float = 0.9  # share of its texts' words that are decided so too when they are read alone

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class ClassReading:
    """How the texts of one decided class read."""

    name: str
    reading: Reading
    texts: int
    skill: Finding | None = None
    paint: Finding | None = None
    first: Finding | None = None
    against: Finding | None = None  # paint on words against the decision
    default: bool = False  # no word decides it
    why: str = ""


@dataclass(frozen=True)
class Verdict:
    """The reading, why, and what it rests on."""

    reading: Reading
    reasons: tuple[str, ...]
    classes: tuple[ClassReading, ...]
    settled: bool = False  # whether more texts would hardly change it
    skill: Finding | None = None  # C of the map that is shown
    paint: Finding | None = None  # P
    first: Finding | None = None  # F
    against: Finding | None = None  # paint on words against the decision
    limit: Estimate | None = None
    room: Estimate | None = None
    chance: Estimate | None = None  # how far P is above that of random paint
    linear_share: float | None = None  # of what the model does, that any map of single words can show
    operator: Finding | None = None  # the same skill when words are hidden instead of deleted
    thresholds: Thresholds = field(default_factory=Thresholds)

    @property
    def rank(self) -> int:
        """0 for faithful, 1 for care, 2 for not an explanation and for cannot say: lower is better."""
        return min(READINGS.index(self.reading), 2)


def judge(
    rows: pd.DataFrame,
    shown: str,
    classes: Sequence[str],
    *,
    operator: pd.DataFrame | None = None,
    level: float = 0.95,
    thresholds: Thresholds | None = None,
    seed: int = 0,
) -> Verdict:
    """The reading of the map `shown` that these rows of `maps` allow.

    `operator` has rows of texts whose words were hidden instead of deleted.
    """
    limits = thresholds or Thresholds()
    several = Scored(judged(rows), level, seed)
    read: list[ClassReading] = []
    moves, defaults = False, []
    for code, name in enumerate(classes):
        part = several.of((several.rows["decided"] == code).to_numpy())
        if not len(part):
            own = rows[rows["decided"] == code]
            if len(own):  # it must not vanish
                most = " or too many" if (own["words"] > 1).any() else ""
                why = f"All texts decided “{name}” have one word{most}."
                read.append(ClassReading(name, UNKNOWN, 0, why=why))
            continue
        read.append(read_class(name, part, shown, limits))
        if read[-1].default:
            defaults.append(code)
        else:
            moves |= part.moved >= limits.moved
    scored = several.of(~several.rows["decided"].isin(defaults).to_numpy())
    found = Verdict(UNKNOWN, (), tuple(read), thresholds=limits)
    if scored.different < limits.texts:
        return replace(found, reasons=(_few(scored, read, limits),))
    if not moves:
        why = (
            "Deleting words hardly moves this model: the probability of its decision varies by "
            f"{scored.moved:.3f} (standard deviation), and {limits.moved:g} is needed."
        )
        return replace(found, reasons=(why,))
    measured = _measured(scored, shown, limits.texts)
    found = replace(found, **measured, limit=scored.limit(), room=scored.room)
    found = replace(found, linear_share=scored.linear_share)
    if found.paint is not None and RANDOM in scored.names and shown != RANDOM:
        found = replace(found, chance=scored.paint_beyond(shown, RANDOM))
    if operator is not None and len(operator):
        other = judged(operator[~operator["decided"].isin(defaults)])
        found = replace(found, operator=Scored(other, level, seed).skill(shown) if len(other) else None)
    return _read(found)


def read_class(name: str, part: Scored, shown: str, limits: Thresholds) -> ClassReading:
    """The reading of the texts of one decided class."""
    about = ClassReading(name, UNKNOWN, part.different)
    if part.different < limits.class_texts:
        return replace(about, why=f"Only {part.different} texts are decided “{name}”.")
    if is_default(part.rows, limits):
        return replace(about, default=True, why=f"No word decides “{name}”: show nothing there.")
    about = replace(about, **_measured(part, shown, limits.class_texts))
    if part.moved < limits.moved:
        return replace(about, why="Deleting words hardly moves the model here.")
    if _is_wrong(about, limits) or _is_wrong_by_skill(about, part.limit(), limits):
        return replace(about, reading=NOT_SHOWN)
    if low(part.room) < limits.room and not _paints_live(about, limits):
        return replace(about, reading=CARE, why="All words matter alike here, or may.")
    return replace(about, reading=CARE if any(_short_of(about, _faithful(limits))) else FAITHFUL)


def is_default(rows: pd.DataFrame, limits: Thresholds) -> bool:
    """Whether the model decides this class when nothing speaks against it.

    Few deletions take the decision away, and it is decided too where no word is left, or by any single word.
    """
    if float((rows["lost"] >= limits.default_lost).mean()) >= limits.default_texts:
        return False
    nothing, alone = (float(rows[name].mean()) for name in ("nothing", "alone"))
    return nothing >= limits.default_nothing or alone >= limits.default_alone


def _measured(part: Scored, shown: str, least: int) -> dict[str, Any]:
    """C, P and F, the last two only if live words can be told in so many texts; and paint against."""
    found: dict[str, Any] = {"skill": part.skill(shown), "against": part.against(shown)}
    told = part.of(part.rows[f"paint_{shown}"].notna().to_numpy())
    if told.different >= least:
        found |= {"paint": part.paint(shown), "first": part.first(shown)}
    return found


def _read(found: Verdict) -> Verdict:
    """The reading of a verdict whose numbers are known."""
    limits = found.thresholds
    skill, second = found.skill, found.operator
    alike = found.room is not None and low(found.room) < limits.room
    if not alike and (skill is None or not bounded(skill)):
        return replace(found, reasons=("The skill of this map has no bounded interval on these texts.",))
    if _is_wrong(found, limits) or (not alike and _is_wrong_by_skill(found, found.limit, limits)):
        if skill is not None and second is not None and low(second) >= limits.skill:
            return replace(found, reading=CARE, reasons=(_disagree(skill, second),))
        return replace(found, reading=NOT_SHOWN, reasons=tuple(_wrongs(found, limits)), settled=True)
    if alike or skill is None:
        why = "All words matter alike, or may: no map of words can stand out here."
        return replace(found, reading=CARE, reasons=(why,))
    if high(skill) < limits.wrong_skill and not _paints_live(found, limits):
        assert found.limit is not None
        why = (
            "With so few deletions even a map of the words' own effects reaches only "
            f"{found.limit.value:.2f}: more are needed before this map can be called wrong."
        )
        return replace(found, reasons=(why,))
    failures = tuple(_failures(found, limits))
    if failures:
        surely = _surely_not_wrong(found, limits) and any(sure for sure, _ in failures)
        reasons = [why for _, why in failures]
        if second is not None and _says_otherwise(skill, second, limits):
            reasons.append(_disagree(skill, second))
        return replace(found, reading=CARE, reasons=tuple(reasons), settled=surely)
    if second is not None and high(second) < limits.class_skill:
        return replace(found, reading=CARE, reasons=(_disagree(skill, second),))
    why = f"It predicts {percent(skill)} of what the best map could"
    assert found.paint is not None
    why += f", and {percent(found.paint)} of its paint lies on words that matter."
    return replace(found, reading=FAITHFUL, reasons=(why,), settled=True)


def _is_wrong(found: "Verdict | ClassReading", limits: Thresholds) -> bool:
    """Whether its paint surely lies on words that do not matter, or speak against the decision."""
    paint, first, against = found.paint, found.first, found.against
    return (
        (paint is not None and high(paint) < limits.wrong_paint)
        or (first is not None and high(first) < limits.wrong_first)
        or (against is not None and low(against) >= limits.against)
    )


def _is_wrong_by_skill(found: "Verdict | ClassReading", limit: Estimate | None, limits: Thresholds) -> bool:
    """Whether it surely predicts next to nothing, and there are deletions enough to tell.

    A map that is surely worse than a blank one is wrong however many deletions there were.
    """
    if found.skill is None or limit is None or not bounded(found.skill):
        return False
    told = limit.value >= limits.limit or high(found.skill) < 0
    return high(found.skill) < limits.wrong_skill and told and not _paints_live(found, limits)


def _paints_live(found: "Verdict | ClassReading", limits: Thresholds) -> bool:
    """Whether it surely paints words that matter, be it in wrong proportions."""
    if found.paint is None or found.first is None:
        return False
    return low(found.paint) >= limits.right_paint and low(found.first) >= limits.right_first


def _surely_not_wrong(found: Verdict, limits: Thresholds) -> bool:
    least = {"skill": limits.wrong_skill, "paint": limits.wrong_paint, "first": limits.wrong_first}
    return not any(
        _short_of(found, {name: least[name] for name in least if getattr(found, name) is not None})
    )


def _faithful(limits: Thresholds) -> dict[str, float]:
    """What a faithful map must surely reach."""
    return {"skill": limits.skill, "paint": limits.paint, "first": limits.first}


def _of_class(one: ClassReading, limits: Thresholds) -> dict[str, float]:
    """What the texts of a decided class must surely reach: less skill where their paint says enough."""
    least = {"skill": limits.class_skill, "paint": limits.class_paint, "first": limits.class_first}
    if _paints_live(one, limits) and one.skill is not None and high(one.skill) >= limits.class_skill:
        del least["skill"]
    return least


def _short_of(found: "Verdict | ClassReading", least: Mapping[str, float]) -> Iterator[str]:
    """The names of the numbers that are not surely as high as this."""
    for name, threshold in least.items():
        number = getattr(found, name)
        if number is None or low(number) < threshold:
            yield name


def _wrongs(found: Verdict, limits: Thresholds) -> Iterator[str]:
    if found.first is not None and high(found.first) < limits.wrong_first:
        yield f"Its strongest word is one that matters in only {percent(found.first)} of texts."
    if found.paint is not None and high(found.paint) < limits.wrong_paint:
        yield f"Only {percent(found.paint)} of its paint lies on words that matter."
    if found.against is not None and low(found.against) >= limits.against:
        yield _speaks_against(found.against)
    if found.skill is not None and high(found.skill) < limits.wrong_skill:
        yield f"It predicts {percent(found.skill)} of what the best map could."


def _failures(found: Verdict, limits: Thresholds) -> Iterator[tuple[bool, str]]:
    """Each condition of "faithful" that does not hold: whether more texts would not mend it, and why."""
    if found.linear_share is not None and found.linear_share < limits.linear:
        yield (
            False,
            "Words act together: no map of single words can show more than "
            f"{in_percent(found.linear_share)} of what this model does, and {in_percent(limits.linear)} is "
            "needed.",
        )
    if found.chance is not None and low(found.chance) < limits.chance:
        yield (
            high(found.chance) < limits.chance,
            "So many words matter that paint at random lies on them nearly as often as this map's.",
        )
    if found.against is not None and high(found.against) >= limits.against:
        yield False, _speaks_against(found.against)
    for name, least in _faithful(limits).items():
        if name in _short_of(found, {name: least}):
            yield from _shortfalls(name, [found], least)
    yield from _failures_of_classes([one for one in found.classes if not one.default], limits)


def _failures_of_classes(classes: Sequence[ClassReading], limits: Thresholds) -> Iterator[tuple[bool, str]]:
    """The same of the classes: what several fall short of is said once, with their names and numbers."""
    few = [one for one in classes if one.texts < limits.class_texts]
    if len(few) == 1:
        yield False, f"{few[0].why} {limits.class_texts} are needed to vouch for that class."
    elif few:
        named = _listed([f"“{one.name}” ({one.texts})" for one in few])
        yield (
            False,
            f"{limits.class_texts} texts are needed to vouch for a class; there are fewer of {named}.",
        )
    classes = [one for one in classes if one not in few]
    for why in dict.fromkeys(one.why for one in classes if one.why):
        yield False, f"{_decided([one for one in classes if one.why == why])}{why}"
    classes = [one for one in classes if not one.why]
    wrong = [one for one in classes if one.against is not None and low(one.against) >= limits.against]
    if wrong:
        shares = [one.against for one in wrong if one.against is not None]
        yield True, f"{_decided(wrong)}{_speaks_against(*shares)}"
    for name in _faithful(limits):
        least = getattr(limits, f"class_{name}")
        short = [one for one in classes if name in _short_of(one, _of_class(one, limits))]
        yield from _shortfalls(name, short, least)


_UNTOLD = {
    "skill": "its skill cannot be told.",
    "paint": "too few texts show which words matter.",
}
MOST_NAMED = 4  # classes in one sentence: all of them are in the table of classes


def _shortfalls(
    name: str, short: "Sequence[Verdict | ClassReading]", least: float
) -> Iterator[tuple[bool, str]]:
    """One number that all of these fall short of: whether more texts would not mend it, and why."""
    unknown = [one for one in short if getattr(one, name) is None]
    if unknown and name in _UNTOLD:  # the first is unknown where the paint is
        yield False, _capital(f"{_decided(unknown)}{_UNTOLD[name]}")
    known = [one for one in short if one not in unknown]
    if known:
        numbers: list[Finding] = [getattr(one, name) for one in known]
        found = _listed([percent(number) for number in numbers])
        said = {
            "skill": f"it predicts {found} of what the best map could",
            "paint": f"{found} of its paint lies on words that matter",
            "first": f"its strongest word is one that matters in {found} of texts",
        }[name]
        needed = f"to be faithful, the lower end must be at least {in_percent(least)}"
        surely = any(high(number) < least for number in numbers)
        yield surely, _capital(f"{_decided(known)}{said}; {needed}.")


def _decided(parts: "Sequence[Verdict | ClassReading]") -> str:
    """Of which classes a sentence speaks; of all texts it need not be said."""
    names = [f"“{one.name}”" for one in parts if isinstance(one, ClassReading)]
    return f"For texts decided {_listed(names)}: " if names else ""


def _listed(said: Sequence[str]) -> str:
    first, left = list(said[:MOST_NAMED]), len(said) - MOST_NAMED
    *most, last = [*first, f"{left} more"] if left > 0 else first
    return f"{', '.join(most)} and {last}" if most else last


def _speaks_against(*shares: Finding) -> str:
    found = _listed([percent(share) for share in shares])
    return f"{found} of its paint lies on words that speak against the decision."


def _capital(said: str) -> str:
    return said[0].upper() + said[1:]


def _few(scored: Scored, read: Sequence[ClassReading], limits: Thresholds) -> str:
    if any(one.default for one in read):
        names = " and ".join(f"“{one.name}”" for one in read if one.default)
        return (
            f"Only {scored.different} texts are decided by their words ({names} is decided when nothing "
            f"speaks against it), and {limits.texts} are needed."
        )
    return f"There are {scored.different} texts of two words or more, and {limits.texts} are needed."


def _says_otherwise(skill: Finding, second: Finding, limits: Thresholds) -> bool:
    """Whether one way to take words out surely finds a faithful map's skill, and the other surely not."""
    most, least = max((skill, second), key=low), min((skill, second), key=high)
    return low(most) >= limits.skill and high(least) < limits.class_skill


def _disagree(skill: Finding, second: Finding) -> str:
    return (
        f"It depends on how words are taken out: deleted, this map predicts {percent(skill)} of what the "
        f"best could; hidden behind an unknown word, {percent(second)}."
    )


def low(found: "Finding | Estimate") -> float:
    """The low end of the interval; without one nothing is known."""
    return found.interval.low if found.interval is not None else -math.inf


def high(found: "Finding | Estimate") -> float:
    """The high end of the interval; without one nothing is known."""
    return found.interval.high if found.interval is not None else math.inf


def bounded(found: "Finding | Estimate") -> bool:
    """Whether there is an interval with two finite ends."""
    return found.interval is not None and found.interval.bounded


def percent(found: "Finding | Estimate") -> str:
    """The value in percent, with its interval where that has ends."""
    ends = f" [{100 * low(found):z.0f}, {100 * high(found):z.0f}]" if bounded(found) else ""  # never -0
    return f"{in_percent(found.value)}{ends}"
