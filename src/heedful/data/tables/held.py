"""Tables in memory: a DataFrame, an Arrow table, a dictionary of columns, records, or texts with labels."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from heedful.data.tables.table import Cells, Table
from heedful.errors import UserError, listed, shortened

TEXT, LABEL = "text", "label"
TAKEN = (
    "a path, the name of a corpus, hf:NAME, a DataFrame, a Hugging Face Dataset, a dictionary of columns, "
    "or a list of texts with labels="
)


def open_held(source: Any, labels: Any = None) -> Table:
    """What is held in memory as a table; `labels` belong to a list of texts. Another kind is refused."""
    if labels is not None:
        return _texts(source, labels)
    if hasattr(source, "columns") and hasattr(source, "iloc"):  # a DataFrame of pandas
        return _table("the DataFrame", {str(name): source[name] for name in source.columns}, source.columns)
    if hasattr(source, "column_names") and hasattr(source, "to_pydict"):  # an Arrow table
        return _table("the table", source.to_pydict())
    if hasattr(source, "columns") and hasattr(source, "to_dicts"):  # a DataFrame of polars
        return _table("the DataFrame", source.to_dict(as_series=False))
    if isinstance(source, Mapping):
        return _table("the dictionary", source)
    if isinstance(source, tuple) and len(source) == 2 and all(map(_is_column, source)):
        return _texts(*source)
    rows = _cells(source) if _is_column(source) else refuse(source)
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = list(dict.fromkeys(str(name) for row in rows for name in row))
        return _table("the list", {name: [row.get(name) for row in rows] for name in names})
    if rows and all(isinstance(row, tuple | list) and len(row) == 2 for row in rows):
        return _table("the list", {TEXT: [row[0] for row in rows], LABEL: [row[1] for row in rows]})
    return _table("the list", {TEXT: rows})


def is_data(source: Any) -> bool:
    """Whether this is something in memory that holds rows, and no model."""
    if isinstance(source, tuple):
        return len(source) == 2 and all(map(_is_column, source))
    return isinstance(source, Mapping | list) or hasattr(source, "column_names") or hasattr(source, "columns")


def refuse(source: Any) -> NoReturn:
    """One sentence: what is taken as data, and what came."""
    raise UserError(f"Data are taken as {TAKEN}, but this is of the type {type(source).__name__}.")


def _texts(texts: Any, labels: Any) -> Table:
    if not _is_column(texts):
        refuse(texts)
    if not _is_column(labels):
        raise UserError(
            f"Labels are taken as a list, one for each text, but are of the type {type(labels).__name__}."
        )
    return _table("the list", {TEXT: texts, LABEL: labels})


def _table(called: str, columns: Mapping[Any, Any], named: Iterable[Any] = ()) -> Table:
    names = [str(name) for name in (named if len(list(named)) else columns)]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise UserError(
            f"{called} has more than one column named {shortened(twice[0])!r}: rename all but one."
        )
    for name, column in columns.items():
        if not _is_column(column):
            raise UserError(
                f"In {called} the column {str(name)!r} must be a list with a cell for each row, but it is of "
                f"the type {type(column).__name__}."
            )
    sizes = {str(name): len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise UserError(
            f"{called} needs columns of one length, but they are "
            f"{listed(f'{name} {size:,}' for name, size in sizes.items())}."
        )
    found = {str(name): column for name, column in columns.items()}

    def rows(wanted: Sequence[str]) -> Iterator[tuple[int, Cells]]:
        return enumerate(zip(*(_cells(found[name]) for name in wanted), strict=True), start=1)

    return Table(Path(called), names, "row", rows)


def _is_column(value: Any) -> bool:
    if isinstance(value, str | bytes | Mapping) or callable(value):
        return False
    return hasattr(value, "__len__") and (hasattr(value, "__getitem__") or hasattr(value, "__iter__"))


def _cells(column: Any) -> list[Any]:
    """The cells in Python's own types, None where one is missing."""
    if hasattr(column, "isna"):  # of pandas, whose missing values are of several kinds
        column = column.astype(object).where(~column.isna(), None)
    plain: Callable[[], list[Any]] | None = getattr(column, "tolist", None) or getattr(
        column, "to_pylist", None
    )
    return plain() if plain is not None else list(column)
