"""A study file: a grid of corpora × models × settings × seeds, checked in full before any work starts.

```toml
name = "scale-on-sst"
corpora = ["sst"]            # names, paths (from the study file's folder), or hf:NAME
models = ["dp", "ad"]        # names or presets
seeds = [0, 1, 2]
keep_runs = false            # true leaves each cell's run folder beside the records
measures = ["accuracy", "tau-gradient"]  # of each run, for the table (`study.text_measures` has all)
texts = 500                  # test texts that trials are made on; accuracy is of all

[settings]                   # the same in every cell
epochs = 20

[grid]                       # every combination of these
scale = [1, 10, 100]

[columns]                    # of corpora that are files, where they are not obvious
text = "body"
```
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from heedful.data.catalogue import CATALOGUE
from heedful.data.corpus import Corpus
from heedful.data.named import check_source, load_data
from heedful.data.vocabulary import Vocabulary
from heedful.errors import LARGEST_SEED, UserError, choose_from
from heedful.models.settings import ModelSettings
from heedful.settings import check_sizes, read_toml, settings_from
from heedful.store import digest_of
from heedful.study.held import held
from heedful.study.text_measures import MEASURES
from heedful.training.presets import prepare
from heedful.training.settings import TrainingSettings

# What [columns] may say about how files are read, and as what.
READING = {"text": str, "label": str, "split": str, "encoding": str, "test_share": float}
TABLES = ("settings", "grid", "columns")
OURS = {"base", "sent"}  # what a study file may not say
MOST_CELLS = 10**6


@dataclass(frozen=True)
class Origin:
    """A corpus as `load_data` takes it."""

    source: str
    text: str | None = None
    label: str | None = None
    split: str | None = None
    encoding: str | None = None
    test_share: float | None = None


def load_origin(origin: Origin, data_dir: str | Path | None = None) -> Corpus:
    """Load a corpus; its splits do not follow a cell's seed: seeds must differ in nothing else."""
    return load_data(data_dir=data_dir, **asdict(origin))


@dataclass(frozen=True)
class Cell:
    """One training of a study: a corpus, a model by name, and the settings that differ from its preset."""

    corpus: str
    model: str
    settings: Mapping[str, Any]

    @cached_property
    def prepared(self) -> tuple[ModelSettings, TrainingSettings]:
        """All settings of the training; a mistake in them is refused here."""
        return prepare(self.model, self.settings)

    @cached_property
    def key(self) -> str:
        """Twelve hexadecimal digits that stand for the corpus by name, the model and all its settings."""
        model, training = self.prepared
        return digest_of([self.corpus, self.model, asdict(model), asdict(training)], size=6)

    def on(self, corpus: Corpus) -> str:
        """What its run and results are called: never taken for those of an older corpus of this name."""
        return f"{self.key}-{corpus.fingerprint}"

    def __str__(self) -> str:
        settings = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        return f"{self.corpus}, {self.model}, {settings}"


@dataclass(frozen=True)
class Study:
    """The grid as written; `cells` are its trainings."""

    name: str
    corpora: tuple[str, ...]
    models: tuple[str, ...] = ("dp",)
    seeds: tuple[int, ...] = field(default=(0,), metadata={"most": LARGEST_SEED})
    keep_runs: bool = False
    measures: tuple[str, ...] = ()
    texts: int = 500
    settings: dict = field(default_factory=dict)
    grid: dict = field(default_factory=dict)
    columns: dict = field(default_factory=dict)
    base: Path = Path()  # where relative paths in the study begin
    sent: Mapping[str, str] | None = None  # fingerprints of files that a worker was sent, by their paths

    def __post_init__(self) -> None:
        for name, kind in (("corpora", str), ("models", str), ("seeds", int)):
            _check_values(f"{name} of the study {self.name!r}", getattr(self, name), kind)
        if self.measures:
            _check_values(f"measures of the study {self.name!r}", self.measures, str)
        for name in self.measures:
            choose_from("measure", name, MEASURES)
        check_sizes(self)
        if self.texts < 1:
            raise UserError(f"Measures need at least one text, but texts is {self.texts}.")
        for name, values in self.grid.items():
            _check_values(f"grid.{name}", values)
        for name, column in self.columns.items():
            choose_from("column", name, READING)
            _check_values("columns", [column], READING[name])
        for name in {**self.settings, **self.grid}:
            if name == "seed":
                raise UserError("A study has its seeds in one place: write seeds = [...] at its beginning.")
            if name in self.settings and name in self.grid:
                raise UserError(f"{name} is given twice: say it once, under settings or under grid.")
        lists = (self.corpora, self.models, self.seeds, *self.grid.values())
        if (cells := math.prod(map(len, lists))) > MOST_CELLS:
            raise UserError(f"A study has at most {MOST_CELLS:,} cells, but this grid has {cells:,}.")

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

    def origin(self, corpus: str) -> "Origin":
        """Where one of the study's corpora comes from; a named one knows its columns."""
        if corpus in CATALOGUE:
            return Origin(corpus)
        source = corpus if corpus.startswith("hf:") else str(self.base / Path(corpus).expanduser())
        return Origin(source, **self.columns)

    def place(self, model: ModelSettings) -> ModelSettings:
        """The model's settings with the files they name looked for where the study's paths begin."""
        return replace(
            model, vectors_file=self._found(model.vectors_file), pretrained=self._found(model.pretrained)
        )

    def files(self) -> dict[str, Path]:
        """Where the files and folders lie that settings name, by the paths as they are written."""
        models = [cell.prepared[0] for cell in self.cells]
        named = {path for model in models for path in (model.vectors_file, model.pretrained) if path}
        return {path: self.base / path for path in sorted(named) if (self.base / path).exists()}

    def check(self, *, data_dir: str | Path | None = None) -> dict[str, Corpus]:
        """Refuse, by name, anything that would fail later; the corpora are read for it, and returned.

        Every model is built once for its corpus' classes, with an empty vocabulary.
        """
        from heedful.models.building import build_model

        for cell in self.cells:
            _ = cell.key
        origins = {corpus: self.origin(corpus) for corpus in self.corpora}
        for origin in origins.values():
            check_source(origin.source, data_dir=data_dir)
        corpora = {corpus: load_origin(origin, data_dir) for corpus, origin in origins.items()}
        nothing = Vocabulary.build([])
        for name, model in dict.fromkeys((cell.corpus, self.place(cell.prepared[0])) for cell in self.cells):
            if model.embedding_source == "file" and not Path(model.vectors_file).is_file():
                raise UserError(f"There is no file of word vectors at {model.vectors_file}.")
            build_model(model, nothing, corpora[name].label_names)
        return corpora

    def _found(self, path: str) -> str:
        if self.sent and path in self.sent:
            return str(held(self.sent[path]))
        return str(self.base / path) if path and (self.base / path).exists() else path


def load_study(path: str | Path) -> Study:
    """Read a study file."""
    path = Path(path)
    content = read_toml(path, "study file")
    tables = {name: content.pop(name, {}) for name in TABLES}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise UserError(f"{name} in {path} must be a table, written [{name}], but it is {table!r}.")
    for name in OURS & content.keys():
        raise UserError(f"There is no setting {name!r} in {path}: its paths begin in its own folder.")
    study = settings_from(Study, {"name": path.stem, **content, **tables}, where=str(path))
    return replace(study, base=path.parent)


def _check_values(what: str, values: Any, kind: type = object) -> None:
    """There must be a list of values of this kind, with something in it and nothing twice."""
    if not isinstance(values, list | tuple) or not values:
        raise UserError(f"{what} must be a list of values to try, but it is {values!r}.")
    if len(values) > MOST_CELLS:
        raise UserError(f"A study has at most {MOST_CELLS:,} cells, but there are {len(values):,} of {what}.")
    seen = set()
    for value in values:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            wanted = {str: "texts", float: "numbers"}.get(kind, "whole numbers")
            raise UserError(f"{what} must be {wanted}, but there is {value!r}.")
        key = _hashable(value)
        if key in seen:
            raise UserError(f"{what} has {value!r} twice: say it once.")
        seen.add(key)


def _hashable(value: Any) -> Any:
    """The same for equal values, also for lists and tables."""
    if isinstance(value, dict):
        return frozenset((name, _hashable(own)) for name, own in value.items())
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value
