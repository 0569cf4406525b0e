"""The rule: from evidence to one of four readings, with every reason said.

W is word skill with its 95 % interval. In this order:

1. *cannot say*: too few texts; an accuracy that the largest class alone may reach; a word skill that has no
   bounded interval.
2. *do not show as an explanation*: the weights are constant, or upper(W) is below `not_an_explanation`.
3. *faithful*: lower(W) ≥ `faithful`, the median gap ≤ `gap` and better than that of shuffled weights (unless
   those too need no more than the smallest set, as very uneven weights do wherever they lie), τ of
   attention with leave-one-out at least half that of the gradient, lower(W) ≥ `each_class` in every class
   with enough texts, and the top item shared between seeds more often than by shuffled weights.
4. *use with care* otherwise; what failed is named. What was not asked caps the reading here.

Comparisons take the end of the interval that speaks against attention, but for the median gap and the share
of decisions that can be flipped, which count as they are. So a reading gets better only with evidence, never
by the lack of it. docs/verdict.md has the thresholds' calibration.
"""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from heedful.records import Finding
from heedful.verdict.evidence import Evidence

Reading = Literal["faithful", "use with care", "do not show as an explanation", "cannot say"]
READINGS: tuple[Reading, ...] = (
    "faithful",
    "use with care",
    "do not show as an explanation",
    "cannot say",
)


@dataclass(frozen=True)
class Thresholds:
    """What the evidence is compared with: calibrated on SST and frozen (docs/verdict.md)."""

    instances: int = 200  # texts below which nothing is said
    faithful: float = 0.5  # lower(W)
    not_an_explanation: float = 0.25  # upper(W)
    each_class: float = 0.25  # lower(W) in each class
    class_instances: int = 100  # texts from which a class is asked
    flippable: float = 0.3  # share of texts below which the gap is not asked
    gap: float = 2.0  # median, times the smallest set
    constant: float = 0.99  # share of texts with constant weights from which attention says nothing

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Verdict:
    """The reading, why, which questions failed, and what kept it from being better."""

    reading: Reading
    reasons: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()  # ids of questions
    caps: tuple[str, ...] = ()
    thresholds: Thresholds = field(default_factory=Thresholds)

    @property
    def rank(self) -> int:
        """0 for faithful, 1 for care, 2 for not an explanation and for cannot say: lower is better."""
        return min(READINGS.index(self.reading), 2)


def judge(evidence: Evidence, thresholds: Thresholds | None = None) -> Verdict:
    """The reading that the evidence allows."""
    limits = thresholds or Thresholds()
    unknown = tuple(_unknown(evidence, limits))
    if unknown:
        return Verdict("cannot say", unknown, thresholds=limits)
    against = tuple(_against(evidence, limits))
    if against:
        return Verdict("do not show as an explanation", against, ("decides",), thresholds=limits)
    failures = list(_failures(evidence, limits))
    caps = tuple(why for question, why in _missing(evidence, limits) if question not in dict(failures))
    if failures or caps:
        failed = tuple(dict.fromkeys(question for question, _ in failures))
        reasons = tuple(why for _, why in failures) + caps
        return Verdict("use with care", reasons, failed, caps, limits)
    skill = evidence.skill
    assert skill is not None
    return Verdict(
        "faithful", (f"Its word skill is {_shown(skill)}, and nothing failed.",), thresholds=limits
    )


def _unknown(evidence: Evidence, limits: Thresholds) -> Iterator[str]:
    accuracy, skill = evidence.accuracy, evidence.skill
    if accuracy.count < limits.instances:
        yield f"There are {accuracy.count:,} texts, and {limits.instances} are needed to say anything."
    majority = float(accuracy.coordinates["majority"])  # type: ignore[arg-type]
    if low(accuracy) <= majority:
        yield (
            f"The model's accuracy of {_shown(accuracy)} may be no better than always naming the largest "
            "class "
            f"({majority:.2f}): what it attends to then explains nothing worth explaining."
        )
    if constant(evidence, limits):
        return  # that is an answer, though constant weights have no skill
    if skill is None:
        yield evidence.not_asked.get("decides", "Word skill could not be measured.")
    elif not bounded(skill):
        yield (
            "Taking out the words that matter most, by any measure here, moves this model no more than "
            "taking out "
            "random ones, so there is no yardstick for word skill."
        )
    elif accuracy.count >= limits.instances > skill.count:
        yield f"Only {skill.count:,} texts have two words or more, and {limits.instances} are needed."


def _against(evidence: Evidence, limits: Thresholds) -> Iterator[str]:
    if constant(evidence, limits):
        yield "The weights are the same for every word of a text, so they cannot point to any."
    elif evidence.skill is not None and high(evidence.skill) < limits.not_an_explanation:
        yield (
            f"Its word skill is {_shown(evidence.skill)}: the words it points to decide hardly more than "
            f"random ones (all of the interval is below {limits.not_an_explanation:g})."
        )


def _failures(evidence: Evidence, limits: Thresholds) -> Iterator[tuple[str, str]]:
    """Each condition of "faithful" that does not hold: the question it belongs to, and why."""
    skill = evidence.skill
    assert skill is not None
    if low(skill) < limits.faithful:
        yield "decides", f"Its word skill {_told(skill)}, not surely {limits.faithful:g} or more."
    for part in evidence.class_skills:
        if part.count >= limits.class_instances and low(part) < limits.each_class:
            yield (
                "decides",
                f"Among texts decided “{part.coordinates['predicted']}” its word skill {_told(part)}, not "
                f"surely {limits.each_class:g} or more.",
            )
    if gap_asked(evidence, limits):
        gap, beside = evidence.gap, evidence.gap_advantage
        assert gap is not None
        assert beside is not None
        if gap.value > limits.gap:
            yield (
                "decides",
                f"In its order {gap.value:.2g} times as many items must go as are truly needed (median).",
            )
        if not low(beside) > 0 and not _by_mechanics(gap):
            yield "decides", "Shuffled weights come as near to the smallest set as its own do."
    margin = evidence.agreement_margin
    if margin is not None and low(margin) < 0:
        yield (
            "agreement",
            "It agrees with the words' measured effect less than half as well as the gradient does, or may.",
        )
    stable = evidence.stable_advantage
    if stable is not None and not low(stable) > 0:
        yield "stable", "Models of other seeds do not surely share its top word more often than by chance."


def _missing(evidence: Evidence, limits: Thresholds) -> Iterator[tuple[str, str]]:
    """What "faithful" needs and was not asked."""
    if not gap_asked(evidence, limits):
        yield "gap", evidence.not_asked.get("gap") or _few_flips(evidence, limits)
    for question, found in (("agreement", evidence.agreement_margin), ("stable", evidence.stable_advantage)):
        if found is None:
            yield question, evidence.not_asked.get(question, f"The question “{question}” was not asked.")


def _few_flips(evidence: Evidence, limits: Thresholds) -> str:
    if evidence.flippable is None:
        return "The smallest sets of this model are not known exactly, so the gap to them was not asked."
    return (
        f"Only {evidence.flippable.value:.0%} of the decisions can be changed by erasing items at the layer "
        f"({limits.flippable:.0%} are needed), so the gap to the smallest set was not asked."
    )


def gap_asked(evidence: Evidence, limits: Thresholds) -> bool:
    """Whether the gap counts: enough decisions can be flipped, and the smallest sets are exact."""
    if evidence.gap is None or evidence.gap_advantage is None or evidence.flippable is None:
        return False
    return evidence.flippable.value >= limits.flippable and evidence.gap.kind != "lower bound"


def _by_mechanics(gap: Finding) -> bool:
    """Whether weights so uneven that even shuffled ones need no more than the smallest set leave no room."""
    shuffled = gap.baselines.get("shuffled")
    return shuffled is not None and shuffled.value <= 1 and gap.value <= 1


def constant(evidence: Evidence, limits: Thresholds) -> bool:
    """Whether attention gives (nearly) all texts constant weights."""
    return evidence.constant.value >= limits.constant


def low(finding: Finding) -> float:
    """The low end of the interval; without one nothing is known."""
    return finding.interval.low if finding.interval is not None else -math.inf


def high(finding: Finding) -> float:
    """The high end of the interval; without one nothing is known."""
    return finding.interval.high if finding.interval is not None else math.inf


def bounded(finding: Finding) -> bool:
    """Whether there is an interval with two finite ends."""
    return finding.interval is not None and finding.interval.bounded


def vague(finding: Finding) -> bool:
    """Whether a word skill is hardly known: its interval is longer than the way from chance to the yardstick.

    So it is where the yardstick itself barely beats chance, by which word skill is divided.
    """
    return high(finding) - low(finding) > 1


def _told(skill: Finding) -> str:
    if vague(skill):
        return f"cannot be told well on these texts: {_shown(skill)}"
    return f"is {_shown(skill)}"


def _shown(finding: Finding) -> str:
    ends = f" [{low(finding):.2f}, {high(finding):.2f}]" if bounded(finding) else ""
    return f"{finding.value:.2f}{ends}"
