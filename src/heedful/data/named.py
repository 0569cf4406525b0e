"""The one door to all data: a name of the catalogue, a Hugging Face dataset, a path, or what is in memory.

A named corpus is read from the data folder, or else from Hugging Face, and prepared as the papers prepare it.
Its splits do not depend on a seed of the user's: everybody gets the same corpus, and its fingerprint shows
it.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from heedful.data.catalogue import CATALOGUE, MadeCorpus, NamedCorpus, PackagedCorpus
from heedful.data.columns import SPLIT_WORDS, reading_options
from heedful.data.corpus import Corpus
from heedful.data.dealing import chosen_shares
from heedful.data.folder import join_parts
from heedful.data.huggingface import from_hub, is_dataset, read_dataset, read_hub
from heedful.data.label_rules import LabelRule
from heedful.data.preparing import Rows
from heedful.data.reading import corpus_from, read_corpus, texts_from
from heedful.data.reviews import reviews_installed
from heedful.data.tables import open_table
from heedful.data.tables.held import LABEL, TEXT, open_held
from heedful.data.tables.unpacking import is_there
from heedful.errors import UserError, check_seed, listed, nearest, shortened

DATA_VARIABLE = "HEEDFUL_DATA"


def load_data(
    source: Any,
    labels: Any = None,
    *,
    data_dir: str | Path | None = None,
    text: str | None = None,
    label: str | None = None,
    split: str | None = None,
    text_pair: str | None = None,
    seed: int = 0,
    test_share: float | None = None,
    encoding: str | None = None,
    learn: bool = True,
    rule: LabelRule | None = None,
) -> Corpus:
    """Load a corpus by a name of the catalogue, from Hugging Face ("hf:NAME"), a path, or what is in memory:
    a DataFrame, a `datasets.Dataset`, a dictionary of columns, a list of texts with `labels`, a `Corpus`.

    `text`, `label` and `split` name the columns of a file or of a Hugging Face dataset; they are guessed when
    obvious. `text_pair` names that of a second text, decided together with the first. `seed` makes the
    synthetic corpora and draws the splits of a source that has none; the splits of a named real corpus are
    fixed and it does not move them. `test_share` is test's part of what is split,
    `encoding` that of a text file; both are by default chosen by what is there. Without `learn`, for texts
    that are only judged, all rows are test where none was set aside. A `rule` (`label_rules`) makes two
    classes of what is in the label column.

    Example: `heedful.load_data("reviews.csv", text="body", label="stars")`
    """
    check_seed(seed)
    said = reading_options(
        text=text, label=label, split=split, text_pair=text_pair, encoding=encoding, test_share=test_share
    )
    if isinstance(source, Corpus):
        if said or labels is not None:
            raise UserError(f"{source.name} is a corpus already: leave out {listed(said or ['labels'])}.")
        return source
    if not isinstance(source, str | Path):
        return _load_held(source, labels, seed=seed, learn=learn, rule=rule, **said)
    if labels is not None:
        raise UserError(
            "Labels belong to a list of texts; a file has its own: name their column with label=."
        )
    if isinstance(source, str) and source in CATALOGUE:
        if rule is not None:
            raise UserError(f"{source} is a named corpus, whose classes are known: give the texts as a file.")
        chosen = [f"--{name.replace('_', '-')}" for name in said]
        if chosen:
            raise UserError(
                f"{source} is a named corpus, whose columns and splits are known: leave out "
                f"{' and '.join(chosen)}."
            )
        return _load_named(source, data_dir=data_dir, seed=seed)
    if isinstance(source, str) and source.startswith("hf:"):
        if encoding is not None:
            raise UserError(f"{source} knows its encoding itself: leave out --encoding.")
        return read_hub(source, seed=seed, learn=learn, rule=rule, **said)
    path = Path(source).expanduser()
    if isinstance(source, str) and path.name == source and not path.suffix and not is_there(path):
        raise UserError(f"There is no corpus or file {shortened(source)!r}{nearest(source, CATALOGUE)}.")
    return read_corpus(path, seed=seed, learn=learn, rule=rule, **said)


def load_texts(source: Any, *, text: str | None = None) -> list[str]:
    """The texts alone of a path or of what is in memory; `text` names their column. A `str` is a path."""
    if isinstance(source, Corpus):
        return list(source.texts)
    if isinstance(source, str | Path):
        table = open_table(Path(source).expanduser())
    elif is_dataset(source) and isinstance(source, Mapping):  # by split
        return [one for part in source.values() for one in load_texts(part, text=text)]
    else:
        table = open_held(source.to_pandas() if is_dataset(source) else source)
    return [found for _, found in texts_from(table, text=text)]


def check_source(source: str, *, data_dir: str | Path | None = None) -> None:
    """Refuse, without reading it, a source that cannot be loaded: an unknown name or a missing file."""
    if source.startswith("hf:"):
        return
    if source not in CATALOGUE:
        if not is_there(Path(source).expanduser()):
            raise UserError(f"There is no corpus or file {shortened(source)!r}{nearest(source, CATALOGUE)}.")
    elif not is_at_hand(source, data_dir=data_dir) and getattr(CATALOGUE[source], "hub", None) is None:
        raise UserError(
            f"The corpus {source} is not at hand: `heedful data show {source}` says how to get it."
        )


def is_at_hand(name: str, *, data_dir: str | Path | None = None) -> bool:
    """Whether a named corpus is on this machine: in the data folder, in a package, or made from a seed."""
    match CATALOGUE[name]:
        case MadeCorpus():
            return True
        case PackagedCorpus():
            return reviews_installed()
        case NamedCorpus(file=file):
            folder = data_folder(data_dir)
            return folder is not None and (folder / file).exists()


def data_folder(data_dir: str | Path | None = None) -> Path | None:
    """The folder with the corpora's files: the argument, else the variable HEEDFUL_DATA, else none."""
    given = data_dir or os.environ.get(DATA_VARIABLE)
    if not given:
        return None
    folder = Path(given).expanduser()
    if not folder.is_dir():
        origin = "--data-dir" if data_dir else DATA_VARIABLE
        raise UserError(
            f"The data folder {folder} ({origin}) is not there: name the folder that holds the corpora."
        )
    return folder


def _load_held(
    source: Any, labels: Any, *, seed: int, learn: bool, rule: LabelRule | None, **said: Any
) -> Corpus:
    if "encoding" in said:
        raise UserError("What is in memory has no encoding any more: leave it out.")
    if is_dataset(source):
        return read_dataset(source, seed=seed, learn=learn, rule=rule, **said)
    table = open_held(source, labels)
    if table.columns == [TEXT]:
        raise UserError(f"There are texts and no labels in {table.path}: give one for each text as labels=.")
    shares = chosen_shares(None, said.pop("test_share", None))
    if labels is not None or isinstance(source, tuple):
        said = {"text": TEXT, "label": LABEL, **said}  # they have no columns to be guessed
    return corpus_from(table, name="texts", said=said, rule=rule, shares=shares, seed=seed, learn=learn)


def _load_named(name: str, *, data_dir: str | Path | None, seed: int) -> Corpus:
    entry = CATALOGUE[name]
    match entry:
        case MadeCorpus():
            return replace(entry.make(seed), name=name)
        case PackagedCorpus():
            rows = entry.read()
        case NamedCorpus():
            rows = _find_rows(name, entry, data_folder(data_dir))
    for step in entry.steps:
        rows = step(rows)
    return _corpus(name, rows, entry.labels)


def _find_rows(name: str, entry: NamedCorpus, folder: Path | None) -> Rows:
    path = folder / entry.file if folder is not None else None
    if path is None or not path.exists():
        return _hub_rows(name, entry)
    rows = entry.read(path)
    for step in entry.unpack:
        rows = step(rows)
    return replace(rows, notes=(f"Read from {entry.file} in the data folder.", *rows.notes))


def _hub_rows(name: str, entry: NamedCorpus) -> Rows:
    place = (
        f"put {entry.file} ({entry.obtain}) into a folder and name that with --data-dir or {DATA_VARIABLE}"
    )
    if entry.hub is None:
        raise UserError(
            f"The corpus {name} is not in a data folder, and Hugging Face does not have it: {place}."
        )
    try:
        tables = from_hub(entry.hub.name)
    except UserError as error:
        reason = str(error).rstrip(".")
        raise UserError(f"The corpus {name} is not in a data folder, and {reason}; or {place}.") from error
    columns = (*entry.hub.text, entry.hub.label)
    texts, labels, splits = [], [], []
    for key, table in tables.items():
        split = SPLIT_WORDS.get(key)
        if split is None:  # such as IMDB's unsupervised reviews
            continue
        names = getattr(table.features[entry.hub.label], "names", None)
        for batch in table.select_columns(list(columns)).with_format(None).iter(batch_size=1000):
            *parts, codes = (batch[column] for column in columns)
            # A code of -1 says that the label is held back; it must not pick the last name.
            found = [str(names[code] if names and code >= 0 else code) for code in codes]
            texts += [join_parts(row) if len(row) > 1 else row[0] or "" for row in zip(*parts, strict=True)]
            labels += [entry.hub.labels.get(label, label) for label in found]
            splits += [split] * len(found)
    return Rows(texts, labels, splits, (f"Read from Hugging Face ({entry.hub.name}).",))


def _corpus(name: str, rows: Rows, label_names: tuple[str, ...]) -> Corpus:
    numbers = {label: number for number, label in enumerate(label_names)}
    foreign = sorted(set(rows.labels) - set(numbers))
    if foreign:
        raise UserError(
            f"The corpus {name} knows the labels {', '.join(label_names)}, but {foreign[0]!r} came."
        )
    return Corpus(
        name=name,
        texts=rows.texts,
        labels=np.array([numbers[label] for label in rows.labels], dtype=np.int64),
        splits=np.array(rows.splits, dtype="<U5"),
        label_names=label_names,
        notes=rows.notes,
    )
