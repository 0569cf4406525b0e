"""What is shipped: `Highlight` of one text, its `Mark`s, and `Highlights` of all. No torch.

Files: .html a page, .jsonl one object per text, .csv and .parquet one row per text. Parquet holds everything
and can be loaded again.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from heedful.errors import UserError
from heedful.records.stored import parse_json

if TYPE_CHECKING:
    import pandas

SCHEMA = 1
LISTED = 10  # words of a flipping set that are named; more are counted


@dataclass(frozen=True)
class Mark:
    """One highlighted word: `text[start:end]`, and what it does to the probability of the decision."""

    place: int  # which of the text's words, from 0
    start: int
    end: int
    word: str  # as it stands in the text; "" where texts are left out
    effect: float  # change of the probability: above 0 speaks for the decision
    error: float  # standard error of that; 0 where it is exact


@dataclass(frozen=True)
class Flip:
    """The smallest set of words without which another class is decided: exact, or not here at all."""

    to: str
    places: tuple[int, ...]
    words: tuple[str, ...]


@dataclass(frozen=True)
class Highlight:
    """One text: its decision, the words to highlight, and what is to be said where there are none."""

    number: int  # of the row, from 0
    text: str  # "" where texts are left out; of a pair both, which `heedful.data.pairs.both` takes apart
    decision: str  # "" for a text without words
    probability: float
    words: int  # that were read
    marks: tuple[Mark, ...] = ()
    said: str = ""
    flip: Flip | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Highlight":
        """What `to_dict` wrote."""
        flip = content.get("flip")
        known = {one.name: content[one.name] for one in fields(cls)}
        known["marks"] = tuple(Mark(**mark) for mark in content["marks"])
        known["flip"] = (
            None if flip is None else Flip(flip["to"], tuple(flip["places"]), tuple(flip["words"]))
        )
        return cls(**known)

    def to_html(self, *, style: bool = True) -> str:
        """A snippet for a web page, everything in it escaped; without `style` you bring `snippet_style()`."""
        from heedful.highlights.snippet import snippet, snippet_style

        return (f"<style>{snippet_style()}</style>" if style else "") + snippet(self)

    def _repr_html_(self) -> str:
        return self.to_html()


@dataclass(frozen=True)
class About:
    """How highlights were made: by which map and why, and in which unit their strength is."""

    model: str
    by: str
    called: str  # the map's name for people
    why: str
    strength: str  # deletions or leave-one-out
    unit: str  # what the numbers are, in a sentence
    reading: str | None
    classes: tuple[str, ...]
    defaults: tuple[str, ...]
    seed: int
    texts_kept: bool
    heedful: str
    roles: tuple[str, ...] = ()  # what the two texts of a pair are called

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "About":
        """What `to_dict` wrote."""
        try:
            # Files from before pairs have no roles.
            known = {one.name: content[one.name] for one in fields(cls) if one.name != "roles"}
        except KeyError as error:
            raise UserError(f"These highlights lack {error}: they are damaged, or made by hand.") from None
        lists = {
            "classes": known["classes"],
            "defaults": known["defaults"],
            "roles": content.get("roles", ()),
        }
        return cls(**{**known, **{name: tuple(names) for name, names in lists.items()}})


@dataclass(frozen=True, eq=False)
class Highlights(Sequence[Highlight]):
    """The highlights of all texts, in their order."""

    about: About
    items: tuple[Highlight, ...]

    @overload
    def __getitem__(self, place: int) -> Highlight: ...
    @overload
    def __getitem__(self, place: slice) -> "Highlights": ...
    def __getitem__(self, place: int | slice) -> "Highlight | Highlights":
        if isinstance(place, slice):
            return Highlights(self.about, self.items[place])
        return self.items[place]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Highlight]:
        return iter(self.items)

    def __repr__(self) -> str:
        return f"Highlights({len(self):,} texts of {self.about.model}, by {self.about.called})"

    def to_frame(self, *, words: bool = False) -> "pandas.DataFrame":
        """One row per text; with `words`, one row per highlighted word."""
        import pandas

        if not words:
            return pandas.DataFrame([flat(item) for item in self])
        columns = ["number", "decision", *(one.name for one in fields(Mark))]
        rows = [
            {"number": item.number, "decision": item.decision, **asdict(mark)}
            for item in self
            for mark in item.marks
        ]
        return pandas.DataFrame(rows, columns=columns)

    def save(self, path: str | Path) -> Path:
        """Write a page (.html) or a table (.csv, .jsonl, .parquet), by the ending of the name."""
        from heedful.highlights.formats import write

        write(path, self.about, iter(self), len(self))
        return Path(path)

    @classmethod
    def load(cls, path: str | Path) -> "Highlights":
        """Read a Parquet file that `save`, or `heedful highlight`, wrote."""
        from heedful.highlights.formats import read_parquet

        about, items = read_parquet(path)
        return cls(about, tuple(items))

    def _repr_html_(self) -> str:
        from heedful.highlights.snippet import snippet, snippet_style

        shown = "".join(snippet(item, self.about.roles) for item in self.items[:SHOWN])
        more = f"<p>… and {len(self) - SHOWN:,} more</p>" if len(self) > SHOWN else ""
        return f"<style>{snippet_style()}</style>{shown}{more}"


SHOWN = 10  # texts that a notebook shows


def flat(item: Highlight) -> dict[str, Any]:
    """One row of a table: highlights and the flipping set as JSON."""
    row = item.to_dict()
    marks, flip = row.pop("marks"), row.pop("flip")
    return {
        **row,
        "highlights": json.dumps(marks, ensure_ascii=False),
        "flip": "" if flip is None else json.dumps(flip, ensure_ascii=False),
    }


def unflat(row: Mapping[str, Any]) -> Highlight:
    """What `flat` made."""
    content = dict(row)
    content["marks"] = parse_json(content.pop("highlights"))
    content["flip"] = parse_json(content["flip"]) if content["flip"] else None
    return Highlight.from_dict(content)
