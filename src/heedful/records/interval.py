"""Intervals: a number with its interval, what an interval decides, and those that have a closed form.

An interval decides a comparison, or leaves it undecided. Wilson (1927) for a share, Student's t over seeds,
McNemar's exact test, Benjamini & Hochberg (1995) for many p-values.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

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


def wilson_interval(successes: int, count: int, *, level: float = 0.95) -> Interval:
    """The interval of a share of successes; with no instance at all it is the whole of [0, 1]."""
    check_level(level)
    if not 0 <= successes <= count:
        raise UserError(f"A share needs between 0 and {count} successes, and got {successes}.")
    if count == 0:
        return Interval(0.0, 1.0, level=level, method="none: no instances")
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, pull = successes / count, z * z / count
    middle = (share + pull / 2) / (1 + pull)
    half = z * math.sqrt(share * (1 - share) / count + pull / (4 * count)) / (1 + pull)
    # At the ends the formula gives 0 and 1 exactly; rounding may not.
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == count else min(1.0, middle + half)
    return Interval(low, high, level=level, method="Wilson score")


def share_of(hits: ArrayLike, *, level: float = 0.95) -> Estimate:
    """The share of instances (n,) where it is so, with Wilson's interval."""
    said = np.asarray(hits)
    return Estimate(float(said.mean()), wilson_interval(int(said.sum()), len(said), level=level))


def seeds_interval(values: ArrayLike, *, level: float = 0.95) -> Interval:
    """Student's t interval of the mean over seeds (S,); one seed cannot tell, so it is unbounded."""
    check_level(level)
    runs = np.asarray(values, dtype=np.float64)
    if runs.ndim != 1 or len(runs) == 0:
        raise UserError(f"An interval over seeds needs one number per seed, and got shape {runs.shape}.")
    if not np.isfinite(runs).all():
        row = int(np.flatnonzero(~np.isfinite(runs))[0])
        raise UserError(f"Row {row} of the seeds is {runs[row]}: leave that run out, and say so.")
    if len(runs) == 1:
        return unknown("one seed", level=level)
    half = _t_quantile(level, len(runs) - 1) * float(runs.std(ddof=1)) / math.sqrt(len(runs))
    mean = float(runs.mean())
    return Interval(mean - half, mean + half, level=level, method=f"Student's t over {len(runs)} seeds")


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Two-sided p-value that paired yes/no outcomes differ, from the instances where just one says yes."""
    if min(only_first, only_second) < 0:
        raise UserError(f"McNemar's test counts instances, and got {only_first} and {only_second}.")
    discordant, fewer = only_first + only_second, min(only_first, only_second)
    ways, tail = 1, 1
    for k in range(fewer):
        ways = ways * (discordant - k) // (k + 1)
        tail += ways
    p_value: float = 2 * tail / 2**discordant  # whole numbers up to the one division: exact for any count
    return min(1.0, p_value)


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values in the order given: those below q have a false-discovery rate of at most q."""
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1:
        raise UserError(f"Adjusting needs one p-value per test, and got shape {p.shape}.")
    bad = np.flatnonzero(~((p >= 0) & (p <= 1)))  # also catches NaN
    if len(bad):
        raise UserError(f"A p-value lies between 0 and 1, and row {bad[0]} is {p[bad[0]]}.")
    order = np.argsort(p, kind="stable")
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return adjusted


def _t_quantile(level: float, freedom: int) -> float:
    """The t with P(|T| ≤ t) = level, found by halving the angle atan(t / √freedom)."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):  # π/2 · 2⁻⁶⁰ is below float64's step
        middle = (low + high) / 2
        low, high = (middle, high) if _t_within(middle, freedom) < level else (low, middle)
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def _t_within(angle: float, freedom: int) -> float:
    """P(|T| ≤ √freedom · tan(angle)) as a finite sum (Abramowitz & Stegun, 26.7.3 and 26.7.4)."""
    odd = freedom % 2
    sine, square = math.sin(angle), math.cos(angle) ** 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for k in range(freedom // 2):
        total += term
        term *= square * ((2 * k + 2) / (2 * k + 3) if odd else (2 * k + 1) / (2 * k + 2))
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
