"""What to show instead of attention: the ranking of words that measured best on this model."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heedful.records import Finding
from heedful.verdict.evidence import Evidence
from heedful.verdict.rule import bounded

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
    """The best ranking beside attention, None where attention measured best or nothing was measured.

    Leaving out has word skill 1 by definition; another ranking wins over it only by being better still.
    `subject` is how the command line names the model.
    """
    if evidence.skill is None or not bounded(evidence.skill):
        return None
    found = [finding for finding in evidence.rankings if _shown(str(finding.coordinates.get("ranking")))]
    if not found:
        return None
    best = max(found, key=lambda finding: finding.value)
    if best.value <= evidence.skill.value:
        return None
    name = str(best.coordinates["ranking"])
    yardstick = best.coordinates.get("yardstick")
    why = (
        f"its word skill on these texts is {best.value:.2f}, and that of attention {evidence.skill.value:.2f}"
        + (" (it is the yardstick, so it has 1 by definition)" if name == yardstick else "")
    )
    return Instead(name, why, f'heedful explain {subject} "a text of yours" --by {name}', best)
