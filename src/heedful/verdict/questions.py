"""The seven questions of an audit, each answered from the evidence in words that need no statistics.

An outcome is "yes", "no", "unsure" or "not asked", to the question as it is worded. `good` says whether the
outcome speaks for attention. Questions 1, 3 and 6 decide the reading; the others are context.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from heedful.records import Finding, decide
from heedful.verdict.evidence import Evidence
from heedful.verdict.rule import Thresholds, bounded, constant, gap_asked, high, low, vague

Outcome = Literal["yes", "no", "unsure", "not asked"]
MOST_APART = math.log(2)  # of the Jensen–Shannon divergence, in nats
FAR = MOST_APART / 2  # from here other weights count as very different
NEGLIGIBLE = 0.01  # accuracy that counts as nothing: surely less is "not needed", any sure gain "needed"
QUESTIONS = {
    "decides": "Does attention find the words that decide?",
    "top": "Does its top item matter more than the top item of shuffled weights?",
    "agreement": "Do independent measures agree with it, as much as with each other?",
    "adversary": "Could very different attention give the same decision?",
    "needed": "Is attention needed at all?",
    "stable": "Is it stable when the model is trained again?",
    "labels": "Do the words it attends to carry the label?",
}
LEFT_OUT = "leaving each word out"
YARDSTICKS = {
    "leave-one-out": LEFT_OUT,
    "contribution": "each word's contribution",
    "gradient": "gradient × input",
}
DECIDING = ("decides", "agreement", "stable")


@dataclass(frozen=True)
class Scale:
    """Where attention stands between its baselines and the best there is, in one unit."""

    low: float
    high: float
    you: float
    you_low: float | None = None
    you_high: float | None = None
    random: float | None = None
    shuffled: float | None = None
    best: float | None = None
    best_name: str = ""

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class Answer:
    """One question with its answer and what the answer rests on."""

    id: str
    outcome: Outcome
    answer: str
    measured: str
    finding: Finding | None = None
    scale: Scale | None = None
    evidence: tuple[Finding, ...] = ()
    good: bool | None = None
    figures: tuple[str, ...] = ()

    @property
    def number(self) -> int:
        return list(QUESTIONS).index(self.id) + 1

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, as the page reads them."""
        return {
            "id": self.id,
            "number": self.number,
            "question": QUESTIONS[self.id],
            "answer": self.answer,
            "outcome": self.outcome,
            "good": self.good,
            "decides": self.id in DECIDING,
            "finding": None if self.finding is None else self.finding.to_dict(),
            "scale": None if self.scale is None else self.scale.to_dict(),
            "evidence": [finding.to_dict() for finding in self.evidence],
            "figures": list(self.figures),
            "measured": self.measured,
        }


def answers(evidence: Evidence, thresholds: Thresholds | None = None) -> tuple[Answer, ...]:
    """All seven, in their order."""
    limits = thresholds or Thresholds()
    asked: dict[str, Callable[[Evidence, Thresholds], Answer | None]] = {
        "decides": _decides,
        "top": _top,
        "agreement": _agreement,
        "adversary": _adversary,
        "needed": _needed,
        "stable": _stable,
        "labels": _labels,
    }
    return tuple(ask(evidence, limits) or _not_asked(question, evidence) for question, ask in asked.items())


def _not_asked(question: str, evidence: Evidence) -> Answer:
    why = evidence.not_asked.get(question, "This could not be measured here.")
    return Answer(question, "not asked", why, "Not measured.")


def _decides(evidence: Evidence, limits: Thresholds) -> Answer | None:
    skill = evidence.skill
    if skill is None:
        return None
    outcome: Outcome = "unsure"
    if low(skill) >= limits.faithful:
        outcome = "yes"
    elif high(skill) < limits.not_an_explanation or constant(evidence, limits):
        outcome = "no"
    found = {
        "yes": "Yes. Taking out the words it attends to most changes the model's mind",
        "no": "No. Taking out the words it attends to most changes the model's mind hardly more than "
        "taking out "
        "random ones",
        "unsure": "In part. Taking out the words it attends to most changes the model's mind",
    }[outcome]
    by = _yardstick(skill)
    answer = f"{found}: it finds {_part(skill, by)}."
    if vague(skill):
        found = "Not clearly. How much it finds" if outcome == "unsure" else f"{found}, but how much"
        answer = (
            f"{found} cannot be told well on these texts: {_percent(skill)} of what {by} finds, an interval "
            "wider than the way from random words to that."
        )
    if not bounded(skill):
        answer = "It could not be measured: no ranking of words here moves the model more than chance does."
    if gap_asked(evidence, limits):
        assert evidence.gap is not None
        most = f"{evidence.gap.value:.2g} times as many items as needed"
        most = "no more items than needed" if evidence.gap.value == 1 else most
        answer += f" To change a decision at the layer, its order takes {most} (median)."
    exact = evidence.gap is None or evidence.gap.kind != "lower bound"
    parts = (
        *evidence.class_skills,
        *evidence.rankings,
        evidence.gap,
        evidence.gap_advantage,
        evidence.flippable,
    )
    return Answer(
        "decides",
        outcome,
        answer,
        "Words are deleted in the order of attention, 5, 10, 20 and 50 % of them, and the text is read "
        f"again. 0 is what random words do, 1 what the words do that {by} puts first. The gap is the number "
        "of items that attention needs to change the decision at its layer, divided by the "
        + ("least number." if exact else "least number that a search found, so it is a lower bound."),
        finding=skill,
        scale=_scale(
            skill, low=0.0, high=1.0, best=1.0, best_name=str(skill.coordinates.get("yardstick", ""))
        )
        if bounded(skill)
        else None,
        evidence=_present(parts),
        good=None if outcome == "unsure" else outcome == "yes",
        figures=("skill",) if evidence.gap is None else ("skill", "gap"),
    )


def _top(evidence: Evidence, limits: Thresholds) -> Answer | None:
    top, beside = evidence.top, evidence.top_advantage
    if top is None or beside is None:
        return None
    outcome = _outcome(beside, ">", 0.0)
    shuffled = top.baselines["shuffled"].value
    compared = f"{top.value:.0%} of decisions, and that of shuffled weights {shuffled:.0%}"
    if top.value < shuffled:
        why = "what it puts first decides less than what chance puts there."
    elif top.value:
        why = "weights this uneven do that wherever they lie."
    else:
        why = "neither decides alone."
    answer = {
        "yes": f"Yes. Erasing its top item alone changes {compared}.",
        "no": f"No. Erasing its top item alone changes {compared}: {why}",
        "unsure": f"Not clearly. Erasing its top item alone changes {compared}.",
    }[outcome]
    best = evidence.top.coordinates.get("possible") if evidence.top else None
    reached = float(best) if isinstance(best, int | float) else None
    return Answer(
        "top",
        outcome,
        answer,
        "The item with the largest weight is erased at the attention layer and the rest renormalised. The "
        "same is "
        "done with the model's weights shuffled among the words, and their own top item. The best there "
        "can be is "
        "the share of decisions that some single item changes.",
        finding=top,
        scale=_scale(top, low=0.0, high=reached or 1.0, best=reached, best_name="best single item"),
        evidence=(beside,),
        good=None if outcome == "unsure" else outcome == "yes",
        figures=("top",),
    )


def _agreement(evidence: Evidence, limits: Thresholds) -> Answer | None:
    own, gradient, margin = evidence.agreement, evidence.agreement_gradient, evidence.agreement_margin
    if own is None or gradient is None or margin is None:
        return None
    outcome = _outcome(margin, ">=", 0.0)
    by = _yardstick(own)
    compared = f"agrees with {by} at τ = {own.value:.2f}, the gradient at {gradient.value:.2f}"
    answer = {
        "yes": f"Yes. Attention {compared}: more than half as well.",
        "no": f"No. Attention {compared}: less than half as well.",
        "unsure": f"Not clearly. Attention {compared}.",
    }[outcome]
    return Answer(
        "agreement",
        outcome,
        answer,
        "Kendall's τ between two orders of a text's words: 1 is the same order, 0 no relation, −1 the "
        "reverse. Sizes are compared, without signs, because attention has none. "
        + (
            "Leaving each word out and the gradient are two measures that do not know of attention."
            if by == LEFT_OUT
            else "Leaving out single words tells nothing here: several words of a text say the same."
        ),
        finding=own,
        scale=_scale(
            own,
            low=min(0.0, own.value, gradient.value),
            high=max(gradient.value, own.value, 1e-9),
            best=gradient.value,
            best_name="gradient",
        ),
        evidence=(gradient, margin),
        good=None if outcome == "unsure" else outcome == "yes",
        figures=("agreement",),
    )


def _adversary(evidence: Evidence, limits: Thresholds) -> Answer | None:
    apart = evidence.adversary
    if apart is None:
        return None
    # A lower bound can say that such weights exist, never that they do not.
    outcome: Outcome = "yes" if low(apart) >= FAR else "unsure" if apart.kind == "lower bound" else "no"
    if outcome == "no" and high(apart) >= FAR:
        outcome = "unsure"
    share = apart.value / MOST_APART
    answer = {
        "yes": f"Yes. Other weights, {share:.0%} of the way to having nothing in common, give nearly "
        "the same output.",
        "no": f"No. Weights that give nearly the same output are at most {share:.0%} of the way to having "
        "nothing in "
        "common with these.",
        "unsure": f"Perhaps. Other weights, {share:.0%} of the way to having nothing in common, were found.",
    }[outcome]
    return Answer(
        "adversary",
        outcome,
        f"{answer} Such weights exist for almost any model, so this alone says little.",
        "For each text the weights farthest from the model's own (by Jensen–Shannon divergence) that move "
        "its "
        "output by at most 0.01: "
        + (
            "the exact maximum."
            if apart.kind != "lower bound"
            else "the best that a search found, a lower bound."
        ),
        finding=apart,
        scale=_scale(apart, low=MOST_APART, high=0.0, best=0.0, best_name="no other weights"),
        evidence=_present((evidence.permutation,)),
        good=None if outcome == "unsure" else outcome == "no",
        figures=("adversary",),
    )


def _needed(evidence: Evidence, limits: Thresholds) -> Answer | None:
    gain = evidence.needed
    if gain is None:
        return None
    outcome: Outcome = "yes" if low(gain) > 0 else "no" if high(gain) < NEGLIGIBLE else "unsure"
    points = f"{100 * gain.value:+.1f} points of accuracy"
    nulls = [baseline.value for baseline in gain.baselines.values()]
    answer = {
        "yes": f"Yes. It is worth {points} over a model that gives every word the same weight.",
        "no": f"No. A model that gives every word the same weight decides as well ({points}).",
        "unsure": f"Not clearly. Beside a model that gives every word the same weight it is worth {points}.",
    }[outcome]
    return Answer(
        "needed",
        outcome,
        answer,
        "The same model is trained with uniform weights, and both decide the same texts. Where attention "
        "adds nothing, what it looks at need not matter. Shuffled and random are the model itself with "
        "such weights, not trained again.",
        finding=gain,
        scale=_scale(gain, low=min(0.0, gain.value, *nulls), high=max(0.05, gain.value), best=None),
        good=None if outcome == "unsure" else outcome == "yes",
    )


def _stable(evidence: Evidence, limits: Thresholds) -> Answer | None:
    shared, beside = evidence.stable, evidence.stable_advantage
    if shared is None or beside is None:
        return None
    outcome = _outcome(beside, ">", 0.0)
    by_chance = shared.baselines["shuffled"].value
    compared = (
        f"share their top word in {shared.value:.0%} of texts, and {by_chance:.0%} if weights are shuffled"
    )
    answer = {
        "yes": f"Yes. Models trained from other seeds {compared}.",
        "no": f"No. Models trained from other seeds {compared}.",
        "unsure": f"Not clearly. Models trained from other seeds {compared}.",
    }[outcome]
    return Answer(
        "stable",
        outcome,
        answer,
        f"The model is trained from {shared.seeds} seeds and nothing else is changed; the words with the "
        "largest "
        "weight are compared pair by pair.",
        finding=shared,
        scale=_scale(shared, low=0.0, high=1.0, best=1.0, best_name="the same word always"),
        evidence=_present((beside, evidence.stable_divergence)),
        good=None if outcome == "unsure" else outcome == "yes",
        figures=("stable",),
    )


def _labels(evidence: Evidence, limits: Thresholds) -> Answer | None:
    share, beside = evidence.labels, evidence.labels_advantage
    if share is None or beside is None:
        return None
    outcome = _outcome(beside, ">", 0.0)
    chance = share.baselines.get("random", share.baselines["shuffled"])  # equal on average
    expected = chance.value
    compared = f"{share.value:.0%} of its weight lies on words of one class; by chance {expected:.0%} would"
    answer = {
        "yes": f"Yes. {compared}.",
        "no": f"No. {compared}.",
        "unsure": f"Not clearly. {compared}.",
    }[outcome]
    return Answer(
        "labels",
        outcome,
        answer,
        "Words that occur mostly in training texts of one class go with it (Sun & Lu's token types: of two "
        "classes more than three times as often as in the other, of more classes over 55 %). Chance is the "
        "share of such words among those of the text.",
        finding=share,
        scale=_scale(share, low=0.0, high=1.0, best=None),
        evidence=(beside,),
        good=None if outcome == "unsure" else outcome == "yes",
        figures=("labels",),
    )


def _yardstick(finding: Finding) -> str:
    """What a finding is measured by, in words."""
    return YARDSTICKS.get(str(finding.coordinates.get("yardstick", "leave-one-out")), LEFT_OUT)


def _outcome(finding: Finding, comparison: str, threshold: float) -> Outcome:
    if finding.interval is None:
        return "unsure"
    outcomes: dict[str, Outcome] = {"holds": "yes", "does not hold": "no", "undecided": "unsure"}
    return outcomes[decide(finding.interval, comparison, threshold)]


def _scale(finding: Finding, *, low: float, high: float, best: float | None, best_name: str = "") -> Scale:
    beside = {
        name: finding.baselines[name].value for name in ("random", "shuffled") if name in finding.baselines
    }
    return Scale(low, high, finding.value, *_ends(finding), best=best, best_name=best_name, **beside)


def _ends(finding: Finding) -> tuple[float | None, float | None]:
    return (low(finding), high(finding)) if bounded(finding) else (None, None)


def _part(skill: Finding, by: str) -> str:
    """How much it finds of what the yardstick finds, which is no upper bound."""
    if low(skill) > 1:
        return f"more than {by} finds ({_percent(skill)} of it)"
    if skill.value >= 1:
        return f"as much as {by} finds ({_percent(skill)} of it)"
    return f"{_percent(skill)} of what {by} finds"


def _percent(finding: Finding) -> str:
    shown = f"{100 * finding.value:.0f} %"
    return f"{shown} [{100 * low(finding):.0f}, {100 * high(finding):.0f}]" if bounded(finding) else shown


def _present(findings: Sequence[Finding | None]) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if finding is not None)
