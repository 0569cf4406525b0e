"""The inequalities of Sun & Lu's supplement B.2 (Eq. 48–55), measured: for what share of word pairs do they
hold?

For words e_* and e_+ of one class and e_− of another: A > 0 throughout (the premise); 48–50: 0 < B < A + B,
for either word and so for Ω_*+; 51–53: B < A + B < 0 for Ω_*−; 54 and 55: Ω_*+ grows by more than Ω_*−
falls, and ends larger (the conclusion of the section). The paper argues 54 and 55 for a word e_− that is
e_+'s mirror image. On data without mirror images every combination is counted; with `partners` only
mirrored ones.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np

from heedful.understanding.flow import Flow
from heedful.understanding.omega import DotProducts, TypedSample, dot_products
from heedful.understanding.token_types import TokenTypes

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Statement:
    """One inequality for one pair of types, and how often it holds."""

    equation: str
    statement: str
    pair: str
    holds: int
    count: int

    @property
    def share(self) -> float:
        """The share of cases for which it holds; NaN if there are none."""
        return self.holds / self.count if self.count else float("nan")


@dataclass(frozen=True)
class Inequalities:
    """All statements, for a sample of words of each type."""

    statements: tuple[Statement, ...]
    sample: TypedSample
    seed: int

    def to_frame(self) -> "pandas.DataFrame":
        """One row a statement and pair of types."""
        import pandas

        return pandas.DataFrame([{**asdict(one), "share": one.share} for one in self.statements])


def measure_inequalities(
    flow: Flow,
    types: TokenTypes,
    *,
    partners: Mapping[str, str] | None = None,
    sample: int = 200,
    seed: int = 0,
) -> Inequalities:
    """Measure Eq. 48–55 on at most `sample` words of each class's type, drawn by the seed.

    `partners` names each word's mirror image in the other class (`heedful.data.synthetic.paired_words`).
    """
    drawn = TypedSample.draw(types, sample, seed=seed)
    found = dot_products(flow, drawn.ids)
    polar = [name for name in drawn.names if name != types.names[-1]]
    statements = [
        *(one for name in polar for one in _same(found, drawn, name)),
        *(one for first, second in combinations(polar, 2) for one in _apart(found, drawn, first, second)),
    ]
    mirror = None if partners is None else _mirror(flow.words, drawn, partners)
    for number, (first, second) in enumerate(permutations(reversed(polar), 2)):
        equation = "54" if number == 0 else "55"
        statements += _beyond(found, drawn, first, second, equation=equation, mirror=mirror)
    return Inequalities(tuple(statements), drawn, seed)


def _same(found: DotProducts, sample: TypedSample, name: str) -> Iterator[Statement]:
    """Eq. 48–50, for two words of one class."""
    a, b, change = _arrays(found)
    i, k = np.triu_indices(len(sample.places[name]), 1)
    i, k = sample.places[name][i], sample.places[name][k]
    pair = f"{name}-{name}"
    yield _count("premise", "A > 0", pair, (a[i, k] > 0) & (a[k, i] > 0))
    yield _count("48", "A + B > B > 0 for the first word", pair, (a[i, k] > 0) & (b[i, k] > 0))
    yield _count("49", "A + B > B > 0 for the second word", pair, (a[k, i] > 0) & (b[k, i] > 0))
    both = b[i, k] + b[k, i]
    yield _count("50", "dΩ/dτ > B + B > 0", pair, (change[i, k] > both) & (both > 0))


def _apart(found: DotProducts, sample: TypedSample, first: str, second: str) -> Iterator[Statement]:
    """Eq. 51–53, for words of two classes."""
    a, b, change = _arrays(found)
    i, k = (grid.ravel() for grid in np.meshgrid(sample.places[first], sample.places[second], indexing="ij"))
    pair = f"{first}-{second}"
    yield _count("premise", "A > 0", pair, (a[i, k] > 0) & (a[k, i] > 0))
    for equation, x, y, which in (("51", i, k, "first"), ("52", k, i, "second")):
        holds = (a[x, y] + b[x, y] < 0) & (a[x, y] > 0)
        yield _count(equation, f"0 > A + B > B for the {which} word", pair, holds)
    both = b[i, k] + b[k, i]
    yield _count("53", "0 > dΩ/dτ > B + B", pair, (change[i, k] < 0) & (change[i, k] > both))


def _beyond(
    found: DotProducts,
    sample: TypedSample,
    own: str,
    other: str,
    *,
    equation: str,
    mirror: np.ndarray | None,
) -> Iterator[Statement]:
    """Eq. 54 and 55: for e_* and e_+ of `own` and e_− of `other`; and what follows for Ω itself."""
    _, _, change = _arrays(found)
    pair = f"{own} against {other}"
    for label, statement, values in (
        (equation, "dΩ*+/dτ > −dΩ*−/dτ", change),
        (f"after {equation}", "Ω*+ + Ω*− > 0", found.omega.cpu().numpy()),
    ):
        holds = count = 0
        for star in sample.places[own]:
            same = sample.places[own][sample.places[own] != star]
            if mirror is not None:
                same = same[mirror[same] >= 0]
                above = values[star, same] + values[star, mirror[same]] > 0
                holds, count = holds + int(above.sum()), count + len(same)
                continue
            across = np.sort(values[star, sample.places[other]])
            # For each e_+ : how many e_− have a value above minus its own.
            holds += int((len(across) - np.searchsorted(across, -values[star, same], side="right")).sum())
            count += len(same) * len(across)
        yield Statement(label, statement, pair, holds, count)


def _mirror(words: tuple[str, ...], sample: TypedSample, partners: Mapping[str, str]) -> np.ndarray:
    """The place of each sampled word's partner among the sampled words (n,), −1 where it is not there."""
    place = {words[id]: at for at, id in enumerate(sample.ids)}
    return np.array([place.get(partners.get(words[id], ""), -1) for id in sample.ids])


def _count(equation: str, statement: str, pair: str, holds: np.ndarray) -> Statement:
    return Statement(equation, statement, pair, int(holds.sum()), len(holds))


def _arrays(found: DotProducts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return found.a.cpu().numpy(), found.b.cpu().numpy(), found.change.cpu().numpy()
