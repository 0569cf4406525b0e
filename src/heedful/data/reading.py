"""A user's own texts: CSV, TSV, JSON lines or Parquet, plain or gzipped, or a folder of files by label."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from heedful.data.columns import SPLIT_WORDS, Columns, choose_columns
from heedful.data.corpus import SHARES, Corpus
from heedful.data.gathering import Row, as_label, as_split, as_text, gather_corpus
from heedful.data.tables import csv_delimiter, decoded, table_columns, table_format, table_rows
from heedful.errors import UserError, nearest

_UNLABELLED_FOLDERS = frozenset(("unsup", "unsupervised", "unlabelled", "unlabeled"))
_HUGGING_FACE_FILES = ("dataset_dict.json", "dataset_info.json")


def read_corpus(
    path: str | Path,
    *,
    text: str | None = None,
    label: str | None = None,
    split: str | None = None,
    seed: int = 0,
    shares: Sequence[float] = SHARES,
    name: str | None = None,
    learn: bool = True,
) -> Corpus:
    """Read a file, or a folder LABEL/*.txt or SPLIT/LABEL/*.txt, as a corpus; what was guessed is in its
    notes.

    `text`, `label` and `split` name columns. Without a split, rows are dealt to train, dev and test by
    `shares`, stratified by class; a train split alone is dealt out likewise, and dev is never taken from
    test. Without `learn`, for texts that are only judged, no train split is needed.
    """
    path = Path(path)
    if path.is_dir():
        columns_named = (text, label, split)
        return _read_folder(path, columns_named, seed=seed, shares=shares, name=name, learn=learn)
    columns = choose_columns(table_columns(path), source=str(path), text=text, label=label, split=split)
    return gather_corpus(
        _walk(path, columns),
        name=name or path.name.split(".")[0],
        source=str(path),
        place=table_format(path).place,
        guessed_split=columns.split if split is None else None,
        shares=shares,
        seed=seed,
        notes=(_separator_note(path), columns.note),
        learn=learn,
    )


def read_rows(
    path: str | Path, *, text: str | None = None, label: str | None = None, split: str | None = None
) -> Iterator[tuple[str, str, str]]:
    """Walk a file as (text, label, split), one row in memory at a time (about a thousand of Parquet).

    Nothing is dropped or dealt out here: an empty text, a missing label and a split that is not said are "".
    """
    path = Path(path)
    columns = choose_columns(table_columns(path), source=str(path), text=text, label=label, split=split)
    for row in _walk(path, columns):
        yield row[1:]


def _walk(path: Path, columns: Columns) -> Iterator[Row]:
    source, place = str(path), table_format(path).place
    names = [columns.text, columns.label] + ([columns.split] if columns.split is not None else [])
    for number, cells in table_rows(path, names):
        yield Row(
            number,
            as_text(cells[0], source=source, place=place, number=number),
            as_label(cells[1], source=source, place=place, number=number),
            as_split(cells[2]) if len(cells) == 3 else "",
        )


def _separator_note(path: Path) -> str:
    unusual = ".csv" in path.suffixes and csv_delimiter(path) == ";"
    return "Fields were taken to be separated by semicolons." if unusual else ""


# Folders


def _read_folder(
    path: Path,
    columns: Sequence[str | None],
    *,
    seed: int,
    shares: Sequence[float],
    name: str | None,
    learn: bool,
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
    return gather_corpus(
        (
            Row(str(file.relative_to(path)), decoded(file.read_bytes(), file), file.parent.name, split)
            for file, split in files
        ),
        name=name or path.resolve().name,
        source=str(path),
        place="file",
        shares=shares,
        seed=seed,
        notes=notes,
        learn=learn,
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
