"""What a user can fix: one error class, and the help to word it well.

A `UserError` is one clear sentence. The command line prints it and ends with exit code 2; it never prints a
traceback.
"""

from collections.abc import Iterable
from difflib import get_close_matches

LARGEST_SEED = 2**63 - 1  # what TOML, torch, numpy and Parquet all hold as a whole number
KEPT = (700, 300)  # first and last characters of a sentence that is longer
MOST_LISTED = 12  # a sentence that lists more choices than this is no longer read


def cut(sentence: str) -> str:
    """A sentence without its middle, if it is longer than anybody reads."""
    head, tail = KEPT
    return sentence if len(sentence) <= head + tail else f"{sentence[:head]} … {sentence[-tail:]}"


def shortened(what: object, limit: int = 200) -> str:
    """A name or a text as a sentence can bear it."""
    shown = str(what)
    return shown if len(shown) <= limit else shown[:limit] + "…"


class UserError(ValueError):
    """Something the user can fix, said in one sentence: what was needed, what came, what to do next.

    A sentence that repeats thousands of the user's own characters is cut in its middle: what was needed and
    what to do are at its ends.
    """

    def __init__(self, sentence: str = "") -> None:
        super().__init__(cut(sentence))


class Unvouched(UserWarning):
    """Something was opened that cannot be checked for changes; the command line prints this as a warning."""


class MissingExtra(UserError):  # noqa: N818  (it reads as what is the matter)
    """A feature needs an optional package that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional package: run pip install 'heedful[{extra}]'.")
        self.feature, self.extra = feature, extra

    def __reduce__(self) -> tuple[type["MissingExtra"], tuple[str, str]]:
        # An exception is pickled by its message alone, which this constructor does not take: without this, a
        # worker process that raises it would end in an unrelated TypeError.
        return MissingExtra, (self.feature, self.extra)


def choose_from(kind: str, name: str, choices: Iterable[str]) -> str:
    """Return `name` if it is among `choices`; otherwise raise, naming the nearest choice."""
    known = list(choices)
    if name in known:
        return name
    raise UserError(f"There is no {kind} {name!r}{nearest(name, known)}.")


def check_seed(seed: int) -> int:
    """Return `seed` if every generator takes it: from 0 to `LARGEST_SEED`."""
    if not 0 <= seed <= LARGEST_SEED:
        raise UserError(f"A seed must be a whole number from 0 to 2**63 - 1, but it is {seed}.")
    return seed


def nearest(name: str, choices: Iterable[str]) -> str:
    """The tail of a sentence: the nearest choice if one is near, otherwise what there is to choose from."""
    known = [str(choice) for choice in choices]
    by_lower = {choice.lower(): choice for choice in known}
    near = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    if near:
        return f"; the nearest is {by_lower[near[0]]!r}"
    return f"; there are: {listed(known)}" if known else ""


def listed(names: Iterable[str]) -> str:
    """Names with commas between them, at most `MOST_LISTED` of them, and how many more there are."""
    known = [str(name) for name in names]
    more = len(known) - MOST_LISTED
    return ", ".join(known[:MOST_LISTED]) + (f" and {more:,} more" if more > 0 else "")
