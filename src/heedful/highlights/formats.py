"""Highlights as files, written as they come and never held whole: .html, .jsonl, .csv, .parquet. No torch."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

from heedful.errors import UserError, listed
from heedful.files import write_atomically
from heedful.highlights.page import page_parts
from heedful.highlights.result import SCHEMA, About, Highlight, flat, unflat
from heedful.records.stored import parse_json

ROWS = 2000  # of a group in Parquet
ABOUT = b"heedful.highlights"

Writer = Callable[[Any, About, Iterable[Highlight], int], None]


def write(path: str | Path, about: About, items: Iterable[Highlight], count: int) -> None:
    """Write a file in the format that its name ends in, whole or not at all."""
    writer, binary = _WRITERS[ending_of(path)]
    with write_atomically(path, "wb" if binary else "w") as file:
        writer(file, about, items, count)


def ending_of(path: str | Path) -> str:
    """The format of a file by its name; another one is refused."""
    ending = Path(path).suffix.lower()
    if ending not in _WRITERS:
        raise UserError(
            f"Highlights are written to a file that ends in {listed(_WRITERS)}, but {path} ends in "
            f"{ending or 'nothing'!r}."
        )
    return ending


def read_parquet(path: str | Path) -> tuple[About, list[Highlight]]:
    """What the Parquet writer wrote."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not Path(path).is_file() or ending_of(path) != ".parquet":
        raise UserError(f"{path} is no Parquet file with highlights: those can be loaded again.")
    try:
        table = pq.read_table(path)
        about = parse_json((table.schema.metadata or {})[ABOUT])
        if about.pop("schema") != SCHEMA:
            raise UserError(f"{path} was written by another version of heedful: highlight again.")
        return About.from_dict(about), [unflat(row) for row in table.to_pylist()]
    except (pa.ArrowException, OSError, KeyError, ValueError, TypeError) as error:
        raise UserError(f"{path} holds no highlights, or is damaged: {error}.") from None


def _html(file: IO[str], about: About, items: Iterable[Highlight], count: int) -> None:
    file.writelines(page_parts(about, items, count))


def _jsonl(file: IO[str], about: About, items: Iterable[Highlight], count: int) -> None:
    # Half of a surrogate pair, which UTF-8 cannot carry, is written as its code.
    how = {"schema": SCHEMA, "by": about.by, "strength": about.strength}
    for item in items:
        file.write(f"{_utf8(json.dumps({**item.to_dict(), **how}, ensure_ascii=False))}\n")


def _csv(file: IO[str], about: About, items: Iterable[Highlight], count: int) -> None:
    writer = None
    for item in items:
        row = {name: _utf8(value) if isinstance(value, str) else value for name, value in flat(item).items()}
        if writer is None:
            writer = csv.DictWriter(file, list(row), lineterminator="\n")
            writer.writeheader()
        writer.writerow(row)


def _parquet(file: IO[bytes], about: About, items: Iterable[Highlight], count: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds: dict[str, Any] = {"number": pa.int64(), "words": pa.int64(), "probability": pa.float64()}
    names = ("number", "text", "decision", "probability", "words", "said", "highlights", "flip")
    told = {ABOUT: json.dumps({"schema": SCHEMA, **about.to_dict()}, ensure_ascii=False).encode()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in names], metadata=told)
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for rows in _some(items):
            table = [
                {name: _utf8(value) if isinstance(value, str) else value for name, value in flat(one).items()}
                for one in rows
            ]
            writer.write_table(pa.Table.from_pylist(table, schema=schema))


def _some(items: Iterable[Highlight]) -> Iterator[list[Highlight]]:
    left = iter(items)
    while rows := list(islice(left, ROWS)):
        yield rows


def _utf8(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


_WRITERS: dict[str, tuple[Writer, bool]] = {
    ".html": (_html, False),
    ".csv": (_csv, False),
    ".jsonl": (_jsonl, False),
    ".parquet": (_parquet, True),
}
