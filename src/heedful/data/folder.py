"""Readers of the named corpora's files as they lie in a data folder; what they give is prepared elsewhere."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from heedful.data.preparing import Rows
from heedful.data.reading import read_rows
from heedful.data.tables import table_rows
from heedful.data.tables.separated import headless_rows
from heedful.errors import UserError

RATINGS = "extra/imdb_ratings.csv.gz"


def read_table(path: Path) -> Rows:
    """A table with the columns text, label and split; a row whose split is empty is train."""
    found = list(read_rows(path, text="text", label="label", split="split"))
    return Rows(
        [text for text, _, _ in found],
        [label for _, label, _ in found],
        [split or "train" for _, _, split in found],
    )


def read_ratings(path: Path) -> Rows:
    """The IMDB reviews labelled with the reviewers' own ratings, which a side table gives row by row."""
    rows = read_table(path)
    side = path.parent / RATINGS
    ratings = [(split, rating) for _, (split, rating) in table_rows(side, ("split", "rating"))]
    if [split for split, _ in ratings] != list(rows.splits):
        raise UserError(f"{side} does not belong to {path}: both need the same rows in the same order.")
    return replace(rows, labels=[rating for _, rating in ratings])


def read_published(folder: Path, *, labels: Sequence[str], parts: int) -> Rows:
    """train.csv and test.csv as Zhang et al. (2015) publish them: a class number from 1, then the text."""
    texts, names, splits = [], [], []
    for split in ("train", "test"):
        path = folder / f"{split}.csv"
        for line, (number, *found) in headless_rows(path, parts + 1):
            if not number.isdecimal() or not 1 <= int(number) <= len(labels):
                raise UserError(
                    f"{path} must begin each row with a class number from 1 to {len(labels)}, "
                    f"but line {line:,} begins with {number!r}."
                )
            texts.append(join_parts(found))
            names.append(labels[int(number) - 1])
            splits.append(split)
    return Rows(texts, names, splits)


def join_parts(parts: Iterable[str | None]) -> str:
    r"""The parts (title, body, answer) that are there, a line end between them; a written \n is one too."""
    undone = ((part or "").replace("\\n", "\n").replace('\\"', '"').strip() for part in parts)
    return "\n".join(part for part in undone if part)
