"""What to show instead: the map that is surely better on the same deletions, by a difference that matters."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from heedful.auditing.names import has_signs, shown_names
from heedful.auditing.rule import CARE, FAITHFUL, Reading, Thresholds, bounded, judge, low
from heedful.auditing.skill import Scored
from heedful.records import Estimate, Finding

MATTERS = 0.05  # a difference in skill that a reader of the map would see


@dataclass(frozen=True)
class Instead:
    """A better map, its skill, by how much it is better, and how it reads itself."""

    ranking: str
    skill: Finding
    better_by: Estimate
    reading: Reading
    first: float  # share of texts whose strongest word matters
    signed: Finding | None = None  # its skill with its own signs, if it has any


def instead(scored: Scored, shown: str, classes: Sequence[str], limits: Thresholds) -> Instead | None:
    """The best of the maps that are surely better than the one shown; None without one."""
    better = list(_better(scored, shown, classes, limits))
    if not better:
        return None
    # Of those whose strongest word matters about as often as that of any, the one that predicts best.
    first = max(one.first for one in better)
    good = [one for one in better if one.first >= first - MATTERS]
    return max(good, key=lambda one: one.skill.value)


def _better(scored: Scored, shown: str, classes: Sequence[str], limits: Thresholds) -> Iterator[Instead]:
    for name in shown_names(scored.names):
        if name == shown:
            continue
        skill, beyond = scored.skill(name), scored.beyond(name, shown)
        if skill is None or beyond is None or not bounded(skill) or low(beyond) < MATTERS:
            continue
        if low(skill) < limits.wrong_skill:  # better than nothing is not good
            continue
        tried = scored.rows[scored.rows[f"told_{name}"].notna()]
        own = judge(tried, name, classes, level=scored.level, thresholds=limits, seed=scored.seed)
        first = scored.first(name)
        if own.reading in (FAITHFUL, CARE):
            signed = scored.skill(name, signed=True) if has_signs(name) else None
            yield Instead(name, skill, beyond, own.reading, 0.0 if first is None else first.value, signed)
