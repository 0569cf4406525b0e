"""Word skill: how much of what a ranking of words could find, attention does find.

At a share s of the words let D be the mean, over instances, of the fall of the decided class's probability
when the top ⌈s·n⌉ words of a ranking are deleted and the text is read again. Then

    skill = (D_ranking − D_random) / (D_leave-one-out − D_random),

averaged over s = 5, 10, 20 and 50 %. A random ranking has 0 and leave-one-out 1 by definition; a ranking can
be worse than random (below 0) or better than leave-one-out (above 1: that measures each word alone, and is no
upper bound). The interval is a paired bootstrap over instances, each with all its falls. Where leave-one-out
may be no better than random the interval is unbounded: nothing can be said then. That happens where several
words of a text say the same, so that no single one is missed; another ranking can then be the yardstick.

Texts of one word are left out, and counted. A short text's share is rounded up: of 7 words 5, 10 and 20 % are
one, one and two words.

Axes: n instances, C shares.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from heedful.errors import UserError, choose_from
from heedful.records import Estimate, Finding, ratio_of_means
from heedful.records.finding import Scalar
from heedful.trials.erasure.comparisons import Coordinates
from heedful.trials.erasure.linear_votes import Bools
from heedful.trials.erasure.word_erasures import WordErasures

SKILL_SHARES = (0.05, 0.1, 0.2, 0.5)
ZERO, ONE = "random", "leave-one-out"


def word_skill(
    erasures: WordErasures,
    ranking: str = "attention",
    *,
    shares: Sequence[float] = SKILL_SHARES,
    yardstick: str = ONE,
    by_share: bool = True,
    classes: Sequence[str] | None = None,
    coordinates: Coordinates | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> list[Finding]:
    """The word skill of a ranking: averaged over the shares, then at each; with `classes` also by class.

    Without `by_share` those at each share are left out. The findings by class (coordinate "predicted") are of
    the average, for each class that is decided in texts whose words matter.
    """
    for name in (ranking, ZERO, yardstick):
        choose_from("ranking in these erasures", name, erasures.without)
    several = erasures.words > 1
    where = {**(coordinates or {}), "ranking": ranking, "excluded_alone": erasures.alone}
    groups: list[tuple[Bools, Sequence[float], dict[str, Scalar]]] = [(several, shares, {})]
    if by_share and len(shares) > 1:
        groups += [(several, [share], {"share": share}) for share in shares]
    for number, name in enumerate(classes or ()):
        chosen = several & (erasures.decided == number)
        if measurable(erasures, chosen, shares=shares, yardstick=yardstick):
            groups.append((chosen, shares, {"predicted": name}))
    settings: dict[str, Any] = {"yardstick": yardstick, "level": level, "seed": seed}
    return [
        _finding(erasures, ranking, rows, {**where, **group}, shares=of, **settings)
        for rows, of, group in groups
    ]


def measurable(
    erasures: WordErasures, rows: Bools, *, shares: Sequence[float] = SKILL_SHARES, yardstick: str = ONE
) -> bool:
    """Whether word skill is defined on these instances (n,): the yardstick's mean is nowhere random's."""
    columns = [erasures.at(share) for share in shares]
    beyond = erasures.without[yardstick][rows][:, columns] - erasures.without[ZERO][rows][:, columns]
    return bool(rows.any()) and bool(beyond.mean(0).all())


def skill_estimate(
    erasures: WordErasures,
    ranking: str,
    *,
    rows: Bools | None = None,
    shares: Sequence[float] = SKILL_SHARES,
    yardstick: str = ONE,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """The word skill of a ranking on some instances (n,) of two words or more; by default on all of them."""
    rows = erasures.words > 1 if rows is None else rows
    if not rows.any():
        raise UserError("No instance has two words, so no word can be compared with another.")
    columns = [erasures.at(share) for share in shares]
    own, zero, one = (erasures.without[name][rows][:, columns] for name in (ranking, ZERO, yardstick))
    if not np.abs(one - zero).any():
        raise UserError(
            "Word skill needs words that matter, but taking out words changes nothing that this subject says."
        )
    return ratio_of_means(own - zero, one - zero, level=level, seed=seed)


def _finding(
    erasures: WordErasures,
    ranking: str,
    rows: Bools,
    coordinates: Coordinates,
    *,
    shares: Sequence[float],
    yardstick: str,
    level: float,
    seed: int,
) -> Finding:
    settings: dict[str, Any] = {"shares": shares, "yardstick": yardstick, "level": level, "seed": seed}
    skill = skill_estimate(erasures, ranking, rows=rows, **settings)
    beside = {ZERO: Estimate(0.0)} if ranking != ZERO else {}
    if "shuffled" in erasures.without and ranking != "shuffled":
        beside["shuffled"] = skill_estimate(erasures, "shuffled", rows=rows, **settings)
    listed = ", ".join(f"{100 * share:g}" for share in shares)
    return Finding.of(
        "word skill",
        skill,
        count=int(rows.sum()),
        baselines=beside,
        better="higher",
        coordinates=coordinates,
        measured=f"(ranking − random) ÷ ({yardstick} − random), of the fall of the decided class's "
        f"probability when the top {listed} % of the words are taken out and the text is read again",
    )
