"""A folder of results that can be gone on with: what was asked, and parts that are written as they come.

    FOLDER/recipe.json                 what was asked; a folder with another recipe is refused
    FOLDER/STAGE/part-KEY.parquet      rows, each part whole or not at all
    FOLDER/STAGE/KEY.json              what is no table

A killed process leaves whole parts, and the next one makes what is missing: same keys, same results. Many
processes may keep parts at once; the lock is for those who open the store. A recipe holds plain JSON values
and nothing that depends on where the folder lies, so that a folder may be moved.
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from heedful.errors import UserError
from heedful.files import check_folder, locked, write_atomically
from heedful.records.rows import append_rows, count_rows, read_parts
from heedful.records.stored import read_json

if TYPE_CHECKING:
    import pandas

RECIPE, LOCK = "recipe.json", ".lock"
UNKEYED = re.compile(r"part-\d{20}-[0-9a-f]{12}")  # how parts were called before they had keys


def digest_of(asked: Any, *, size: int = 4) -> str:
    """Twice as many hexadecimal digits as `size`, which stand for plain JSON values."""
    return hashlib.blake2b(json.dumps(asked, sort_keys=True).encode(), digest_size=size).hexdigest()


@dataclass(frozen=True)
class Store:
    """A folder and what is asked of it; without a recipe, stages and keys alone say what was asked.

    `mark` is what the recipe's file is called. `marks` are other entries by which a folder is known as one of
    ours, and `parts` those that it may have alone.
    """

    folder: Path
    recipe: Mapping[str, Any] = field(default_factory=dict)
    mark: str = RECIPE
    marks: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    what: str = "results"

    def stage(self, name: str = "") -> "Stage":
        """One stage, in a folder of its own; without a name, in the store's."""
        return Stage(self.folder / name)

    def begun(self) -> dict[str, Any] | None:
        """The recipe that is there, None without one; refuses, without a trace, what is not a store's."""
        check_folder(self.folder, marks=(self.mark, *self.marks), parts=self.parts)
        path = self.folder / self.mark
        if not path.exists():
            return None
        try:
            return dict(read_json(path))
        except (ValueError, TypeError) as error:
            raise UserError(
                f"{path} is damaged ({error}): remove {self.folder}, or choose another place."
            ) from None

    def check(self, *, only: Collection[str] | None = None) -> None:
        """Refuse a folder that was begun with another recipe; `only` looks at these parts of it."""
        asked = json.loads(json.dumps(self.recipe, allow_nan=False))
        known = self.begun()
        if known is None or not asked:
            return
        for name in {**asked, **known}:  # in their order, so that the same fault is always named
            if (only is None or name in only) and known.get(name) != asked.get(name):
                raise UserError(
                    f"{self.folder} holds {self.what} with other settings ({name} was {known.get(name)}, and "
                    f"is {asked.get(name)}): choose another place, or remove it."
                )

    @contextmanager
    def opened(self) -> Iterator[Self]:
        """Begin, or go on, and hold the folder's lock for the block."""
        self.check()
        with locked(self.folder / LOCK):
            self.begin()
            yield self

    def begin(self) -> None:
        """Write what is asked, where that is not written yet; this makes the folder."""
        path = self.folder / self.mark
        if self.recipe and not path.exists():
            with write_atomically(path) as file:
                json.dump(self.recipe, file, indent=1, ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True)
class Stage:
    """The parts of one stage, by their keys."""

    folder: Path

    def part(self, key: str) -> Path:
        """Where the rows of a key are, or would be."""
        return self.folder / f"part-{key}.parquet"

    def missing(self, keys: Iterable[str]) -> list[str]:
        """The keys without a part; a damaged part, or one without a key, is refused by name."""
        there = {path.name.removeprefix("part-").removesuffix(".parquet"): path for path in self._parts()}
        for path in there.values():
            if UNKEYED.fullmatch(path.stem):
                raise UserError(
                    f"{self.folder} has rows of an earlier version, which cannot be gone on with: choose "
                    "another place, or remove it."
                )
        wanted = list(keys)
        for key in wanted:
            if key in there:
                count_rows(there[key])
        return [key for key in wanted if key not in there]

    def keep(self, key: str, rows: "Iterable[Mapping[str, Any]] | pandas.DataFrame") -> None:
        """Write the rows of a key."""
        append_rows(self.folder, rows, key=key)

    def fill(
        self,
        keys: Sequence[str],
        make: "Callable[[str], pandas.DataFrame]",
        *,
        done: Callable[[str], None] | None = None,
    ) -> int:
        """Make the parts that are missing, one after the other; how many were there from before.

        `done` hears of every key, also of those from before.
        """
        missing = set(self.missing(keys))
        for key in keys:
            if key in missing:
                self.keep(key, make(key))
            if done is not None:
                done(key)
        return len(keys) - len(missing)

    def rows(self, keys: Sequence[str]) -> "pandas.DataFrame":
        """The rows of these keys, in their order."""
        return read_parts([self.part(key) for key in keys])

    def count(self) -> int:
        """How many rows all parts have together."""
        return sum(map(count_rows, self._parts()))

    def keep_value(self, key: str, value: Any) -> None:
        """Write what is no table, as JSON."""
        with write_atomically(self.folder / f"{key}.json") as file:
            json.dump(value, file, ensure_ascii=False)

    def value(self, key: str) -> Any:
        """What `keep_value` wrote, None if it did not."""
        path = self.folder / f"{key}.json"
        if not path.exists():
            return None
        try:
            return read_json(path)
        except ValueError as error:
            raise UserError(f"{path} is damaged ({error}): remove it, and it is made again.") from None

    def _parts(self) -> list[Path]:
        return sorted(self.folder.glob("part-*.parquet"))
