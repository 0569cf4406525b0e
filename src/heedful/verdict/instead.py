"""What to show instead of attention: the ranking of words that measured clearly better on this model.

Clearly is by the intervals at hand: the low end of the other's word skill is above the high end of
attention's. Where none is, `nothing_better` says so, and what measured best.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heedful.records import Finding
from heedful.verdict.evidence import Evidence
from heedful.verdict.rule import bounded, high, low

NAMES: Mapping[str, str] = {
    "attention": "attention",
    "gradient": "gradient × input",
    "gradient-held": "gradient × input with attention held",
    "integrated": "integrated gradients",
    "leave-one-out": "leaving each word out",
    "contribution": "contribution (weight × what the word says)",
    "rollout": "attention rollout",
    "flow": "attention flow",
    "lime": "LIME",
}
HEAD = re.compile(r"head-(\d+)-only")  # one head of a transformer's last layer


@dataclass(frozen=True)
class Instead:
    """A better ranking, its measured word skill, and the command that paints it."""

    name: str  # as `heedful explain --by` takes it
    why: str
    command: str
    skill: Finding

    def to_dict(self) -> dict[str, Any]:
        return {
            "ranking": named(self.name),
            "name": self.name,
            "key": self.name,  # among the rankings of an instance
            "why": self.why,
            "command": self.command,
            "skill": self.skill.to_dict(),
        }


def named(ranking: str) -> str:
    """A ranking's name for people."""
    head = HEAD.fullmatch(ranking)
    return f"attention of head {head[1]} alone" if head else NAMES[ranking]


def _shown(ranking: str) -> bool:
    """Whether a command can paint it; chance, and scores that a user brought, it cannot."""
    return ranking != "attention" and (ranking in NAMES or HEAD.fullmatch(ranking) is not None)


def instead(evidence: Evidence, *, subject: str) -> Instead | None:
    """The best of the rankings that are clearly better than attention, None without one.

    Leaving out has word skill 1 by definition; another ranking wins over it only by being better still.
    `subject` is how the command line names the model.
    """
    better = _clearly_better(evidence)
    if not better or evidence.skill is None:
        return None
    best = max(better, key=lambda finding: finding.value)
    name = str(best.coordinates["ranking"])
    yardstick = best.coordinates.get("yardstick")
    why = (
        f"its word skill on these texts is {best.value:.2f}, and that of attention {evidence.skill.value:.2f}"
        + (" (it is the yardstick, so it has 1 by definition)" if name == yardstick else "")
    )
    return Instead(name, why, f'heedful explain {subject} "a text of yours" --by {name}', best)


def nothing_better(evidence: Evidence) -> str | None:
    """That nothing measured clearly better, and what measured best; None where something did, or none was."""
    skill, others = evidence.skill, _others(evidence)
    if skill is None or not bounded(skill) or not others or _clearly_better(evidence):
        return None
    best = max(others, key=lambda finding: finding.value)
    if best.value <= skill.value:
        return f"Nothing else measured better than attention (word skill {_measured(skill)})."
    return (
        f"Nothing measured clearly better than attention (word skill {_measured(skill)}); the best was "
        f"{named(str(best.coordinates['ranking']))} ({_measured(best)})."
    )


def _others(evidence: Evidence) -> list[Finding]:
    return [finding for finding in evidence.rankings if _shown(str(finding.coordinates.get("ranking")))]


def _clearly_better(evidence: Evidence) -> list[Finding]:
    skill = evidence.skill
    if skill is None or not bounded(skill):
        return []
    return [finding for finding in _others(evidence) if low(finding) > high(skill)]


def _measured(skill: Finding) -> str:
    return f"{skill.value:.2f}" + (f" [{low(skill):.2f}, {high(skill):.2f}]" if bounded(skill) else "")
