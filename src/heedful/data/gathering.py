"""From loose rows to a checked corpus: rows without words or label dropped, classes ordered, splits
completed.

Files, folders and Hugging Face datasets all come through here, so all are judged alike. Axes: N rows, K
classes.
"""

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from heedful.data.columns import SPLIT_WORDS
from heedful.data.corpus import SPLITS, Corpus
from heedful.data.dealing import TO_JUDGE, TO_JUDGE_CLASS, USUAL, check_shares, deal, shares_for
from heedful.data.doubts import doubts_about
from heedful.data.outgrowing import GrowingTexts, take_texts
from heedful.errors import UserError, cut, listed, shortened
from heedful.records.wording import in_percent

MOST_CLASSES = 1000  # more distinct labels than this are measurements or identifiers, not classes
FEW_ROWS = 20  # with fewer rows, labels that hardly repeat may still be classes

_WORD = re.compile(r"\w")
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_WHOLE_FLOAT = re.compile(r"([-+]?\d+)\.0*")
# Of two classes one is often the absence or the opposite of the other, and the alphabet does not know which.
_NEGATIVE_WORDS = frozenset(
    ("-", "n", "no", "f", "false", "neg", "negative", "none", "bad", "sad", "rotten", "ham", "other")
)


class OneClass(UserError):  # noqa: N818  # it says what was found
    """All rows have the same label."""


class Row(NamedTuple):
    """One row as it was found: where, its text, its label ("" if missing) and its split ("" if not said)."""

    place: str | int
    text: str
    label: str
    split: str


@dataclass
class _Dropped:
    """How many rows were left out, and where the first one was; of millions no list is kept."""

    count: int = 0
    first: str | int = ""

    def add(self, place: str | int) -> None:
        if not self.count:
            self.first = place
        self.count += 1

    def __str__(self) -> str:
        return f"{self.count:,} row{'s' * (self.count != 1)}"


@dataclass
class _Gathered:
    """What was found in the rows, and `said`: what there is to say about it."""

    source: str
    place: str
    said: list[str]
    growing: GrowingTexts = field(default_factory=GrowingTexts)
    texts: Sequence[str] = ()  # all of them, when the last one was found
    labels: "array[int]" = field(default_factory=lambda: array("q"))  # numbers by first appearance
    splits: "array[int]" = field(default_factory=lambda: array("q"))  # likewise
    label_codes: dict[str, int] = field(default_factory=dict)
    split_codes: dict[str, int] = field(default_factory=dict)
    split_places: list[str | int] = field(default_factory=list)  # where each split value was first met
    empty: _Dropped = field(default_factory=_Dropped)
    wordless: _Dropped = field(default_factory=_Dropped)
    unlabelled: _Dropped = field(default_factory=_Dropped)

    def at(self, number: str | int) -> str:
        return _at(self.place, number)


def as_text(value: Any, *, source: str, place: str, number: str | int) -> str:
    """A cell as a text: missing values are empty texts, anything but a string is refused."""
    if isinstance(value, str):
        if "\0" in value:
            raise UserError(f"{source} has a NUL character in the text of {_at(place, number)}: take it out.")
        return value
    if value is None or value != value:  # a missing string is NaN in files that pandas wrote
        return ""
    raise UserError(
        f"{source} must have strings for texts, but that of {_at(place, number)} is {_shown(value)}: "
        "name the text column with --text."
    )


def as_label(value: Any, *, source: str, place: str, number: str | int) -> str:
    """A cell as the name of a class: strings, numbers and truth values; "" where it is missing or NaN."""
    if isinstance(value, str):
        word = value.strip()
        return "" if word.lower() == "nan" else word
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    raise UserError(
        f"{source} must have strings or numbers for labels, but that of {_at(place, number)} is "
        f"{_shown(value)}: name the label column with --label."
    )


def as_split(value: Any) -> str:
    """A cell as "train", "dev" or "test" where it means one of them, "" if missing, otherwise as it is."""
    if value is None or value != value:
        return ""
    word = str(value).strip()
    return SPLIT_WORDS.get(word.lower(), word)


def gather_corpus(
    rows: Iterable[Row],
    *,
    name: str,
    source: str,
    place: str = "line",
    guessed_split: str | None = None,
    shares: Sequence[float] | None = None,
    seed: int = 0,
    order: Sequence[str] | None = None,
    notes: Iterable[str] = (),
    learn: bool = True,
) -> Corpus:
    """Check all rows and make a `Corpus` of them.

    `source` begins each sentence, `place` is what rows are counted in. `guessed_split` is a split column that
    the user did not name: values in it that are no split make it be passed over, and said, rather than
    refused. `order` are the classes in their order, where the source knows it. Without `shares` test is made
    large enough to judge by. Without `learn` nothing is dealt out: rows are test where none was set aside.
    `notes` are asked for when all rows have been walked.
    """
    if shares is not None:
        check_shares(shares)
    found = _gather(rows, _Gathered(source, place, []))
    found.said += filter(None, notes)
    _check_texts(found)
    _check_labels(found)
    label_names, labels = _ordered_labels(found, order)
    found.said += doubts_about(found.texts, labels, label_names)
    splits = _found_splits(found, guessed_split)
    dealt = learn and (splits is None or "test" not in splits)
    if shares is None:
        # Where test is there already, only dev may have to be carved: of the usual size.
        shares = shares_for(len(labels)) if dealt else USUAL
    if not learn:
        splits = _to_judge(found, splits)
    elif splits is None:
        found.said.append(
            f"No split was given: {in_percent(shares[0])} train, {in_percent(shares[1])} dev and "
            f"{in_percent(shares[2])} test were drawn, stratified by class, copies of a text together, "
            f"with seed {seed}."
        )
        splits = deal(found.texts, labels.tolist(), shares=(shares[1], shares[2]), seed=seed)
    else:
        splits = _complete(found, splits, labels, shares=shares, seed=seed)
    _check_classes(found, labels, splits, label_names)
    _say_if_too_few(found, splits, dealt=dealt)
    _say_if_rare(found, labels, splits, label_names, dealt=dealt)
    return Corpus(name, found.texts, labels, splits, label_names, tuple(map(cut, found.said)))


def order_labels(names: Iterable[str]) -> tuple[str, ...]:
    """Classes in order: by value if all are numbers, otherwise alphabetic; of two, the negative first."""
    names = list(names)
    if all(map(_NUMBER.fullmatch, names)):
        return tuple(sorted(names, key=lambda name: (float(name), name)))
    ordered = sorted(names)
    if len(ordered) == 2 and _negates(ordered[1], ordered[0]) and not _negates(ordered[0], ordered[1]):
        ordered.reverse()
    return tuple(ordered)


def _negates(word: str, other: str) -> bool:
    word, other = word.lower(), other.lower()
    return word in _NEGATIVE_WORDS or word in {
        f"{no}{gap}{other}" for no in ("not", "non", "no") for gap in (" ", "_", "-", "")
    }


def _gather(rows: Iterable[Row], found: _Gathered) -> _Gathered:
    label_codes, split_codes = found.label_codes, found.split_codes
    for place, text, label, split in rows:
        if not _WORD.search(text):
            (found.wordless if text.strip() else found.empty).add(place)
            continue
        if not label:
            found.unlabelled.add(place)
            continue
        if split not in split_codes:
            found.split_places.append(place)
        found.growing.append(text)
        found.labels.append(label_codes.setdefault(label, len(label_codes)))
        found.splits.append(split_codes.setdefault(split, len(split_codes)))
    found.texts = found.growing.finish()
    return found


def _check_texts(found: _Gathered) -> None:
    if not found.texts and not found.unlabelled.count:
        if not (found.empty.count or found.wordless.count):
            raise UserError(f"{found.source} has no rows: it needs a text and a label in each.")
        nothing, where = (
            ("text", found.empty) if found.empty.count >= found.wordless.count else ("word", found.wordless)
        )
        raise UserError(
            f"{found.source} has no {nothing} in any of {where}: name the text column with --text."
        )
    for nothing, where in (("text", found.empty), ("words", found.wordless)):
        if where.count:
            found.said.append(f"Dropped {where} without {nothing} (the first is {found.at(where.first)}).")


def _check_labels(found: _Gathered) -> None:
    missing = found.unlabelled
    if not found.texts:
        raise UserError(
            f"{found.source} has no label in any of {missing}: name the label column with --label."
        )
    if missing.count:
        found.said.append(f"Dropped {missing} without a label (the first is {found.at(missing.first)}).")
    rows, classes = len(found.texts), len(found.label_codes)
    if classes == 1:
        only = next(iter(found.label_codes))
        raise OneClass(f"{found.source} has only one class, {only!r}: a classifier needs two or more.")
    if classes > MOST_CLASSES or (rows >= FEW_ROWS and classes > rows / 2):
        raise UserError(
            f"{found.source} has {classes:,} different labels in {rows:,} rows, such as "
            f"{listed(map(repr, list(found.label_codes)[:3]))}: this looks like the wrong "
            "column; name the right one with --label."
        )


def _ordered_labels(found: _Gathered, order: Sequence[str] | None) -> tuple[tuple[str, ...], np.ndarray]:
    """Class names in their order, and labels (N,) as numbers of that order."""
    codes = found.label_codes
    shown = {label: label for label in codes}
    if order is None and all(map(_NUMBER.fullmatch, codes)):
        # A column of whole numbers with a gap in it comes out of many programs as 0.0 and 1.0.
        for label in codes:
            whole = _WHOLE_FLOAT.fullmatch(label)
            shown[label] = whole.group(1) if whole else label
    names = (
        order_labels(set(shown.values())) if order is None else tuple(name for name in order if name in codes)
    )
    numbers = {name: number for number, name in enumerate(names)}
    by_code = np.array([numbers[shown[label]] for label in codes], dtype=np.int64)
    return names, by_code[np.array(found.labels, dtype=np.int64)]


def _found_splits(found: _Gathered, guessed: str | None) -> np.ndarray | None:
    """The split of each row (N,) as it was found, or None if the rows do not say."""
    values = list(found.split_codes)
    strange = next((number for number, value in enumerate(values) if value and value not in SPLITS), None)
    if strange is not None and guessed is None:
        raise UserError(
            f"{found.source} has {values[strange]!r} for the split of "
            f"{found.at(found.split_places[strange])}, "
            "where train, dev (or validation) or test was needed."
        )
    if strange is not None:
        found.said.append(
            f"Column {shortened(guessed)!r} was not taken for the split: it has "
            f"{shortened(values[strange])!r} in it."
        )
        return None
    if not any(values):
        return None
    if guessed is not None:
        found.said.append(f"Guessed: split from column {shortened(guessed)!r} (say otherwise with --split).")
    splits = np.array(values, dtype="<U5")[np.array(found.splits, dtype=np.int64)]
    unsaid = splits == ""
    if unsaid.any():
        splits[unsaid] = "train"  # a row that nobody set aside for testing is there to be learnt from
        found.said.append(f"Rows without a split were put into train: {int(unsaid.sum()):,}.")
    return splits


def _to_judge(found: _Gathered, splits: np.ndarray | None) -> np.ndarray:
    """The splits of rows that nothing is to be learnt from: all are test where none was set aside."""
    if splits is not None and (splits == "test").any():
        return splits
    known = "" if splits is None else f" (marked {listed(sorted(set(splits.tolist())))})"
    found.said.append(f"No test split was given: all {len(found.texts):,} rows{known} are there to judge by.")
    return np.full(len(found.texts), "test", dtype="<U5")


def _complete(
    found: _Gathered, splits: np.ndarray, labels: np.ndarray, *, shares: Sequence[float], seed: int
) -> np.ndarray:
    """Carve dev and test out of train where they are missing; a split that is there is never touched."""
    if not (splits == "train").any():
        raise UserError(f"{found.source} has no row in train: nothing can be learnt from it.")
    missing = {
        split: share
        for split, share in zip(SPLITS[1:], shares[1:], strict=True)
        if share > 0 and not (splits == split).any()
    }
    if missing:
        whole = shares[0] + sum(missing.values())
        parts = (missing.get("dev", 0) / whole, missing.get("test", 0) / whole)
        rows = np.flatnonzero(splits == "train")
        splits[rows] = deal(take_texts(found.texts, rows), labels[rows].tolist(), shares=parts, seed=seed)
        amounts = " and ".join(f"{in_percent(share / whole)} for {split}" for split, share in missing.items())
        found.said.append(
            f"There was no {' and no '.join(missing)} split: of train, {amounts} was set aside, "
            f"stratified by class, with seed {seed}."
        )
    return splits


def _check_classes(found: _Gathered, labels: np.ndarray, splits: np.ndarray, names: tuple[str, ...]) -> None:
    def classes(rows: np.ndarray, size: int) -> list[str]:
        sizes = np.bincount(labels[rows], minlength=len(names))
        return [repr(shortened(name)) for name, count in zip(names, sizes, strict=True) if count == size]

    learnt = splits == "train"
    if learnt.any() and (alone := classes(np.ones(len(labels), dtype=bool), 1)):
        raise UserError(
            f"{found.source} has only one example of class {listed(alone)}, which cannot be split into train "
            "and test: add examples or take the class out."
        )
    if learnt.any() and (unseen := classes(learnt, 0)):
        raise UserError(
            f"{found.source} has no train example of class {listed(unseen)}: add some or take the class out."
        )
    for split in SPLITS[1:]:
        inside = splits == split
        if inside.any() and (absent := classes(inside, 0)):
            found.said.append(f"No example of class {listed(absent)} is in {split}.")


def _say_if_too_few(found: _Gathered, splits: np.ndarray, *, dealt: bool) -> None:
    count = int(np.count_nonzero(splits == "test"))
    if 0 < count < TO_JUDGE:
        remedy = "add rows, or audit with --folds 5, which judges every text" if dealt else "add rows"
        found.said.append(
            f"Only {count:,} texts are in test, and an audit needs about {TO_JUDGE} to say anything: "
            f"{remedy}."
        )


def _say_if_rare(
    found: _Gathered, labels: np.ndarray, splits: np.ndarray, names: tuple[str, ...], *, dealt: bool
) -> None:
    """Of two classes the common one is often decided by default: then the other must carry the reading."""
    sizes = np.bincount(labels[splits == "test"], minlength=len(names))
    count, rare = int(sizes.min()), int(sizes.argmin())
    if sizes.sum() < TO_JUDGE or not 0 < count < TO_JUDGE_CLASS:
        return  # too few in all is said already
    whole = int(np.count_nonzero(labels == rare))
    more = f"audit with --folds 5, which judges all {whole:,}" if dealt else "add such rows"
    found.said.append(
        f"Only {count:,} texts of class {shortened(names[rare])!r} are in test, and about {TO_JUDGE_CLASS} "
        f"are needed to read a class by itself: {more}."
    )


def _at(place: str, number: str | int) -> str:
    return f"{place} {number:,}" if isinstance(number, int) else f"{place} {number}"


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else shown[:40] + "…"
