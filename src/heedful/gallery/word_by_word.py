"""What became of each word of a sentence: put right, left wrong, or broken."""

from collections.abc import Sequence
from dataclasses import dataclass


def became(source: Sequence[str], other: Sequence[str]) -> list[tuple[str, ...]]:
    """What each source word became in another version: none, one or several words.

    By the fewest words changed, lost and added; of several such ways always the same. What was added belongs
    to the word before it, at the beginning to the first.
    """
    costs = [list(range(len(other) + 1))]
    for row, word in enumerate(source, start=1):
        above, line = costs[-1], [row]
        for column, wanted in enumerate(other, start=1):
            line.append(min(above[column - 1] + (word != wanted), above[column] + 1, line[-1] + 1))
        costs.append(line)
    found: list[tuple[str, ...]] = [()] * len(source)
    row, column, added = len(source), len(other), tuple[str, ...]()
    while row:
        word, here = source[row - 1], costs[row][column]
        if column and here == costs[row - 1][column - 1] + (word != other[column - 1]):
            found[row - 1] = (other[column - 1], *added)
            row, column, added = row - 1, column - 1, ()
        elif here == costs[row - 1][column] + 1:
            found[row - 1] = added
            row, added = row - 1, ()
        else:
            column, added = column - 1, (other[column - 1], *added)
    if found:
        found[0] = (*other[:column], *found[0])
    return found


@dataclass(frozen=True)
class Tally:
    """Words of many sentences, counted."""

    errors: int  # words that should become something else
    right: int  # of these, those that became what they should
    good: int  # words that should stay
    broken: int  # of these, those that did not

    @property
    def net(self) -> float:
        """Errors put right less good words broken, for each error: 0 for doing nothing, 1 at best."""
        return (self.right - self.broken) / max(self.errors, 1)

    def shares(self) -> dict[str, float]:
        """What is reported, by name."""
        return {
            "errors put right": self.right / max(self.errors, 1),
            "good words broken": self.broken / max(self.good, 1),
            "net": self.net,
        }


def tally(
    sources: Sequence[Sequence[str]],
    written: Sequence[Sequence[str]],
    targets: Sequence[Sequence[str]],
    *,
    only: frozenset[str] | None = None,
) -> Tally:
    """Count what became of the words; `only` counts no errors but those whose right words are among these."""
    errors = right = good = broken = 0
    for source, came, wanted in zip(sources, written, targets, strict=True):
        rows = zip(source, became(source, came), became(source, wanted), strict=True)
        for word, now, should in rows:
            if should == (word,):
                good, broken = good + 1, broken + (now != should)
            elif only is None or (should and only.issuperset(should)):
                errors, right = errors + 1, right + (now == should)
    return Tally(errors, right, good, broken)
