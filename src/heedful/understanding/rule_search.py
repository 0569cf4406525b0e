"""Which K-class rule did Sun & Lu use? Footnote 9 names a threshold and does not state it.

Every threshold on the largest share and on the count of a word is tried against the counts that supplement
Table 1 prints for 20News II, and so is a family of rules for neutral words; the result says how near the
nearest comes and how many of the printed sample words it keeps. Counting is by cumulated histograms, so
tens of thousands of rules take a moment.
Axes: V words that occur, K classes, and one axis for each threshold of a rule.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heedful.data.vocabulary import SPECIAL
from heedful.understanding.table_one import PRINTED, PrintedType
from heedful.understanding.token_types import TokenTypes, TypeRules, class_shares

if TYPE_CHECKING:
    import pandas

SHARES = tuple(np.arange(34, 100) / 100)
SPREADS = tuple(np.arange(2, 41) / 100)
GAPS = tuple(range(2, 21))
COUNTS = tuple(range(100))


@dataclass(frozen=True)
class RuleSearch:
    """The rules that come nearest to printed counts, and every rule that was tried, the nearest first.

    `polar_tried` has share, counted ("own" class or "total"), count, the sizes by class, off (the summed
    difference from the printed counts) and kept (printed sample words that get their printed type);
    `neutral_tried` has spread, gap, count, size, off and kept.
    """

    rules: TypeRules
    sizes: Mapping[str, int]
    printed: Mapping[str, int]
    sampled: int  # printed sample words that occur at all
    kept: int  # of these, with their printed type
    polar_tried: "pandas.DataFrame"
    neutral_tried: "pandas.DataFrame"

    @property
    def off(self) -> int:
        """How many words our counts and the printed ones differ by, summed over the types."""
        return sum(abs(self.sizes[name] - count) for name, count in self.printed.items())

    def summary(self) -> str:
        """What was found, in words."""
        ours = " / ".join(str(self.sizes[name]) for name in self.printed)
        theirs = " / ".join(str(count) for count in self.printed.values())
        rules = self.rules
        where = "altogether" if rules.share_counted == "total" else "in that class"
        gap = rules.neutral_spread_count
        apart = "" if gap is None else f" and counts that differ by less than {gap}"
        return (
            f"Nearest to the printed {theirs} is {ours}, {self.off} words off: a class's words have more "
            f"than {rules.share:g} of their occurrences in it and occur more than {rules.share_count} times "
            f"{where}; neutral words have shares that differ by less than {rules.neutral_spread:g}{apart}, "
            f"and occur more than {rules.neutral_count} times. {self.kept} of the {self.sampled} printed "
            f"sample words get their type. Tried: {len(self.polar_tried):,} rules for classes and "
            f"{len(self.neutral_tried):,} for neutral."
        )


def search_class_rules(
    types: TokenTypes,
    printed: Mapping[str, PrintedType] | None = None,
    *,
    shares: Sequence[float] = SHARES,
    spreads: Sequence[float] = SPREADS,
) -> RuleSearch:
    """Try all rules on the words' counts (of `types`, whose codes do not matter) against printed lines.

    Classes and neutral are searched apart, as no word can be both. Nearest is the least sum of the words that
    the counts are off by and of the printed sample words that do not get their type: rare words among the
    samples speak against high thresholds that fit the counts by chance.
    """
    printed = PRINTED["20news-2"] if printed is None else printed
    counts = types.counts[len(SPECIAL) :]
    occurring = counts.sum(1) > 0
    counts, words = counts[occurring], np.array(types.words[len(SPECIAL) :], dtype=object)[occurring]
    sampled = {name: np.isin(words, line.sample) for name, line in printed.items()}

    polar = _try_polar(counts, sampled, printed, classes=types.names[:-1], shares=shares)
    neutral = _try_neutral(counts, sampled[types.names[-1]], printed[types.names[-1]].count, spreads=spreads)
    first, even = polar.iloc[0], neutral.iloc[0]
    rules = TypeRules(
        share=float(first["share"]),
        share_count=int(first["count"]),
        share_counted=str(first["counted"]),
        neutral_spread=float(even["spread"]),
        neutral_count=int(even["count"]),
        neutral_spread_count=None if np.isnan(even["gap"]) else int(even["gap"]),
    )
    sizes = {name: int(first[name]) for name in types.names[:-1]} | {types.names[-1]: int(even["size"])}
    return RuleSearch(
        rules,
        sizes,
        printed={name: line.count for name, line in printed.items()},
        sampled=sum(int(found.sum()) for found in sampled.values()),
        kept=int(first["kept"] + even["kept"]),
        polar_tried=polar,
        neutral_tried=neutral,
    )


def _try_polar(
    counts: np.ndarray,
    sampled: Mapping[str, np.ndarray],
    printed: Mapping[str, PrintedType],
    *,
    classes: Sequence[str],
    shares: Sequence[float],
) -> "pandas.DataFrame":
    import pandas

    share = class_shares(counts)
    top, above = share.argmax(1), _above(share.max(1), shares)
    parts = []
    for counted, times in (("own", counts.max(1)), ("total", counts.sum(1))):
        over = _above(times, COUNTS)
        sizes, kept = {}, np.zeros((len(shares), len(COUNTS)), np.int64)
        for k, name in enumerate(classes):
            own = top == k
            sizes[name] = _satisfied([above[own], over[own]], [len(shares), len(COUNTS)])
            theirs = own & sampled[name]
            kept = kept + _satisfied([above[theirs], over[theirs]], [len(shares), len(COUNTS)])
        off = sum(np.abs(sizes[name] - printed[name].count) for name in classes)
        grid = np.meshgrid(shares, COUNTS, indexing="ij")
        columns = {"share": grid[0], "count": grid[1], **sizes, "off": off, "kept": kept}
        part = pandas.DataFrame({name: np.ravel(values) for name, values in columns.items()})
        parts.append(part.assign(counted=counted))
    return _nearest_first(pandas.concat(parts))


def _try_neutral(
    counts: np.ndarray, sampled: np.ndarray, aim: int, *, spreads: Sequence[float]
) -> "pandas.DataFrame":
    import pandas

    gaps = (*GAPS, np.inf)  # the last: no rule about the gap
    # "below a threshold" is "above" of the negatives.
    rules = [
        _above(-np.ptp(class_shares(counts), 1), [-spread for spread in reversed(spreads)]),
        _above(-np.ptp(counts, 1), [-gap for gap in reversed(gaps)]),
        _above(counts.sum(1), COUNTS),
    ]
    shape = [len(spreads), len(gaps), len(COUNTS)]
    size = _satisfied(rules, shape)
    kept = _satisfied([rule[sampled] for rule in rules], shape)
    grid = np.meshgrid(list(reversed(spreads)), list(reversed(gaps)), COUNTS, indexing="ij")
    columns = {"spread": grid[0], "gap": np.where(np.isinf(grid[1]), np.nan, grid[1]), "count": grid[2]}
    columns |= {"size": size, "off": np.abs(size - aim), "kept": kept}
    return _nearest_first(pandas.DataFrame({name: np.ravel(values) for name, values in columns.items()}))


def _above(values: np.ndarray, thresholds: Sequence[float]) -> np.ndarray:
    """How many of the rising thresholds each value is above."""
    return np.searchsorted(np.asarray(thresholds, float), values, side="left")


def _satisfied(above: Sequence[np.ndarray], shape: Sequence[int]) -> np.ndarray:
    """How many words are above threshold i of the first rule, j of the second, … : an array of that shape."""
    cells = np.zeros([size + 1 for size in shape], np.int64)
    np.add.at(cells, tuple(above), 1)
    for axis in range(len(shape)):
        cells = np.flip(np.flip(cells, axis).cumsum(axis), axis)
    # A word above the first n thresholds was put in cell n, so threshold i counts the cells beyond i.
    return cells[tuple(slice(1, None) for _ in shape)]


def _nearest_first(tried: "pandas.DataFrame") -> "pandas.DataFrame":
    missed = tried["kept"].max() - tried["kept"]
    return tried.iloc[(tried["off"] + missed).argsort(kind="stable")].reset_index(drop=True)
