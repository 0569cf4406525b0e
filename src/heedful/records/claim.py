"""`Claim`: a statement of a paper, and whether the data bear it out: holds, does not hold, or undecided."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from heedful.errors import UserError, choose_from
from heedful.records.finding import Finding, Scalar
from heedful.records.interval import OUTCOMES, Interval, Outcome, decide, unknown
from heedful.records.stored import check_keys, check_stamp, load_json, save_json, stamp

if TYPE_CHECKING:
    import pandas

VERSION = 1


@dataclass(frozen=True)
class Claim:
    """A statement, where it stands, what was found, and the effect that decided it."""

    statement: str
    source: str  # paper and section
    outcome: Outcome
    effect: Finding
    criterion: str = ""  # what the effect was compared with, such as "> 0"

    def __post_init__(self) -> None:
        choose_from("outcome", self.outcome, OUTCOMES)

    @classmethod
    def decided(
        cls, statement: str, source: str, *, effect: Finding, comparison: str, threshold: float
    ) -> Self:
        """The claim as its effect decides it.

        A lower bound can only speak for "more", an upper bound for "less"; an exact number without an
        interval stands for itself; an estimate without an interval decides nothing.
        """
        outcome = decide(_what_is_known(effect), comparison, threshold)
        shown = f"within ±{threshold:g}" if comparison == "within" else f"{comparison} {threshold:g}"
        return cls(statement, source, outcome, effect, shown)

    def to_row(self) -> dict[str, Scalar]:
        """One flat row, for `append_rows`."""
        claim = {"statement": self.statement, "source": self.source, "outcome": self.outcome}
        return {**claim, "criterion": self.criterion, **self.effect.to_row()}

    def to_frame(self) -> "pandas.DataFrame":
        """A frame of one row."""
        import pandas

        return pandas.DataFrame([self.to_row()])

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, with a schema version."""
        claim = {"statement": self.statement, "source": self.source, "outcome": self.outcome}
        return {
            **stamp("claim", VERSION),
            **claim,
            "criterion": self.criterion,
            "effect": self.effect.to_dict(),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """The claim that `to_dict` wrote."""
        check_stamp(content, "claim", VERSION)
        fields = {key: value for key, value in content.items() if key not in stamp("", 0)}
        check_keys(fields, set(cls.__dataclass_fields__), "claim")
        if not isinstance(fields["effect"], Mapping):
            raise UserError(f"The effect of a claim needs a finding, and is {fields['effect']!r}.")
        return cls(**{**fields, "effect": Finding.from_dict(fields["effect"])})

    def save(self, path: str | Path) -> Path:
        """Write as JSON, whole or not at all."""
        return save_json(path, self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote."""
        return cls.from_dict(load_json(path))

    def told(self, *, trained: bool) -> str:
        """The outcome as it is said: where models were trained, what one decides, it decides of this run."""
        one = trained and self.effect.seeds == 1 and self.effect.kind != "exact"
        return f"{self.outcome} in this run" if one and self.outcome != "undecided" else self.outcome

    def __str__(self) -> str:
        return f"{self.outcome}: {self.statement} ({self.source}): {self.effect}"

    def _repr_html_(self) -> str:
        words = f"<b>{escape(self.outcome)}</b>: {escape(self.statement)} ({escape(self.source)})"
        return f'<span class="heedful-claim">{words}: {self.effect._repr_html_()}</span>'


def _what_is_known(effect: Finding) -> Interval:
    known = effect.interval
    if known is None:
        if effect.kind == "estimate":
            return unknown("an estimate without an interval", level=0.95)
        known = Interval(effect.value, effect.value, level=0.95, method="exact")
    low = -math.inf if effect.kind == "upper bound" else known.low
    high = math.inf if effect.kind == "lower bound" else known.high
    return Interval(low, high, level=known.level, method=known.method)
