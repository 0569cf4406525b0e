"""A study file: a grid of corpora × models × settings × seeds, checked in full before any work starts.

```toml
name = "scale-on-sst"
corpora = ["sst"]            # names, paths, or hf:NAME
models = ["dp", "ad"]        # names or presets
seeds = [0, 1, 2]

[settings]                   # the same in every cell
epochs = 20

[grid]                       # every combination of these
scale = [1, 10, 100]
```
"""

import hashlib
import itertools
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from heedful.data.named import check_source
from heedful.errors import UserError
from heedful.settings import settings_from
from heedful.training.presets import prepare


@dataclass(frozen=True)
class Cell:
    """One training of a study: a corpus, a model by name, and the settings that differ from its preset."""

    corpus: str
    model: str
    settings: Mapping[str, Any]

    @cached_property
    def key(self) -> str:
        """Twelve hexadecimal digits that stand for exactly this training."""
        content = json.dumps([self.corpus, self.model, dict(self.settings)], sort_keys=True)
        return hashlib.blake2b(content.encode(), digest_size=6).hexdigest()


@dataclass(frozen=True)
class Study:
    """The grid as written; `cells` are its trainings."""

    name: str
    corpora: tuple[str, ...]
    models: tuple[str, ...] = ("dp",)
    seeds: tuple[int, ...] = (0,)
    settings: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Any] = field(default_factory=dict)
    keep_runs: bool = False  # leave each cell's run folder beside the records

    def __post_init__(self) -> None:
        for name in ("corpora", "models", "seeds"):
            if not getattr(self, name):
                raise UserError(f"The study {self.name!r} needs at least one value in {name}.")
        for name, values in self.grid.items():
            if not isinstance(values, list | tuple) or not values:
                raise UserError(f"grid.{name} must be a list of values to try, but it is {values!r}.")
        twice = (set(self.settings) & set(self.grid)) | ({"seed"} & ({*self.settings, *self.grid}))
        if twice:
            raise UserError(f"{min(twice)} is given twice: say it once, under settings, grid or seeds.")

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All cells, the seeds innermost, so that an interrupted study has whole rows of its table."""
        combinations = itertools.product(*self.grid.values())
        return tuple(
            Cell(corpus, model, {**self.settings, **dict(zip(self.grid, values, strict=True)), "seed": seed})
            for corpus, model, values, seed in itertools.product(
                self.corpora, self.models, combinations, self.seeds
            )
        )

    def check(self, *, data_dir: str | Path | None = None) -> None:
        """Refuse, by name, any corpus, model or value that would fail later."""
        for corpus in self.corpora:
            check_source(corpus, data_dir=data_dir)
        for cell in self.cells:
            prepare(cell.model, cell.settings)


def load_study(path: str | Path) -> Study:
    """Read a study file."""
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"There is no study file {path}.") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder: give the study's TOML file.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not valid TOML: {error}.") from None
    content.setdefault("name", path.stem)
    return settings_from(Study, content, where=str(path))
