"""What a question is, and how it is answered: the words, the finding they rest on, and where that stands.

An outcome is "yes", "no", "unsure" or "not asked", to the question as it is worded. `good` says whether it
speaks for the map. No torch here: answers are read again, and drawn, without it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from heedful.auditing.rule import bounded, high, low
from heedful.drawing import BLACK, BLUE, GREY, PURPLE, new_figure
from heedful.errors import UserError
from heedful.records import Estimate, Finding, bootstrap_interval, decide, paired_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from heedful.auditing.asking import Asking

Outcome = Literal["yes", "no", "unsure", "not asked"]
PLAINLY: Mapping[Outcome, str] = {"yes": "Yes.", "no": "No.", "unsure": "Not clearly."}


class NotAsked(Exception):  # noqa: N818  # it is an answer, not an error
    """Why a question cannot be asked of this subject, in a sentence."""


@dataclass(frozen=True)
class Scale:
    """Where the map stands between its baselines and the best there is, in one unit."""

    low: float
    high: float
    you: float
    you_low: float | None = None
    you_high: float | None = None
    random: float | None = None
    shuffled: float | None = None
    best: float | None = None
    best_name: str = ""


@dataclass(frozen=True)
class Answer:
    """One question with its answer and what the answer rests on."""

    id: str
    question: str
    outcome: Outcome
    answer: str
    measured: str = "Not measured."
    finding: Finding | None = None
    scale: Scale | None = None
    evidence: tuple[Finding, ...] = ()
    good: bool | None = None
    decides: bool = False
    number: int = 0
    figures: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.evidence if self.finding is None else (self.finding, *self.evidence)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, as the page reads them."""
        return {
            **vars(self),
            "finding": None if self.finding is None else self.finding.to_dict(),
            "scale": None if self.scale is None else vars(self.scale),
            "evidence": [finding.to_dict() for finding in self.evidence],
            "figures": list(self.figures),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """What `to_dict` wrote."""
        try:
            plain = dict(content)
            finding, scale = plain.pop("finding"), plain.pop("scale")
            return cls(
                finding=None if finding is None else Finding.from_dict(finding),
                scale=None if scale is None else Scale(**scale),
                evidence=tuple(Finding.from_dict(one) for one in plain.pop("evidence")),
                figures=tuple(plain.pop("figures")),
                **plain,
            )
        except (KeyError, TypeError) as error:
            raise UserError(f"An answer of this audit is damaged: {error}.") from None


@dataclass(frozen=True)
class Question:
    """A question: what it measures, its answer from the rows, and its figure."""

    id: str
    asks: str
    measure: "Callable[[Asking], DataFrame]"  # raises NotAsked where it cannot be asked
    answer: "Callable[[DataFrame, Asking], Answer]"
    figure: "Callable[[Answer, DataFrame], Figure | None] | None" = None
    figure_title: str = ""
    decides: bool = False
    of_others: bool = False  # asked of models that are not ours to train again, and only of those
    of_attention: str = ""  # how it is asked where attention is measured but another map is judged

    def said(self, outcome: Outcome, words: str, measured: str, **more: Any) -> Answer:
        """An answer to this question; whether it speaks for the map is read off the outcome unless said."""
        good = None if outcome in ("unsure", "not asked") else outcome == "yes"
        return Answer(self.id, self.asks, outcome, words, measured, **{"good": good, **more})

    def plainly(self, outcome: Outcome, words: str, measured: str, **more: Any) -> Answer:
        """The same with yes, no or not clearly before its words."""
        return self.said(outcome, f"{PLAINLY[outcome]} {words}", measured, **more)

    def beside(self, answer: Answer, shown: str) -> Answer:
        """The answer where `shown` is judged: what attention does speaks neither for nor against that."""
        if not self.of_attention:
            return answer
        words = answer.answer
        if answer.outcome != "not asked":
            words += f" This was measured of the model's attention, not of what is judged here ({shown})."
        return replace(answer, question=self.of_attention, answer=words, good=None)

    def not_asked(self, why: str) -> Answer:
        return replace(self.said("not asked", why, "Not measured."), decides=self.decides)


def outcome_of(found: "Finding | Estimate | None", comparison: str, threshold: float) -> Outcome:
    """Whether a number is surely on one side of a threshold."""
    if found is None or found.interval is None:
        return "unsure"
    outcomes: dict[str, Outcome] = {"holds": "yes", "does not hold": "no", "undecided": "unsure"}
    return outcomes[decide(found.interval, comparison, threshold)]


def scale_of(
    finding: Finding, *, low_end: float, high_end: float, best: float | None = None, best_name: str = ""
) -> Scale:
    """The finding between its baselines."""
    you_low, you_high = (low(finding), high(finding)) if bounded(finding) else (None, None)
    random, shuffled = (
        finding.baselines[name].value if name in finding.baselines else None
        for name in ("random", "shuffled")
    )
    return Scale(low_end, high_end, finding.value, you_low, you_high, random, shuffled, best, best_name)


def mean_finding(
    name: str,
    values: NDArray,
    measured: str,
    *,
    seed: int,
    baselines: Mapping[str, NDArray] | None = None,
    **described: Any,
) -> Finding:
    """The mean over texts, with its bootstrap interval."""
    return Finding(
        name,
        float(values.mean()),
        interval=bootstrap_interval(values, seed=seed),
        count=len(values),
        baselines={key: Estimate(float(column.mean())) for key, column in (baselines or {}).items()},
        measured=measured,
        **described,
    )


def difference_finding(
    name: str, own: NDArray, other: NDArray, measured: str, *, seed: int, **more: Any
) -> Finding:
    """The mean of the differences, paired over texts."""
    found = paired_difference(own, other, seed=seed)
    return Finding.of(name, found, count=len(own), measured=measured, **more)


def bars(
    finding: Finding, label: str, more: Mapping[str, float] | None = None, *, whose: str = "this map"
) -> "Figure":
    """A share beside its baselines."""
    named = {whose: finding.value}
    named |= {name: baseline.value for name, baseline in finding.baselines.items()}
    named |= dict(more or {})
    colours = {whose: BLUE, "random": GREY, "shuffled": PURPLE}
    figure = new_figure(6.4, 0.9 + 0.36 * len(named))
    axes = figure.subplots()
    names = list(named)[::-1]
    axes.barh(
        names, [named[name] for name in names], color=[colours.get(name, BLACK) for name in names], height=0.6
    )
    if bounded(finding):
        whisker(axes, finding, names.index(whose))
    axes.set_xlim(0, max(1e-3, min(1.0, 1.15 * max(named.values()))))
    axes.set_xlabel(f"{label} (n = {finding.count:,} texts)")
    axes.grid(axis="y", visible=False)
    return figure


def whisker(axes: Any, finding: Finding, place: int, *, colour: str = BLACK, marker: str = "") -> None:
    """A value and its interval at one height."""
    ends = None
    if bounded(finding):
        ends = np.maximum([[finding.value - low(finding)], [high(finding) - finding.value]], 0)
    axes.errorbar([finding.value], [place], xerr=ends, color=colour, marker=marker, markersize=4, capsize=3)


def present(findings: Sequence[Finding | None]) -> tuple[Finding, ...]:
    """Those that there are."""
    return tuple(finding for finding in findings if finding is not None)
