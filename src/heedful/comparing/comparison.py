"""`compare`: two models, or two versions of one: whose highlights are better, and which words moved.

Every difference is the second minus the first, with an interval from a bootstrap over texts. A text that both
audits read is drawn for both at once, so that what is hard about it cancels out (paired); audits of different
texts are compared as independent samples, and that is said.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from heedful import __version__
from heedful.auditing.names import named
from heedful.auditing.result import Audit, plain
from heedful.auditing.rule import UNKNOWN, Reading
from heedful.comparing.rows import Kept, matched
from heedful.errors import UserError
from heedful.records import Estimate
from heedful.records.finding import to_estimate
from heedful.records.ratios import difference_of_ratios
from heedful.records.stored import load_json, save_json
from heedful.records.wording import signed

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = 1
LEVEL = 0.95
TO_SHIP, ACCURACY = "skill of the map to ship", "accuracy"  # numbers that do not judge what is shown now
WORDS, LEAST = 20, 5  # words listed as moved, and occurrences in each audit that one needs


@dataclass(frozen=True)
class Side:
    """One of the two audits."""

    name: str
    folder: str
    reading: Reading
    sentence: str
    shown: str  # the map that was judged
    best: str  # the map to ship: that one, or what to show instead
    texts: int  # of the pool


@dataclass(frozen=True)
class Difference:
    """One number of both, and the second minus the first."""

    name: str
    measured: str
    first: Estimate
    second: Estimate
    difference: Estimate
    texts: tuple[int, int, int]  # of the first, of the second, of both
    better: str  # "first", "second", or "" where that cannot be told

    def apart(self, places: int) -> str:
        """The difference with its interval, in words; with more decimals where an end would lose its sign."""
        ends = self.difference.interval
        assert ends is not None
        while (
            places < 6
            and ends.bounded
            and any(end and not round(end, places) for end in (ends.low, ends.high))
        ):
            places += 1
        between = f"{signed(ends.low, places)}, {signed(ends.high, places)}" if ends.bounded else ends.method
        return f"{signed(self.difference.value, places)} [{between}]"

    def __str__(self) -> str:
        return f"{self.name}: {self.first.value:.3f} and {self.second.value:.3f}, difference {self.apart(3)}"


@dataclass(frozen=True)
class Moved:
    """A word whose average attention differs."""

    word: str
    first: float
    second: float
    count: int  # the fewer of its occurrences in the two audits


@dataclass(frozen=True)
class Comparison:
    """Two audits side by side."""

    first: Side
    second: Side
    paired: bool
    shared: int  # texts that are in both pools
    differences: tuple[Difference, ...]
    moved: tuple[Moved, ...]
    sentence: str
    notes: tuple[str, ...] = ()

    def to_frame(self, *, words: bool = False) -> pd.DataFrame:
        """One row per number that was compared; with `words`, one row per word that moved."""
        if words:
            names = [one.name for one in fields(Moved)]
            return pd.DataFrame([[getattr(one, name) for name in names] for one in self.moved], columns=names)
        return pd.DataFrame(
            [
                {
                    "name": one.name,
                    "first": one.first.value,
                    "second": one.second.value,
                    "difference": one.difference.value,
                    "low": None if one.difference.interval is None else one.difference.interval.low,
                    "high": None if one.difference.interval is None else one.difference.interval.high,
                    "better": one.better,
                    "shared": one.texts[2],
                }
                for one in self.differences
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {"schema": SCHEMA, "heedful": __version__, **plain(self)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """What `to_dict` wrote."""
        if content.get("schema") != SCHEMA:
            raise UserError(
                f"This comparison has schema {content.get('schema')!r}, and {SCHEMA} is read here."
            )
        try:
            known = {one.name: content[one.name] for one in fields(cls)}
            known["first"], known["second"] = Side(**known["first"]), Side(**known["second"])
            known["differences"] = tuple(_difference_from(one) for one in known["differences"])
            known["moved"] = tuple(Moved(**one) for one in known["moved"])
            known["notes"] = tuple(known["notes"])
            return cls(**known)
        except (KeyError, TypeError) as error:
            raise UserError(f"This comparison is damaged, or made by hand: {error}.") from None

    def save(self, path: str | Path) -> Path:
        """Write a page (.html), or everything as .json, which can be loaded again."""
        from heedful.comparing.page import write_comparison

        path = Path(path)
        writers: dict[str, Callable[[], object]] = {
            ".html": lambda: write_comparison(path, self),
            ".json": lambda: save_json(path, self.to_dict()),
        }
        if path.suffix.lower() not in writers:
            raise UserError(f"A comparison is written to .html or .json, but {path} ends in {path.suffix!r}.")
        writers[path.suffix.lower()]()
        return path

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read the .json that `save` wrote."""
        return cls.from_dict(load_json(path))

    def __str__(self) -> str:
        return "\n".join([self.sentence, *map(str, self.differences), *self.notes])

    def _repr_html_(self) -> str:
        from heedful.comparing.page import tables_of

        return "".join(tables_of(self))


def compare(
    first: "Audit | str | Path", second: "Audit | str | Path", *, keep_texts: bool = True, seed: int = 0
) -> Comparison:
    """Compare two audits, or their folders; differences are the second minus the first.

    Without `keep_texts` there are numbers only, and no word of a text.

    Example: `heedful.compare("audits/first", "audits/second").to_frame()`
    """
    audits = [one if isinstance(one, Audit) else Audit.load(one) for one in (first, second)]
    kept_first, kept_second, paired = matched(*audits)
    kept = (kept_first, kept_second)
    sides = [_side(audit) for audit in audits]
    shared = len(np.intersect1d(kept_first.pool["key"], kept_second.pool["key"])) if paired else 0
    differences = []
    for name, measured, parts in _numbers(sides, kept):
        found = _difference(name, measured, parts, paired=paired, seed=seed)
        if found is not None:
            differences.append(found)
    notes = tuple(_notes(audits, sides, paired, shared))
    moved = tuple(_moved(kept_first.words, kept_second.words)) if keep_texts else ()
    sentence = _sentence(sides, differences)
    return Comparison(sides[0], sides[1], paired, shared, tuple(differences), moved, sentence, notes)


Part = tuple[NDArray[Any], NDArray[np.float64]]  # keys (n,), and numerators and denominators (n,2)


def _numbers(
    sides: "list[Side]", kept: "tuple[Kept, Kept]"
) -> "list[tuple[str, str, tuple[Part | None, Part | None]]]":
    def both(make: "Callable[[Kept, Side], Part | None]") -> "tuple[Part | None, Part | None]":
        return make(kept[0], sides[0]), make(kept[1], sides[1])

    maps = named(sides[0].shown)
    if sides[1].shown != sides[0].shown:
        maps = f"{maps} and {named(sides[1].shown)}"
    best = f"{named(sides[0].best)} and {named(sides[1].best)}"
    predicts = "of what the best map could predict of random deletions"
    return [
        (f"skill of {maps}", f"the share {predicts}", both(lambda one, side: _skill(one, side.shown))),
        (
            TO_SHIP,
            f"the same for what each audit says to show: {best}",
            both(lambda one, side: _skill(one, side.best)),
        ),
        (
            "paint on words that matter",
            "the share of the paint that a reader sees on words that matter",
            both(lambda one, side: _by_effect(one, "paint", side.shown)),
        ),
        (
            "strongest word matters",
            "the share of texts, counted by their effects, whose most strongly painted word matters",
            both(lambda one, side: _by_effect(one, "first", side.shown)),
        ),
        (ACCURACY, "the share of texts whose label the model decides", both(lambda one, side: _right(one))),
    ]


def _skill(kept: Kept, name: str) -> Part | None:
    rows = kept.rows[kept.rows[f"told_{name}"].notna()]
    blank, weight = rows["blank"].to_numpy(), rows["weight"].to_numpy()
    apart = np.stack([rows[f"told_{name}"].to_numpy() - blank, rows["size"].to_numpy() - blank], axis=1)
    return _part(rows["key"].to_numpy(), apart * weight[:, None])


def _by_effect(kept: Kept, kind: str, name: str) -> Part | None:
    rows = kept.rows[kept.rows[f"{kind}_{name}"].notna()]
    size = rows["size"].to_numpy() * rows["weight"].to_numpy()
    return _part(rows["key"].to_numpy(), np.stack([size * rows[f"{kind}_{name}"].to_numpy(), size], axis=1))


def _right(kept: Kept) -> Part | None:
    right = (kept.pool["label"] == kept.pool["decided"]).to_numpy(dtype=np.float64)
    return _part(kept.pool["key"].to_numpy(), np.stack([right, np.ones(len(right))], axis=1))


def _part(keys: NDArray[Any], sums: NDArray[np.float64]) -> Part | None:
    return (keys, sums) if len(sums) and sums[:, 1].sum() > 0 else None


def _difference(
    name: str, measured: str, parts: tuple[Part | None, Part | None], *, paired: bool, seed: int
) -> Difference | None:
    """The number of both, where both have it."""
    if parts[0] is None or parts[1] is None:
        return None
    (keys, first), (others, second) = parts[0], parts[1]
    shared = np.intersect1d(keys, others) if paired else keys[:0]
    if not paired:
        keys, others = np.char.add("a", keys.astype(str)), np.char.add("b", others.astype(str))
    texts = np.concatenate([keys, others]).astype(str)
    tables = (np.concatenate([first, 0 * second]), np.concatenate([0 * first, second]))
    one, two, apart = difference_of_ratios(*tables, texts=texts, level=LEVEL, seed=seed)
    ends = apart.interval
    assert ends is not None
    better = "second" if ends.low > 0 else "first" if ends.high < 0 else ""
    counts = (len(np.unique(keys)), len(np.unique(others)), len(shared))
    return Difference(name, measured, one, two, apart, counts, better)


def _moved(first: pd.DataFrame, second: pd.DataFrame) -> list[Moved]:
    """The words whose average weight differs most, of those that are in both tables often enough."""
    known = [one[one["weight"].notna() & (one["count"] >= LEAST)] for one in (first, second)]
    both = known[0].merge(known[1], on="word", suffixes=("_first", "_second"))
    both = both.assign(apart=(both["weight_second"] - both["weight_first"]).abs())
    top = both.sort_values("apart", ascending=False, kind="stable").head(WORDS)
    return [
        Moved(
            str(row.word),
            float(row.weight_first),
            float(row.weight_second),
            int(min(row.count_first, row.count_second)),
        )
        for row in top.itertuples()
    ]


def _side(audit: Audit) -> Side:
    verdict, content = audit.verdict, audit.content
    return Side(
        name=content["subject"]["name"],
        folder=audit.folder.name,
        reading=verdict.reading,
        sentence=verdict.sentence,
        shown=verdict.shown,
        best=verdict.shown if verdict.instead is None else verdict.instead.ranking,
        texts=int(content["data"]["instances"]),
    )


def _notes(audits: list[Audit], sides: list[Side], paired: bool, shared: int) -> "list[str]":
    notes = []
    if not paired:
        notes.append(
            "The audits have no text in common, so they are compared as independent samples: a difference "
            "may come from the texts."
        )
    elif shared < max(side.texts for side in sides):
        notes.append(f"{shared:,} texts are in both audits; the others count for their own side alone.")
    if sides[0].shown != sides[1].shown:
        notes.append(
            f"The audits judged different maps: {named(sides[0].shown)} and {named(sides[1].shown)}."
        )
    classes = [tuple(audit.content["subject"]["classes"]) for audit in audits]
    if classes[0] != classes[1]:
        notes.append("The models have different classes, so their accuracies answer different questions.")
    return notes


def _sentence(sides: list[Side], differences: list[Difference]) -> str:
    """Whose highlights are better, in one sentence: by the numbers of the maps that people are shown."""
    numbers = [one for one in differences if one.name not in (TO_SHIP, ACCURACY)]
    names = [side.folder for side in sides]
    readings = f"“{sides[0].reading}” against “{sides[1].reading}”"
    if not numbers:
        return f"Whose highlights are better cannot be told ({readings}): one of them was not scored."
    if UNKNOWN in (side.reading for side in sides):
        return f"Whose highlights are better cannot be told ({readings}): “{UNKNOWN}” vouches for no number."
    told = [one for one in numbers if one.better]
    if not told:
        return f"No difference can be told between the highlights of {names[0]} and {names[1]} ({readings})."
    by = ", ".join(f"{one.name} {one.apart(2)}" for one in told)
    better = {one.better for one in told}
    if len(better) > 1:
        return f"Neither the highlights of {names[0]} nor those of {names[1]} are better throughout: {by}."
    best, other = sides if better == {"first"} else reversed(sides)
    return f"The highlights of {best.folder} are better (“{best.reading}” against “{other.reading}”): {by}."


def _difference_from(content: Mapping[str, Any]) -> Difference:
    estimates = {name: to_estimate(content[name]) for name in ("first", "second", "difference")}
    return Difference(**{**content, **estimates, "texts": tuple(content["texts"])})
