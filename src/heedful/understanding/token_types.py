"""Token types: which words go with one class, and which with none (Sun & Lu, 2020, Eq. 28 and footnote 9).

A word that occurs f⁺ times in positive and f⁻ times in negative training texts has γ = (f⁺ − f⁻)/(f⁺ + f⁻).
It is positive if γ > 0.5 and f⁺ > 5, negative if γ < −0.5 and f⁻ > 5, neutral if |γ| < 0.1 and |f⁺ − f⁻| <
5, and of no type otherwise. The paper prints open intervals, (0.5, 1); its own counts need γ = ±1 too.

For more classes a word belongs to a class if its largest share of occurrences is above a threshold. The paper
states neither that threshold nor what is neutral: the defaults here come nearest to its counts
(`heedful.understanding.rule_search`).

Axes: V vocabulary, K classes. Type k is class k, and type K is neutral; −1 is no type.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from heedful.data.encoded import EncodedTexts
from heedful.data.synthetic import Synthetic
from heedful.data.synthetic import token_types as made_types
from heedful.data.vocabulary import SPECIAL, Vocabulary
from heedful.errors import UserError, choose_from, nearest
from heedful.settings import setting

if TYPE_CHECKING:
    import pandas

NEUTRAL = "neutral"
UNTYPED = -1
TEXTS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class TypeRules:
    """When a word is of a type; the defaults are the paper's."""

    polar: float = setting(0.5, "two classes: a word is polar if |γ| is above this")
    polar_count: int = setting(5, "two classes: and if it occurs more often than this in its class")
    closed: bool = setting(True, "two classes: γ = ±1, seen in one class only, counts as polar")
    neutral: float = setting(0.1, "two classes: a word is neutral if |γ| is below this")
    neutral_gap: int = setting(5, "two classes: and if f⁺ and f⁻ differ by less than this")
    share: float = setting(0.55, "more classes: a word belongs to a class with more than this share of it")
    share_count: int = setting(31, "more classes: and if it occurs more often than this")
    share_counted: str = setting("own", "more classes: counted in that class (own) or altogether (total)")
    neutral_spread: float = setting(0.15, "more classes: a word is neutral if its shares differ by less")
    neutral_count: int = setting(19, "more classes: and if it occurs more often than this")
    neutral_spread_count: int | None = setting(20, "more classes: and if its counts differ by less")

    def __post_init__(self) -> None:
        for name in ("polar", "neutral", "share", "neutral_spread"):
            if not 0 <= getattr(self, name) <= 1:
                raise UserError(f"The rule {name} must be from 0 to 1, but is {getattr(self, name)}.")
        choose_from("way of counting", self.share_counted, ("own", "total"))


@dataclass(frozen=True, eq=False)
class TokenTypes:
    """The type of each word id, and the counts it was decided by."""

    words: tuple[str, ...]  # by id
    names: tuple[str, ...]  # of the types: K classes, then neutral
    codes: np.ndarray  # (V,) number of the type, −1 for none
    counts: np.ndarray  # (V, K) occurrences in the training texts of each class

    @cached_property
    def members(self) -> dict[str, np.ndarray]:
        """The word ids of each type."""
        return {name: np.flatnonzero(self.codes == code) for code, name in enumerate(self.names)}

    @property
    def sizes(self) -> dict[str, int]:
        """How many words each type has."""
        return {name: len(ids) for name, ids in self.members.items()}

    @property
    def labels(self) -> np.ndarray:
        """The name of each word's type (V,), None for none."""
        named: np.ndarray = np.array([*self.names, None], dtype=object)[self.codes]
        return named

    @property
    def polar(self) -> np.ndarray:
        """Whether each word id is of a class's type (V,)."""
        return (self.codes >= 0) & (self.codes < len(self.names) - 1)

    @property
    def gamma(self) -> np.ndarray:
        """γ of each word (V,), of two classes; NaN for words that do not occur."""
        if self.counts.shape[1] != 2:
            raise UserError(f"γ is for two classes, but these words have {self.counts.shape[1]}.")
        return gamma(self.counts)

    def of(self, name: str) -> np.ndarray:
        """The word ids of one type."""
        if name not in self.members:
            raise UserError(f"There is no token type {name!r}{nearest(name, self.names)}.")
        return self.members[name]

    def sample(self, name: str, size: int, *, seed: int = 0) -> list[str]:
        """Some words of a type, drawn by the seed and in the order of their ids (the most frequent first)."""
        ids = self.of(name)
        drawn = np.random.default_rng(seed).choice(ids, min(size, len(ids)), replace=False)
        return [self.words[id] for id in np.sort(drawn)]

    def to_frame(self) -> "pandas.DataFrame":
        """The frequency table: one row per word that occurs, with its counts, γ (or shares) and type."""
        import pandas

        classes = self.names[:-1]
        columns: dict[str, object] = {"word": np.array(self.words, dtype=object)}
        columns |= {f"count {name}": self.counts[:, k] for k, name in enumerate(classes)}
        if len(classes) == 2:
            columns["gamma"] = self.gamma
        else:
            shares = class_shares(self.counts)
            columns |= {f"share {name}": shares[:, k] for k, name in enumerate(classes)}
        columns["type"] = self.labels
        return pandas.DataFrame(columns)[self.counts.sum(1) > 0].reset_index(names="id")

    @staticmethod
    def from_names(
        types: Mapping[str, str],
        vocabulary: Vocabulary,
        *,
        classes: Sequence[str],
        counts: np.ndarray | None = None,
    ) -> "TokenTypes":
        """Types that are known, such as `synthetic_types`; counts are 0 unless they are given."""
        names = type_names(classes)
        place = {name: code for code, name in enumerate(names)}
        unknown = sorted(set(types.values()) - place.keys())
        if unknown:
            raise UserError(f"There is no token type {unknown[0]!r}{nearest(unknown[0], names)}.")
        codes = [place[types[word]] if word in types else UNTYPED for word in vocabulary.words]
        codes[: len(SPECIAL)] = [UNTYPED] * len(SPECIAL)
        if counts is None:
            counts = np.zeros((len(vocabulary), len(classes)), np.int64)
        return TokenTypes(vocabulary.words, names, np.array(codes), counts)


def find_types(
    train: EncodedTexts, vocabulary: Vocabulary, *, classes: Sequence[str], rules: TypeRules | None = None
) -> TokenTypes:
    """The type of each word by its occurrences in the training texts; padding and unknown have none.

    With two classes the types are negative (the first class), positive and neutral, as in the paper; with
    more, the names of the classes and neutral.
    """
    counts = class_counts(train, size=len(vocabulary), classes=len(classes))
    decide = _two_classes if len(classes) == 2 else _more_classes
    codes = decide(counts, rules or TypeRules())
    codes[: len(SPECIAL)] = UNTYPED
    return TokenTypes(vocabulary.words, type_names(classes), codes, counts)


def type_names(classes: Sequence[str]) -> tuple[str, ...]:
    """What the types are called: negative, positive and neutral, or the classes' names and neutral."""
    return ("negative", "positive", NEUTRAL) if len(classes) == 2 else (*classes, NEUTRAL)


def synthetic_types(settings: Synthetic) -> dict[str, str]:
    """The type each synthetic word was made with, by the names of `type_names`."""
    return {
        word: kind if kind in settings.label_names else NEUTRAL for word, kind in made_types(settings).items()
    }


def class_counts(encoded: EncodedTexts, *, size: int, classes: int) -> np.ndarray:
    """How often each word id occurs in the texts of each class (V, K); every occurrence counts."""
    if encoded.labels is None:
        raise UserError("Token types need labels, but these texts have none.")
    labels, offsets = np.asarray(encoded.labels), encoded.offsets
    counts = np.zeros(size * classes, np.int64)
    for first in range(0, len(encoded), TEXTS_AT_ONCE):
        last = min(first + TEXTS_AT_ONCE, len(encoded))
        label = np.repeat(labels[first:last], np.diff(offsets[first : last + 1]))
        ids = np.asarray(encoded.ids[offsets[first] : offsets[last]], np.int64)
        counts += np.bincount(ids * classes + label, minlength=size * classes)
    return counts.reshape(size, classes)


def gamma(counts: np.ndarray) -> np.ndarray:
    """γ = (f⁺ − f⁻)/(f⁺ + f⁻) of counts (V, 2), negative first; NaN where there are none (Eq. 28)."""
    total = counts.sum(1)
    shares: np.ndarray = np.divide(
        counts[:, 1] - counts[:, 0], total, out=np.full(len(counts), np.nan), where=total > 0
    )
    return shares


def class_shares(counts: np.ndarray) -> np.ndarray:
    """How each word's occurrences are shared among the classes (V, K); NaN where there are none."""
    total = counts.sum(1, keepdims=True)
    shares: np.ndarray = np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0)
    return shares


def _two_classes(counts: np.ndarray, rules: TypeRules) -> np.ndarray:
    found = np.nan_to_num(gamma(counts))
    inside = np.full(len(counts), True) if rules.closed else np.abs(found) < 1
    codes = np.full(len(counts), UNTYPED)
    codes[(found < -rules.polar) & inside & (counts[:, 0] > rules.polar_count)] = 0
    codes[(found > rules.polar) & inside & (counts[:, 1] > rules.polar_count)] = 1
    even = np.abs(counts[:, 1] - counts[:, 0]) < rules.neutral_gap
    codes[(np.abs(found) < rules.neutral) & even & (counts.sum(1) > 0)] = 2
    return codes


def _more_classes(counts: np.ndarray, rules: TypeRules) -> np.ndarray:
    shares = np.nan_to_num(class_shares(counts))
    top = shares.argmax(1)
    rows = np.arange(len(counts))
    codes = np.full(len(counts), UNTYPED)
    even = (np.ptp(shares, 1) < rules.neutral_spread) & (counts.sum(1) > rules.neutral_count)
    if rules.neutral_spread_count is not None:
        even &= np.ptp(counts, 1) < rules.neutral_spread_count
    codes[even] = counts.shape[1]
    times = counts.sum(1) if rules.share_counted == "total" else counts[rows, top]
    own = (shares[rows, top] > rules.share) & (times > rules.share_count)
    codes[own] = top[own]
    return codes
