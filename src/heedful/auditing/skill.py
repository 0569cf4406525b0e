"""Heat-map skill over texts, from the rows of `maps`: how well a map predicts what deletions do.

    skill = Σ (told − blank) / Σ (size − blank)

0 is a blank map, 1 weights in proportion to the effects of the words. Rows count by their weight (texts are
drawn by decided class), copies of a text are one cluster, and classes are resampled each for itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from heedful.records import Estimate, Finding, Interval, wilson_interval
from heedful.records.finding import Scalar
from heedful.records.ratios import Ratios, ratios

MEASURED = (
    "how well the map predicts what random deletions of words do to the probability of the decided class, "
    "beside the best that any map of these texts could: 0 is a blank map, 1 weights in proportion to the "
    "effects of the words"
)
FITTED = f"{MEASURED}; fitted to three quarters of a text's deletions and judged by the fourth, in turn"
MATTERS = "a word that matters: its effect is at least a quarter of the strongest in its text"
PAINT = f"the share of the paint that a reader sees (a fifth of the strongest or more) on {MATTERS}"
FIRST = f"the share of texts, counted by their effects, whose most strongly painted word is {MATTERS}"
AGAINST = (
    "the share of the paint on words that surely (by two errors) speak against the decision, where the map "
    "has no minus"
)


def judged(rows: pd.DataFrame) -> pd.DataFrame:
    """The texts that have deletions: not those of one word, nor those of too many."""
    return rows[(rows["words"] > 1) & rows["size"].notna()]


@dataclass(frozen=True, eq=False)
class Scored:
    """Texts that have deletions, with these and maps; all numbers with intervals of one level."""

    rows: pd.DataFrame
    level: float = 0.95
    seed: int = 0
    coordinates: Mapping[str, Scalar] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def different(self) -> int:
        """How many of the texts are different: copies are one."""
        return int(self.rows["cluster"].nunique())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The maps, in the order of the rows' columns."""
        return tuple(name[5:] for name in self.rows if name.startswith("told_"))

    def of(self, keep: NDArray[np.bool_]) -> "Scored":
        """Some of the texts."""
        return Scored(self.rows[keep], self.level, self.seed, self.coordinates)

    def skill(self, name: str, *, signed: bool = False) -> Finding | None:
        """The heat-map skill of one map on the texts it was tried on; None where nothing is to be told."""
        part = self.of(self.rows[f"told_{name}"].notna().to_numpy())
        if not part._has_room("blank_signed" if signed else "blank"):
            return None
        found = part._skills((name,), signed=signed).estimate(0, level=self.level)
        return part._finding(found, name, "signed heat-map skill" if signed else "heat-map skill")

    def fitted(self, name: str, *, signed: bool = False) -> Finding | None:
        """The skill of LIME or of Shapley values, each quarter of the deletions predicted from the others."""
        column = f"fitted_{'signed' if signed else 'told'}_{name}"
        if column not in self.rows:  # those of an audit without texts, or that an earlier version began
            return None
        part = self.of(self.rows[column].notna().to_numpy())
        blank = part.rows["blank_signed" if signed else "blank"].to_numpy()
        room = part.rows["size"].to_numpy() - blank
        if not (part.rows["weight"].to_numpy() * room).sum() > 0:
            return None
        told = part.rows[column].to_numpy() - blank
        found = part._ratios(told[:, None], room).estimate(0, level=self.level)
        return part._finding(found, name, "signed heat-map skill" if signed else "heat-map skill", FITTED)

    def paint(self, name: str) -> Finding | None:
        """The share of a map's paint on live words, texts counted by their effects; None where unknown."""
        return self._by_effect("paint", name, "paint on words that matter", PAINT)

    def first(self, name: str) -> Finding | None:
        """The share of texts in which a map's strongest word is live, counted by their effects."""
        return self._by_effect("first", name, "strongest word matters", FIRST)

    def against(self, name: str) -> Finding | None:
        """The share of a map's paint on words that speak against the decision, texts counted by effects."""
        found = self._by_effect("against", name, "paint on words against the decision", AGAINST)
        return None if found is None else replace(found, better="lower")

    def beyond(self, name: str, other: str) -> Estimate | None:
        """The skill of one map minus that of another, on the texts where both were tried."""
        both = self.rows[f"told_{name}"].notna() & self.rows[f"told_{other}"].notna()
        part = self.of(both.to_numpy())
        return part._skills((name, other)).difference(0, 1, level=self.level) if part._has_room() else None

    def paint_beyond(self, name: str, other: str) -> Estimate | None:
        """The share of one map's paint on live words minus that of another's, where both are known."""
        tops = [f"paint_{name}", f"paint_{other}"]
        part = self.of(self.rows[tops].notna().all(axis=1).to_numpy())
        size = part.rows["size"].to_numpy()
        if not size.any():
            return None
        found = part._ratios(size[:, None] * part.rows[tops].to_numpy(), size)
        return found.difference(0, 1, level=self.level)

    @property
    def room(self) -> Estimate:
        """The share of the words' effects that a blank map does not predict: without any, all are alike."""
        size = self.rows["size"].to_numpy()
        if not size.any():
            return Estimate(0.0)  # no word does anything
        apart = size - self.rows["blank"].to_numpy()
        return self._ratios(apart[:, None], size).estimate(0, level=self.level)

    def limit(self) -> Estimate | None:
        """The skill of a map of the effects themselves, as far as these deletions can tell it."""
        if not self._has_room():
            return None
        blank = self.rows["blank"].to_numpy()
        told = self.rows["limit"].to_numpy() - blank
        return self._ratios(told[:, None], self.rows["size"].to_numpy() - blank).estimate(0, level=self.level)

    @property
    def moved(self) -> float:
        """The standard deviation of the probability over the deletions of a text."""
        weights = self.rows["weight"].to_numpy()
        return float(np.sqrt((weights * self.rows["variance"].to_numpy()).sum() / weights.sum()))

    @property
    def linear_share(self) -> float:
        """R²: the share of what deletions do that any map of words can show; at most 1."""
        rows = self.rows
        told, all_of_it = ((rows["weight"] * rows[name]).sum() for name in ("explained", "variance"))
        return float(np.clip(told / max(all_of_it, 1e-300), 0, 1))

    def _has_room(self, blank: str = "blank") -> bool:
        """Whether the words' effects leave something that a blank map does not predict."""
        return bool((self.rows["weight"] * (self.rows["size"] - self.rows[blank])).sum() > 0)

    def _by_effect(self, kind: str, name: str, called: str, measured: str) -> Finding | None:
        part = self.of(self.rows[f"{kind}_{name}"].notna().to_numpy())
        size = part.rows["size"].to_numpy()
        if not size.any():
            return None
        shares = part.rows[f"{kind}_{name}"].to_numpy()
        found = part._ratios((size * shares)[:, None], size).estimate(0, level=self.level)
        if np.isclose(shares, 1).all() or np.isclose(shares, 0).all():
            found = replace(found, interval=part._alike(size, bool(shares[0] > 0.5)))
        return part._finding(found, name, called, measured)

    def _alike(self, size: NDArray, here: bool) -> Interval:
        """Of a share that is 1 in every text, or 0: resamples have no spread, but another text might.

        Wilson's interval, for as many texts as would tell as much if all weighed alike (Kish).
        """
        weights = np.bincount(
            np.unique(self.rows["cluster"], return_inverse=True)[1], weights=size * self.rows["weight"]
        )
        count = int(weights.sum() ** 2 / np.square(weights).sum())
        return wilson_interval(count if here else 0, count, level=self.level)

    def _skills(self, names: Sequence[str], *, signed: bool = False) -> Ratios:
        blank = self.rows["blank_signed" if signed else "blank"].to_numpy()
        kind = "signed" if signed else "told"
        told = self.rows[[f"{kind}_{name}" for name in names]].to_numpy()
        return self._ratios(told - blank[:, None], self.rows["size"].to_numpy() - blank)

    def _ratios(self, tops: NDArray, bottom: NDArray) -> Ratios:
        rows = self.rows
        return ratios(
            tops,
            bottom,
            weights=rows["weight"],
            clusters=rows["cluster"],
            strata=rows["decided"],
            seed=self.seed,
        )

    def _finding(self, found: Estimate, name: str, called: str, measured: str = MEASURED) -> Finding:
        return Finding.of(
            called,
            found,
            count=len(self),
            measured=measured,
            better="higher",
            coordinates={**self.coordinates, "ranking": name},
        )
