"""`Evidence`: the findings that a verdict is made from. Nothing else is read, so a verdict can be made again.

Each field is a finding of `heedful.study.auditing`, or None where it could not be measured; what could not be
asked, and why, is in `not_asked`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

from heedful.errors import UserError
from heedful.records import Finding


@dataclass(frozen=True)
class Evidence:
    """What was measured on one model and one set of texts."""

    accuracy: Finding  # coordinates: majority, the share of the largest class
    constant: Finding  # share of texts whose weights are all equal
    skill: Finding | None = None  # word skill of attention, averaged over the shares
    class_skills: tuple[Finding, ...] = ()  # the same by decided class (coordinate "predicted")
    rankings: tuple[Finding, ...] = ()  # word skill of every ranking (coordinate "ranking")
    flippable: Finding | None = None  # share of texts whose decision some erasure at the layer changes
    gap: Finding | None = None  # median of items needed ÷ items of the smallest set
    gap_advantage: Finding | None = None  # mean log2 of the shuffled weights' gap ÷ attention's
    top: Finding | None = None  # share of decisions that the top item alone flips
    top_advantage: Finding | None = None  # that minus the same of shuffled weights
    agreement: Finding | None = None  # mean τ of attention and leave-one-out
    agreement_gradient: Finding | None = None  # mean τ of gradient and leave-one-out
    agreement_margin: Finding | None = None  # mean of the first minus half of the second
    adversary: Finding | None = None  # mean divergence of the farthest weights with the same output
    permutation: Finding | None = None  # change of the output under permuted weights
    needed: Finding | None = None  # accuracy minus that of the uniform control
    stable: Finding | None = None  # overlap of the top item between seeds
    stable_advantage: Finding | None = None  # that minus the same of shuffled weights
    stable_divergence: Finding | None = None  # JSD of the weights between seeds
    labels: Finding | None = None  # attention on words that go with one class
    labels_advantage: Finding | None = None  # that minus what uniform weights put there
    not_asked: Mapping[str, str] = field(default_factory=dict)  # question id → why

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {item.name: _plain(getattr(self, item.name)) for item in fields(self)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """What `to_dict` wrote; an unknown name is refused."""
        known = {item.name for item in fields(cls)}
        for name in content:
            if name not in known:
                raise UserError(f"This evidence has {name!r}, which no evidence has: it is damaged.")
        return cls(**{name: _read(name, value) for name, value in content.items()})


def _plain(value: Any) -> Any:
    if isinstance(value, Finding):
        return value.to_dict()
    if isinstance(value, tuple):
        return [finding.to_dict() for finding in value]
    return None if value is None else dict(value)


def _read(name: str, value: Any) -> Any:
    if name == "not_asked":
        return dict(value)
    if isinstance(value, list):
        return tuple(Finding.from_dict(entry) for entry in value)
    return None if value is None else Finding.from_dict(value)
