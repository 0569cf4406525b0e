"""What a bench found: numbers for a machine; sentences and tables, with what was aimed at, for a person."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """A table; the first `left` columns are words, the others numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1


@dataclass(frozen=True)
class Found:
    """`numbers` are plain values, `shown` says the same."""

    numbers: Any
    shown: tuple[str | Table, ...]


def numbers_of(measured: Any, *ratios: str, **about: Any) -> dict[str, Any]:
    """The fields of a dataclass and some of its properties, with what else is to be said before them."""
    return {**about, **asdict(measured), **{name: getattr(measured, name) for name in ratios}}
