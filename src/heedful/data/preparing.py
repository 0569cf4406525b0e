"""The steps by which the papers' corpora are prepared: each takes rows and gives rows, and says what it did.

After Jain & Wallace (2019), whom Sun & Lu (2020) follow, and Serrano & Smith (2019).
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from heedful.data.dealing import Share, deal
from heedful.data.newsgroups import strip_message

SPLIT_SEED = 2020
"""The seed of every split we had to draw ourselves. It is fixed: a named corpus is the same for everybody."""


@dataclass(frozen=True)
class Rows:
    """Texts, label names and splits while a corpus is being prepared; `notes` say what was done to them."""

    texts: Sequence[str]
    labels: Sequence[str]
    splits: Sequence[str]
    notes: tuple[str, ...] = ()

    def keep(self, kept: Sequence[bool] | np.ndarray, note: str) -> "Rows":
        """The rows where `kept` is true; `note` is added if any row went, with {count} filled in."""
        numbers = [row for row, stays in enumerate(kept) if stays]
        dropped = len(self.texts) - len(numbers)
        return Rows(
            [self.texts[row] for row in numbers],
            [self.labels[row] for row in numbers],
            [self.splits[row] for row in numbers],
            self.notes + ((note.format(count=f"{dropped:,}"),) if dropped else ()),
        )


Step = Callable[[Rows], Rows]


def rewrite(rows: Rows, change: Callable[[str], str], note: str) -> Rows:
    """Rewrite each text; `note` is added if any text changed."""
    texts = [change(text) for text in rows.texts]
    changed = any(new != old for new, old in zip(texts, rows.texts, strict=True))
    return replace(rows, texts=texts, notes=rows.notes + ((note,) if changed else ()))


def clean_words(rows: Rows) -> Rows:
    """SST as Jain & Wallace clean it: no treebank brackets, marks to blanks, lower case."""
    return rewrite(
        rows,
        lambda text: " ".join(re.sub(r"-[LR][RCS]B-|[^\w]", " ", text).split()).lower(),
        "Brackets and punctuation were taken out and letters made small.",
    )


def breaks_to_lines(rows: Rows) -> Rows:
    """Turn the marks `<br />` into line ends, so that they are neither words nor painted on the page."""
    return rewrite(
        rows,
        lambda text: re.sub(r"\s*<br\s*/?>\s*(?:<br\s*/?>\s*)*", "\n", text).strip(),
        "The marks <br /> were turned into line ends.",
    )


def strip_messages(rows: Rows) -> Rows:
    """Take header, footer and quotes off each newsgroup message."""
    return rewrite(rows, strip_message, "Headers, footers and quotes were taken off the messages.")


def drop_wordless(rows: Rows) -> Rows:
    """Drop texts that have no word in them."""
    word = re.compile(r"\w")
    return rows.keep(
        [word.search(text) is not None for text in rows.texts], "Dropped {count} texts without a word."
    )


def only_labels(rows: Rows, labels: Sequence[str]) -> Rows:
    """Keep the rows of these labels. No note: it is what the corpus is."""
    wanted = frozenset(labels)
    kept = rows.keep([label in wanted for label in rows.labels], "")
    return replace(kept, notes=rows.notes)


def only_short(rows: Rows, below: int) -> Rows:
    """Keep reviews of fewer than `below` words, counted as the IMDB release's published word index counts.

    That index lowers ASCII letters only, splits at marks other than the apostrophe (so `<br />` is the word
    br), and knows the words of the training half; a word of the test half that it does not know is not
    counted.
    """
    words = [_index_words(text) for text in rows.texts]
    index: set[bytes] = set()
    for found, split in zip(words, rows.splits, strict=True):
        if split != "test":
            index.update(found)
    short = [len(found) < below or sum(word in index for word in found) < below for found in words]
    return rows.keep(short, f"Dropped {{count}} reviews of {below} words or more.")


_MARKS = b'!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'
_TO_BLANKS = bytes.maketrans(_MARKS, b" " * len(_MARKS))


def _index_words(text: str) -> list[bytes]:
    return text.encode("utf-8", "surrogatepass").lower().translate(_TO_BLANKS).split()


def sample_split(rows: Rows, split: str, share: float) -> Rows:
    """Keep a fixed share of each class of one split, the other splits whole."""
    inside = np.flatnonzero(np.asarray(rows.splits) == split)
    chosen = _deal(rows, inside, (0.0, share)) == "test"
    kept = np.ones(len(rows.texts), dtype=bool)
    kept[inside] = chosen
    counts = f"Of {len(inside):,} {split} texts {int(chosen.sum()):,} were kept"
    return rows.keep(kept, f"{counts}, drawn with the fixed seed {SPLIT_SEED}.")


def carve(rows: Rows, shares: Share | Mapping[str, Share]) -> Rows:
    """Split the train texts again, into train, dev and test by their shares (see `deal`)."""
    inside = np.flatnonzero(np.asarray(rows.splits) == "train")
    part = _deal(rows, inside, shares)
    splits = np.array(rows.splits, dtype="<U5")
    splits[inside] = part
    made = " and ".join(name for name in ("dev", "test") if (part == name).any())
    note = f"Set {made or 'nothing'} aside from train, class by class, with the fixed seed {SPLIT_SEED}."
    return replace(rows, splits=splits.tolist(), notes=(*rows.notes, note))


def carve_pooled(rows: Rows, shares: Share | Mapping[str, Share] = (0.1, 0.1)) -> Rows:
    """Forget the source's splits, if it has any, and split all texts into train, dev and test."""
    pooled = replace(rows, splits=["train"] * len(rows.texts), notes=())
    note = f"Split all texts into train, dev and test, class by class, with the fixed seed {SPLIT_SEED}."
    return replace(carve(pooled, shares), notes=(*rows.notes, note))


def carve_missing(rows: Rows, share: float = 0.1) -> Rows:
    """Take dev, and test too, from train where the source has none."""
    lacks = [0.0 if name in rows.splits else share for name in ("dev", "test")]
    return carve(rows, (lacks[0], lacks[1])) if any(lacks) else rows


def say_shared_texts(rows: Rows) -> Rows:
    """Add a note if a text is in more than one split: it is so in the source, and stays."""
    seen = {split: set(_of(rows.texts, rows.splits, split)) for split in set(rows.splits)}
    shared = sum(count > 1 for count in Counter(text for texts in seen.values() for text in texts).values())
    if not shared:
        return rows
    note = f"{shared:,} texts are in more than one split, as they are in the source."
    return replace(rows, notes=(*rows.notes, note))


def _deal(rows: Rows, inside: np.ndarray, shares: Share | Mapping[str, Share]) -> np.ndarray:
    texts = [rows.texts[row] for row in inside]
    labels = [rows.labels[row] for row in inside]
    return deal(texts, labels, shares=shares, seed=SPLIT_SEED)


def _of(texts: Sequence[str], splits: Sequence[str], split: str) -> list[str]:
    return [text for text, own in zip(texts, splits, strict=True) if own == split]
