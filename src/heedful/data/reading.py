"""A user's own texts: CSV and its kin, JSON lines, Parquet, Excel, a folder of shards or labelled files."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from heedful.data.columns import SPLIT_WORDS, Columns, Peek, choose_columns, choose_texts
from heedful.data.corpus import Corpus
from heedful.data.dealing import chosen_shares
from heedful.data.gathering import Row, as_label, as_split, as_text, gather_corpus
from heedful.data.label_rules import LabelRule
from heedful.data.pairs import paired
from heedful.data.tables import Table, open_table
from heedful.data.tables.lines import whole_text
from heedful.data.tables.shards import shards_in
from heedful.data.tables.unpacking import is_there
from heedful.errors import UserError, nearest

_PEEKED_ROWS = 200
_PEEKED, _PEEKED_ENDS = 2**24, 2**13  # characters of them in all, and of the beginning and end of a cell
_UNLABELLED_FOLDERS = frozenset(("unsup", "unsupervised", "unlabelled", "unlabeled"))
_HUGGING_FACE_FILES = ("dataset_dict.json", "dataset_info.json")


def read_corpus(
    path: str | Path,
    *,
    text: str | None = None,
    label: str | None = None,
    split: str | None = None,
    seed: int = 0,
    text_pair: str | None = None,
    shares: Sequence[float] | None = None,
    test_share: float | None = None,
    encoding: str | None = None,
    name: str | None = None,
    learn: bool = True,
    rule: LabelRule | None = None,
) -> Corpus:
    """Read a file, a folder of Parquet shards, or one LABEL/*.txt or SPLIT/LABEL/*.txt, as a corpus; what
    was guessed is in its notes.

    `text`, `label` and `split` name columns, `text_pair` that of a second text. Without a split, rows are
    split into train, dev and test, stratified by class, so that test is large enough to judge by;
    `test_share` sets its share, or `shares` all three. A train split alone is split likewise, and dev is
    never taken from test. Without `learn`, for texts that are only judged, all rows are test where none was
    set aside.
    `encoding` is by default recognised. A `rule` makes two classes of what is in the label column.
    """
    path = Path(path)
    options: dict[str, Any] = {"seed": seed, "shares": chosen_shares(shares, test_share), "learn": learn}
    said = {"text": text, "label": label, "split": split, "text_pair": text_pair}
    if is_there(path) and path.is_dir() and not shards_in(path):
        return _read_folder(path, [*said.values()], encoding=encoding, name=name, options=options)
    table = open_table(path, encoding=encoding)
    name = name or path.name.split(".")[0] or path.resolve().name
    return corpus_from(table, name=name, said=said, rule=rule, **options)


def corpus_from(
    table: Table,
    *,
    name: str,
    said: Mapping[str, str | None],
    rule: LabelRule | None = None,
    **options: Any,
) -> Corpus:
    """The rows of a table as a corpus; `said` are the columns that were named."""
    columns = _columns(table, **said)
    found = gather_corpus(
        _walk(table, columns, rule),
        name=name,
        source=str(table.path),
        place=table.place,
        guessed_split=columns.split if said.get("split") is None else None,
        notes=(*table.notes, columns.note),
        order=None if rule is None else rule.classes,
        **options,
    )
    return replace(found, roles=columns.roles)


def text_columns(table: Table, *, text: str | None = None, text_pair: str | None = None) -> tuple[str, ...]:
    """The column of a table that holds its texts, or the two of pairs, where no labels are needed."""
    return choose_texts(
        table.columns, source=str(table.path), peek=_peek(table), text=text, text_pair=text_pair
    )


def texts_from(
    table: Table, *, text: str | None = None, text_pair: str | None = None
) -> Iterator[tuple[int, str]]:
    """The texts of a table that needs no labels, each with the number of its row; missing ones are ""."""
    names = text_columns(table, text=text, text_pair=text_pair)
    source, place = str(table.path), table.place
    for number, cells in table.rows(list(names)):
        parts = [as_text(cell, source=source, place=place, number=number) for cell in cells]
        yield number, parts[0] if len(parts) == 1 else paired(*parts)


def read_rows(
    path: str | Path,
    *,
    text: str | None = None,
    label: str | None = None,
    split: str | None = None,
    encoding: str | None = None,
) -> Iterator[tuple[str, str, str]]:
    """Walk a file as (text, label, split), one row in memory at a time (about a thousand of Parquet).

    Nothing is dropped or split here: an empty text, a missing label and a split that is not said are "".
    """
    table = open_table(Path(path), encoding=encoding)
    for row in _walk(table, _columns(table, text=text, label=label, split=split)):
        yield row[1:]


def _columns(table: Table, **said: str | None) -> Columns:
    return choose_columns(table.columns, source=str(table.path), peek=_peek(table), **said)


def _peek(table: Table) -> Peek:
    def peek() -> dict[str, list[object]]:
        named = [name for name in table.columns if name]
        found: dict[str, list[object]] = {name: [] for name in named}
        left = _PEEKED
        for _, cells in islice(table.rows(named), _PEEKED_ROWS) if named else ():
            for name, cell in zip(named, cells, strict=True):
                text = isinstance(cell, str)
                if text and len(cell) > 2 * _PEEKED_ENDS:
                    cell = cell[:_PEEKED_ENDS] + cell[-_PEEKED_ENDS:]
                found[name].append(cell)
                left -= len(cell) if text else 1
            if left < 0:
                break
        return found

    return peek


def _walk(table: Table, columns: Columns, rule: LabelRule | None = None) -> Iterator[Row]:
    source, place = str(table.path), table.place
    names = [columns.text, columns.label, columns.split, columns.text_pair]
    at = {name: place for place, name in enumerate(name for name in names if name is not None)}
    for number, cells in table.rows(list(at)):
        where: dict[str, Any] = {"source": source, "place": place, "number": number}
        text = as_text(cells[0], **where)
        if columns.text_pair is not None:
            text = paired(text, as_text(cells[at[columns.text_pair]], **where))
        split = as_split(cells[at[columns.split]]) if columns.split is not None else ""
        yield Row(number, text, (rule or as_label)(cells[1], **where), split)


# Folders


def _read_folder(
    path: Path,
    columns: Sequence[str | None],
    *,
    encoding: str | None,
    name: str | None,
    options: dict[str, Any],
) -> Corpus:
    if any(columns):
        raise UserError(
            f"{path} is a folder of text files, which has no columns: leave out --text, --label and --split."
        )
    if any((path / file).is_file() for file in _HUGGING_FACE_FILES):
        raise UserError(f"{path} is a dataset saved by Hugging Face: name it as hf:{path}.")
    by_split = _is_by_split(path)
    labelled = [
        (folder, SPLIT_WORDS[parent.name.lower()] if by_split else "")
        for parent in (_folders(path) if by_split else [path])
        for folder in _folders(parent)
    ]
    notes = [
        f"Left out the folder {folder.relative_to(path)}: its name says that it is not labelled."
        for folder, _ in labelled
        if folder.name.lower() in _UNLABELLED_FOLDERS
    ]
    files = [
        (file, split)
        for folder, split in labelled
        if folder.name.lower() not in _UNLABELLED_FOLDERS
        for file in sorted(folder.glob("*.txt"))
    ]
    if not files:
        _refuse_folder(path)
    encodings: Counter[str] = Counter()

    def rows() -> Iterator[Row]:
        for file, split in files:
            text, found = whole_text(file, encoding)
            encodings[found.shown if found.note else ""] += 1
            yield Row(str(file.relative_to(path)), text, file.parent.name, split)

    def all_notes() -> Iterator[str]:
        yield from notes
        for shown, count in encodings.items():
            if shown:
                files = f"{count:,} file{'s' * (count != 1)}"
                yield f"Read {files} as {shown}, not UTF-8 (say otherwise with --encoding)."

    return gather_corpus(
        rows(), name=name or path.resolve().name, source=str(path), place="file", notes=all_notes(), **options
    )


def _is_by_split(path: Path) -> bool:
    # A label may be called "test": only folders that hold folders are splits.
    parents = _folders(path)
    return all(parent.name.lower() in SPLIT_WORDS for parent in parents) and any(map(_folders, parents))


def _folders(path: Path) -> list[Path]:
    return sorted(entry for entry in path.iterdir() if entry.is_dir() and not entry.name.startswith("."))


def _refuse_folder(path: Path) -> None:
    tables = sorted(entry.name for entry in path.iterdir() if entry.is_file())
    inside = nearest("", tables) if tables else "; it has no files of its own"
    raise UserError(f"{path} has no text files LABEL/*.txt or SPLIT/LABEL/*.txt in it{inside}.")
