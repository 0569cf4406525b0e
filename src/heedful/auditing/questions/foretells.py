"""Does the map predict what the model does when words are deleted? The question that decides the reading."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from heedful.auditing.names import has_signs, named
from heedful.auditing.questions.answer import Answer, Outcome, Question, present, scale_of, whisker
from heedful.auditing.rule import FAITHFUL, NOT_SHOWN, percent
from heedful.drawing import BLACK, BLUE, GREY, new_figure
from heedful.records import Estimate, Finding
from heedful.records.wording import in_percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from heedful.auditing.asking import Asking


def measure(asking: "Asking") -> "DataFrame":
    """The rows of the reading itself."""
    return asking.read.rows


def answer(rows: "DataFrame", asking: "Asking") -> Answer:
    from heedful.trials.rankings.regressions import REGRESSIONS

    verdict, scored, shown = asking.read.verdict, asking.read.scored, asking.read.shown
    outcome: Outcome = "unsure"
    if verdict.reading in (FAITHFUL, NOT_SHOWN):
        outcome = "yes" if verdict.reading == FAITHFUL else "no"
    if verdict.skill is None:
        return QUESTION.said("unsure", "It could not be measured; the reason stands beside the reading.", HOW)
    rankings = asking.read.rankings
    nulls: dict[str, Finding] = {name: rankings[name] for name in ("random", "shuffled") if name in rankings}
    skill = _beside(verdict.skill, nulls)
    said = {"yes": "Yes.", "no": "No.", "unsure": "In part."}[outcome]
    words = f"{said} This map predicts {percent(skill)} of what the best map could"
    if verdict.paint is not None:
        assert verdict.first is not None
        words += (
            f"; {percent(verdict.paint)} of its paint lies on words that matter, and its strongest word is "
            f"one of them in {percent(verdict.first)} of texts"
        )
    others = [name for name in rankings if name not in nulls and name != shown]
    of_classes = [_named(one.skill, one.name) for one in verdict.classes if one.skill is not None]
    return QUESTION.said(
        outcome,
        f"{words}. No map of single words can show more than {in_percent(scored.linear_share)} of what this "
        "model does.",
        HOW,
        finding=skill,
        scale=scale_of(skill, low_end=0.0, high_end=1.0, best=1.0, best_name="best map"),
        evidence=(
            *present((verdict.paint, verdict.first, scored.against(shown))),
            *present((scored.skill(shown, signed=True), _hidden(verdict.operator))),
            *of_classes,
            *(rankings[name] for name in others),
            *present(tuple(scored.skill(name, signed=True) for name in others if has_signs(name))),
            *present(tuple(scored.fitted(name, signed=own) for name in REGRESSIONS for own in (False, True))),
        ),
    )


HOW = (
    "Words are deleted at random, some at a time, and the text is read again, many times over. The skill "
    "says how well the map's weights predict the changes: 0 is a blank map, 1 weights in proportion to what "
    "each word does. A map without signs gets the signs of the effects. All maps are judged on the same "
    "deletions, and none was fitted to those that judge it: LIME and Shapley values are fitted to three "
    "quarters of a text's deletions and judged by the fourth, in turn. A word matters if its effect is a "
    "quarter of the strongest or more; where deletions cannot tell, because many words suffice, by what it "
    "says alone."
)


def figure(answer: Answer, rows: "DataFrame") -> "Figure | None":
    """The skill of every map, with intervals."""
    if answer.finding is None:
        return None
    maps = [one for one in answer.evidence if one.name == answer.finding.name and _of_all(one)]
    found = sorted([*maps, answer.finding], key=lambda one: one.value)
    drawn = new_figure(6.4, 1.1 + 0.32 * len(found))
    axes = drawn.subplots()
    for place, finding in enumerate(found):
        own = finding is answer.finding
        whisker(axes, finding, place, colour=BLUE if own else BLACK, marker="o" if own else "s")
    axes.axvline(0, color=GREY, linestyle=":", label="blank map")
    axes.axvline(1, color=GREY, linestyle="-.", label="best map")
    axes.set_yticks(range(len(found)), [named(str(one.coordinates["ranking"])) for one in found])
    axes.set_ylim(-0.6, len(found) - 0.4)
    axes.set_xlabel(f"heat-map skill (n = {answer.finding.count:,} texts, intervals)")
    drawn.legend(loc="outside upper center", ncols=2)
    return drawn


def _named(skill: Finding, name: str) -> Finding:
    return replace(skill, coordinates={**skill.coordinates, "predicted": name})


def _hidden(skill: Finding | None) -> Finding | None:
    return None if skill is None else replace(skill, coordinates={**skill.coordinates, "words": "hidden"})


def _of_all(finding: Finding) -> bool:
    """Whether it is of all texts, whose words were deleted."""
    return not {"predicted", "words"} & set(finding.coordinates)


def _beside(skill: Finding, nulls: Mapping[str, Finding]) -> Finding:
    return replace(skill, baselines={name: Estimate(one.value, one.interval) for name, one in nulls.items()})


QUESTION = Question(
    "foretells",
    "Does it predict what the model does when words are deleted?",
    measure,
    answer,
    figure,
    "heat-map skill of every map",
    decides=True,
)
