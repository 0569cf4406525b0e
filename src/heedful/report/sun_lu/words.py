"""How words and settings look in the figures of Sun & Lu (2020): a colour a type, a short name a setting."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from heedful.report.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, TYPES

if TYPE_CHECKING:
    from pandas import DataFrame

CORPORA = {"sst": "SST", "imdb": "IMDB", "20news-1": "20News I", "20news-2": "20News II"}
NEUTRAL = "neutral"


def types_in_order(types: Iterable[str]) -> list[str]:
    """Positive, negative, neutral; or the classes by name, then neutral."""
    found = set(types)
    if found <= set(TYPES):
        return [name for name in TYPES if name in found]
    return [*sorted(found - {NEUTRAL}), *([NEUTRAL] if NEUTRAL in found else [])]


def colours(types: Iterable[str]) -> dict[str, str]:
    """A colour for each type; neutral is always grey."""
    ordered = types_in_order(types)
    if set(ordered) <= set(TYPES):
        return {name: TYPES[name] for name in ordered}
    own = dict(
        zip((name for name in ordered if name != NEUTRAL), (ORANGE, BLUE, GREEN, PURPLE), strict=False)
    )
    return {**own, NEUTRAL: GREY}


# Pairs of types: two of one class, two of different classes, and those with a neutral word.
PAIRS = {
    "positive-positive": ORANGE,
    "negative-negative": BLUE,
    "negative-positive": PURPLE,
    "positive-neutral": SKY,
    "negative-neutral": GREEN,
    "neutral-neutral": GREY,
}


def setting(row: Any) -> str:
    """SST, dp, λ = 10: of a row that has corpus, model and scale."""
    corpus = CORPORA.get(row["corpus"], row["corpus"])
    return f"{corpus}, {row['model']}, λ = {row['scale']:g}"


def settings(table: "DataFrame") -> "list[tuple[str, DataFrame]]":
    """The rows of each corpus, model and scale with its name, in the order of the table."""
    groups = table.groupby(["corpus", "model", "scale"], sort=False)
    return [(setting(part.iloc[0]), part) for _, part in groups]


def short(name: str) -> str:
    """guns for talk.politics.guns."""
    return name.rsplit(".", 1)[-1]


LETTERS = ("A", "B", "C", "D", "E", "F")


def pairs_in_order(pairs: Iterable[str]) -> list[str]:
    """Pairs of one class, pairs of two, then those with a neutral word."""
    known = list(PAIRS)

    def rank(pair: str) -> tuple[int, int, str]:
        first, second = pair.split("-")
        kind = 2 if NEUTRAL in (first, second) else int(first != second)
        return kind, known.index(pair) if pair in known else len(known), pair

    return sorted(set(pairs), key=rank)


def pair_colours(pairs: Iterable[str]) -> dict[str, str]:
    """A colour for each pair: known ones have their own; of K classes, one colour a kind of pair."""
    found = {}
    for pair in pairs:
        first, second = pair.split("-")
        kind = GREY if NEUTRAL in (first, second) else ORANGE if first == second else BLUE
        found[pair] = PAIRS.get(pair, kind)
    return found
