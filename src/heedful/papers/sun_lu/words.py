"""Words by type: how figures show them, and the pattern that Sun & Lu (2020) find again and again (§5).

Words of a class have polarity of its sign and a large one; neutral words have a small one; and words of
every class draw more attention than neutral words. "Generally" is read as: more often than not.
"""

from collections.abc import Iterable, Iterator

import pandas as pd

from heedful.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, TYPES
from heedful.papers.names import corpus_label
from heedful.papers.sun_lu.effects import above, effect, polar_types, share
from heedful.records import Claim

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


def short(name: str) -> str:
    """guns for talk.politics.guns."""
    return name.rsplit(".", 1)[-1]


def setting_of(words: pd.DataFrame) -> str:
    """SST, dp, λ = 10; and the strength of L2 where a table has several."""
    first = words.iloc[0]
    told = f"{corpus_label(first['corpus'])}, {first['model']}, λ = {first['scale']:g}"
    return f"{told}, {l2_told(first['l2'])}" if "l2" in words else told


def l2_told(strength: float) -> str:
    """L2 0.001, or no L2."""
    return f"L2 {strength:g}" if strength else "no L2"


def settings(words: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """The words of each corpus, model, scale and strength of L2 apart, in the order of the table."""
    for _, part in words.groupby(apart(words), sort=False):
        yield part


def apart(words: pd.DataFrame) -> list[str]:
    """The columns that tell one setting from another."""
    return [name for name in ("corpus", "model", "scale", "l2") if name in words]


def polarity_claims(words: pd.DataFrame, source: str) -> Iterator[Claim]:
    """Signs and sizes of polarity, of one setting."""
    where, polar = setting_of(words), polar_types(words)
    yield Claim.decided(
        f"Words of a class generally have polarity of its sign ({where})",
        source,
        effect=effect(
            "share of polar words with polarity of their class's sign",
            words[words["type"] != "neutral"],
            share("own", polar),
            measured="The words typed by the training split, each with the polarity for its own class.",
        ),
        comparison=">",
        threshold=0.5,
    )
    yield Claim.decided(
        f"Polarity of neutral words is nearer 0 than that of polar words ({where})",
        source,
        effect=effect(
            "share of pairs in which the polar word has the stronger polarity",
            words,
            above("strength", polar, ["neutral"]),
            measured="All pairs of a polar and a neutral word; |s|, or the spread over K classes.",
        ),
        comparison=">",
        threshold=0.5,
    )


def attention_claims(words: pd.DataFrame, source: str, *, also: str = "") -> Iterator[Claim]:
    """Words of each class against neutral ones, of one setting; `also` is what else is to be said of it."""
    where = setting_of(words) + also
    for kind in polar_types(words):
        named = f"{kind.capitalize()} words" if kind in ("positive", "negative") else f"Words of {kind}"
        yield Claim.decided(
            f"{named} generally have larger attention scores than neutral ones ({where})",
            source,
            effect=effect(
                f"share of pairs in which the {kind} word has the larger attention score",
                words[words["type"].isin([kind, "neutral"])],
                above("attention", [kind], ["neutral"]),
                measured="All pairs of a word of that type and a neutral word.",
            ),
            comparison=">",
            threshold=0.5,
        )
