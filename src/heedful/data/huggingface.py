"""Datasets of Hugging Face: by name from the hub, or a folder that `save_to_disk` wrote.

Needs the extra `hf`. Rows go through the same checks as those of a user's own file.
"""

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from heedful.data.columns import SPLIT_WORDS, Columns, choose_columns
from heedful.data.corpus import Corpus
from heedful.data.dealing import chosen_shares
from heedful.data.gathering import Row, as_label, as_split, as_text, gather_corpus
from heedful.data.label_rules import LabelRule
from heedful.data.pairs import paired
from heedful.errors import MissingExtra, UserError, listed


def read_hub(name: str, *, config: str | None = None, **options: Any) -> Corpus:
    """Read OWNER/NAME, OWNER/NAME/CONFIG or a saved folder, with or without "hf:" before it; `options` are
    those of `read_dataset`."""
    name = name.removeprefix("hf:")
    dataset = _from_disk(Path(name)) if Path(name).is_dir() else from_hub(name, config)
    return read_dataset(dataset, name=Path(name).name, source=f"hf:{name}", **options)


def is_dataset(source: Any) -> bool:
    """Whether this is a dataset of Hugging Face, or a dictionary of such by split."""
    if isinstance(source, Mapping):
        return bool(source) and all(map(is_dataset, source.values()))
    return hasattr(source, "column_names") and hasattr(source, "features")


def read_dataset(
    dataset: Any,
    *,
    name: str = "dataset",
    source: str = "the dataset",
    text: str | None = None,
    label: str | None = None,
    split: str | None = None,
    seed: int = 0,
    text_pair: str | None = None,
    shares: Sequence[float] | None = None,
    test_share: float | None = None,
    learn: bool = True,
    rule: LabelRule | None = None,
) -> Corpus:
    """A dataset, or a dictionary of them by split, as a corpus.

    The names of a `ClassLabel` become the label names. Rows without a label (-1) and splits that are none of
    train, validation and test are left out and said.
    """
    # A dataset that is one table has, perhaps, its split in a column; otherwise the splits are tables with
    # names.
    tables: Mapping[str, Any] = dataset if isinstance(dataset, Mapping) else {"": dataset}
    used = {key: table for key, table in tables.items() if not key or as_split(key) in SPLIT_WORDS.values()}
    if not used:
        raise UserError(f"{source} has no split named train, validation or test, only {listed(tables)}.")
    if "" not in tables and split is not None:
        raise UserError(f"{source} has its splits apart ({listed(tables)}): leave out --split.")
    first = next(iter(used.values()))
    columns = choose_columns(
        first.column_names, source=source, text=text, label=label, split=split, text_pair=text_pair
    )
    names = None if rule is not None else getattr(first.features[columns.label], "names", None)
    notes = [
        f"Left out the split {key!r}: it is not train, validation or test."
        for key in tables.keys() - used.keys()
    ]
    rows = [
        row
        for key, table in used.items()
        for row in _labelled(key, table, columns, names or rule, source, notes)
    ]
    found = gather_corpus(
        rows,
        name=name,
        source=source,
        place="row",
        guessed_split=columns.split if split is None and "" in tables else None,
        order=names if rule is None else rule.classes,
        shares=chosen_shares(shares, test_share),
        seed=seed,
        notes=[columns.note, *notes],
        learn=learn,
    )
    return replace(found, roles=columns.roles)


Names = Sequence[str] | LabelRule | None  # of a `ClassLabel`; or how a cell is read; else cells are names


def _labelled(
    key: str, table: Any, columns: Columns, names: Names, source: str, notes: list[str]
) -> Iterator[Row]:
    """The rows of one table that have a label; how many have none goes to `notes`."""
    unlabelled = 0
    for row in _rows(key, table, columns, names, source):
        if row.label == "-1" and names is not None:
            unlabelled += 1
        else:
            yield row
    if unlabelled:
        notes.append(f"Dropped {unlabelled:,} rows without a label (-1){f' from {key}' if key else ''}.")


def _rows(key: str, table: Any, columns: Columns, names: Names, source: str) -> Iterator[Row]:
    wanted = [columns.text, columns.label]
    by_column = not key and columns.split is not None
    if by_column:
        wanted.append(str(columns.split))
    if columns.text_pair is not None:
        wanted.append(columns.text_pair)
    missing = [column for column in wanted if column not in table.column_names]
    if missing:
        raise UserError(f"{source} has no column {missing[0]!r} in its split {key}.")
    number = 0
    for batch in table.select_columns(wanted).with_format(None).iter(batch_size=1000):
        for cells in zip(*(batch[column] for column in wanted), strict=True):
            number += 1
            where = f"{number:,} of {key}" if key else number
            text = as_text(cells[0], source=source, place="row", number=where)
            if columns.text_pair is not None:
                text = paired(text, as_text(cells[-1], source=source, place="row", number=where))
            yield Row(
                where,
                text,
                _class_name(cells[1], names, source=source, number=where),
                as_split(cells[2]) if by_column else as_split(key),
            )


def _class_name(value: Any, names: Names, *, source: str, number: str | int) -> str:
    if isinstance(names, LabelRule):
        return names(value, source=source, place="row", number=number)
    if names is not None and isinstance(value, int) and 0 <= value < len(names):
        return names[value]
    return as_label(value, source=source, place="row", number=number)


def _from_disk(path: Path) -> Any:
    datasets = _library()
    try:
        return datasets.load_from_disk(str(path))
    except (FileNotFoundError, ValueError, KeyError) as error:
        raise UserError(
            f"{path} is not a whole dataset as save_to_disk writes it ({_first_line(error)}): save it again."
        ) from error


def from_hub(name: str, config: str | None = None) -> Any:
    """A dataset of the hub, all its splits; one that cannot be had is refused in a sentence."""
    datasets = _library()
    repository, given = name, config
    if name.count("/") == 2:
        repository, _, last = name.rpartition("/")
        given = config or last
    try:
        with _no_waiting_without_network(datasets, repository):
            return datasets.load_dataset(repository, given)
    except datasets.exceptions.DatasetNotFoundError as error:
        raise UserError(
            f"Hugging Face has no dataset {repository!r} that may be read: {_first_line(error)}"
        ) from error
    except (ConnectionError, TimeoutError) as error:
        raise UserError(
            f"hf:{name} is not on this machine and Hugging Face cannot be reached: connect, or save it "
            "elsewhere with save_to_disk, copy the folder here and name it as hf:FOLDER."
        ) from error
    except (ValueError, FileNotFoundError) as error:  # an unknown configuration, files that no reader knows
        raise UserError(f"hf:{name} cannot be read: {_first_line(error)}") from error


def hub_is_known(name: str | Path) -> bool:
    """Whether it is worth asking Hugging Face for this: its name resolves, or a proxy resolves it for us.

    Without a network five retries would take half a minute; what was downloaded before is found either way.
    """
    if Path(name).exists() or getproxies().keys() & {"http", "https", "all"}:  # "no" is none
        return True
    host = urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co").hostname
    try:
        socket.getaddrinfo(host, None)
    except OSError:
        return False
    return True


@contextmanager
def _no_waiting_without_network(datasets: Any, name: str) -> Iterator[None]:
    """Use what is stored here if the hub is not to be had: the library would retry for long."""
    from huggingface_hub import constants

    if hub_is_known(name):
        yield
        return
    before = constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = datasets.config.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE = before


def _library() -> Any:
    try:
        import datasets
    except ImportError:
        raise MissingExtra("Reading from Hugging Face", "hf") from None
    return datasets


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
