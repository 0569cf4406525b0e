"""An interval, and a number with its interval, which is how every uncertain number is handed on.

An interval decides a comparison, or leaves it undecided.
"""

import math
from dataclasses import dataclass
from typing import Literal

from heedful.errors import UserError, choose_from

Outcome = Literal["holds", "does not hold", "undecided"]
OUTCOMES: tuple[Outcome, ...] = ("holds", "does not hold", "undecided")
COMPARISONS = (">", ">=", "<", "<=", "within")


@dataclass(frozen=True)
class Interval:
    """Where a number may lie, at a level such as 0.95, and how that was found.

    An interval from −∞ to ∞ says that the data cannot tell; its method then says why.
    """

    low: float
    high: float
    level: float
    method: str

    def __post_init__(self) -> None:
        for end in ("low", "high", "level"):
            object.__setattr__(self, end, float(getattr(self, end)))
        if math.isnan(self.low) or math.isnan(self.high) or self.low > self.high:
            raise UserError(
                f"An interval needs a low end below its high end, and got {self.low} and {self.high}."
            )
        check_level(self.level)

    @property
    def bounded(self) -> bool:
        """Whether both ends are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)


@dataclass(frozen=True)
class Estimate:
    """A number and its interval; None where an interval has no meaning, as for a count of everything."""

    value: float
    interval: Interval | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", finite(self.value, "the value of an estimate"))


def decide(interval: Interval, comparison: str, threshold: float) -> Outcome:
    """Whether the whole interval satisfies the comparison, the whole interval fails it, or neither.

    The comparison is ">", ">=", "<", "<=" or "within", which means between −threshold and threshold.
    """
    choose_from("comparison", comparison, COMPARISONS)
    if math.isnan(threshold):
        raise UserError("A claim needs a number to be compared with, and got nan.")
    low, high = interval.low, interval.high
    if comparison == "within":
        true, false = -threshold <= low and high <= threshold, high < -threshold or threshold < low
    elif comparison == ">":
        true, false = low > threshold, high <= threshold
    elif comparison == ">=":
        true, false = low >= threshold, high < threshold
    elif comparison == "<":
        true, false = high < threshold, low >= threshold
    else:
        true, false = high <= threshold, low > threshold
    return "holds" if true else "does not hold" if false else "undecided"


def unknown(reason: str, *, level: float) -> Interval:
    """The interval of somebody who cannot tell, with the reason (such as "one instance")."""
    return Interval(-math.inf, math.inf, level=level, method=f"none: {reason}")


def check_level(level: float) -> None:
    """Refuse a level outside (0, 1): 95 is written 0.95."""
    if not 0 < level < 1:
        raise UserError(f"A level lies between 0 and 1, such as 0.95, and this one is {level}.")


def finite(value: object, what: str) -> float:
    """The value as a Python float; anything that is not one finite number is refused."""
    try:
        number = float(value)  # type: ignore[arg-type]  # whatever floats: NumPy scalars, 0-d tensors
    except (TypeError, ValueError):
        raise UserError(f"Expected a number for {what}, and got {value!r}.") from None
    if not math.isfinite(number):
        raise UserError(
            f"Expected a finite number for {what}, and got {number}: leave it out and say how many."
        )
    return number
