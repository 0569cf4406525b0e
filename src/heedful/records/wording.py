"""Numbers as a person reads them: as many decimals as the interval can bear."""

import math

from heedful.records.interval import Interval


def decimals(value: float, interval: Interval | None) -> int:
    """Decimals down to the first digit that half the interval's width moves; at least two below 10."""
    least = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    half = (interval.high - interval.low) / 2 if interval is not None else 0.0
    if not 0 < half < math.inf:
        return least
    return min(6, max(least, -math.floor(math.log10(half))))


def number(value: float, places: int) -> str:
    """The value with that many decimals, grouped by thousands; never "-0.00"."""
    return f"{round(value, places) + 0.0:,.{places}f}"


def signed(value: float, places: int) -> str:
    """A difference with its sign; what rounds to 0 has none."""
    rounded = round(value, places) + 0.0
    return f"{rounded:+,.{places}f}".replace("-", "−") if rounded else f"{0:.{places}f}"


def plain(value: float) -> str:
    """A number without an interval: a count in full, anything else to three digits."""
    if value == round(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def in_percent(share: float, places: int = 0) -> str:
    """A share in percent; never "-0 %"."""
    return f"{100 * share:z.{places}f} %"


def lasting(seconds: float) -> str:
    """How long something takes, as a person says it: 1 s at least, then minutes and hours."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def in_brackets(interval: Interval, places: int) -> str:
    """[0.51, 0.59], or why there is no such thing."""
    if not interval.bounded:
        return f"[{interval.method}]"
    return f"[{number(interval.low, places)}, {number(interval.high, places)}]"
