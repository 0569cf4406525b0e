"""Published results: the tables of experiments as small files, from which claims and figures are made again.

    FOLDER/NAME/PART/about.json         what was run: title, options, version, tables and their digests
    FOLDER/NAME/PART/TABLE.csv          a table; one of more than `MOST_ROWS` rows is TABLE.parquet

A part is what one command measured: `sst-dp` for --corpus sst --model dp, and `all` where nothing was left
out. It takes the place of all parts that it covers. A quick run is no result, and is refused. What is
published is read again before it counts: its claims must come out as they were.
"""

import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from heedful import __version__
from heedful.errors import UserError
from heedful.files import folder_atomically
from heedful.records import Claim
from heedful.records.manifest import file_digest
from heedful.records.stored import read_json
from heedful.study import learnt
from heedful.study.experiment import Experiment, Reproduction, Tables

ABOUT, ALL = "about.json", "all"
MOST_ROWS = 2000
MISSING = "NaN"


@dataclass(frozen=True)
class Published:
    """One part of an experiment, as it lies in the folder."""

    name: str
    part: str
    about: Mapping[str, Any]
    tables: Tables

    @property
    def command(self) -> str:
        """What makes it again."""
        return f"heedful reproduce {self.name} {self.about['asked']}".strip()

    def claims(self, experiment: Experiment) -> tuple[Claim, ...]:
        """The experiment's claims about these tables."""
        return tuple(learnt.judged(experiment.claims(self.tables), self.tables.get(learnt.TABLE)))


def publish(done: Reproduction, experiment: Experiment, folder: str | Path) -> Path:
    """Write what came of an experiment to the folder of published results, instead of an earlier one."""
    if done.quick:
        raise UserError(
            f"{done.name} was run with --quick, which is no result: run it in full to publish it."
        )
    part = part_of(done.asked)
    place = Path(folder) / done.name / part
    about = {
        "schema": 2,
        "name": done.name,
        "title": done.title,
        "source": done.source,
        "asked": done.asked,
        "version": __version__,
        "tables": {name: _kinds(table) for name, table in done.tables.items()},
    }
    with folder_atomically(place, replacing=True) as new:
        for name, table in done.tables.items():
            _write(table, new / name)
        about["files"] = {path.name: file_digest(path) for path in sorted(new.iterdir())}
        (new / ABOUT).write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        again = _read(new).claims(experiment)
        if [claim.to_dict() for claim in again] != [claim.to_dict() for claim in done.claims]:
            raise UserError(
                f"{done.name} cannot be published: its claims do not come out of its tables again."
            )
    for other in _parts(place.parent):
        if other != place and covers(done.asked, _read(other).about["asked"]):
            shutil.rmtree(other)
    return place


def read_published(folder: str | Path) -> list[Published]:
    """Everything that is published in a folder, by name and part."""
    found = [_read(part) for name in sorted(Path(folder).glob("*/")) for part in _parts(name)]
    if not found:
        raise UserError(
            f"{folder} has no published results: `heedful reproduce NAME --publish {folder}` writes some."
        )
    return found


def part_of(asked: str) -> str:
    """What a part is called, of the options it was asked with; seeds do not count."""
    chosen = re.findall(r"--(?:corpus|model) (\S+)", asked)
    return "-".join(re.sub(r"[^\w.-]+", "-", one) for one in chosen) or ALL


def covers(asked: str, other: str) -> bool:
    """Whether what was asked has all that was asked otherwise: naming no corpus, or model, means all."""
    both = [
        (set(re.findall(rf"--{what} (\S+)", asked)), set(re.findall(rf"--{what} (\S+)", other)))
        for what in ("corpus", "model")
    ]
    return all(not own or (theirs and own >= theirs) for own, theirs in both)


def joined(parts: list[Published]) -> Tables:
    """The tables of several parts of one experiment as one; a table that a part lacks is left out."""
    names = [name for name in parts[0].tables if all(name in part.tables for part in parts)]
    return {name: pd.concat([part.tables[name] for part in parts], ignore_index=True) for name in names}


def _parts(folder: Path) -> list[Path]:
    """The parts of one experiment, but not what a killed process left half written."""
    return sorted(path.parent for path in folder.glob(f"*/{ABOUT}") if not path.parent.name.startswith("."))


def _write(table: pd.DataFrame, stem: Path) -> None:
    if len(table) > MOST_ROWS:
        table.to_parquet(stem.with_suffix(".parquet"), index=False, compression="zstd")
    else:
        table.to_csv(stem.with_suffix(".csv"), index=False, na_rep=MISSING, lineterminator="\n")


def _read(place: Path) -> Published:
    try:
        about = read_json(place / ABOUT)
        if {Path(name).stem for name in about["files"]} != set(about["tables"]):
            raise ValueError("its tables are not those that it names")
        for name, digest in about["files"].items():
            if file_digest(place / name) != digest:
                raise ValueError(f"{name} is not as it was written")
        tables = {name: _table(place / name, kinds) for name, kinds in about["tables"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{place} is damaged ({str(error).splitlines()[0]}): publish it again.") from None
    return Published(about["name"], place.name, about, tables)


def _kinds(table: pd.DataFrame) -> dict[str, str]:
    """What each column holds, so that a CSV is read as it was."""
    kinds = {"i": "int", "u": "int", "f": "float", "b": "bool"}
    return {str(name): kinds.get(table[name].dtype.kind, "words") for name in table}


def _table(stem: Path, kinds: Mapping[str, str]) -> pd.DataFrame:
    if stem.with_suffix(".parquet").exists():
        return pd.read_parquet(stem.with_suffix(".parquet"))
    cells = pd.read_csv(stem.with_suffix(".csv"), dtype=str, keep_default_na=False)
    return pd.DataFrame({name: [READ[kind](cell) for cell in cells[name]] for name, kind in kinds.items()})


# Python's own float is exact; what pandas reads may miss the last digit.
READ: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "bool": lambda cell: cell == "True",
    "words": lambda cell: None if cell == MISSING else cell,
}
