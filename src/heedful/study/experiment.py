"""An experiment of a paper: what it measures, what the paper claims of it, and the figures that show it.

`measure` takes a `Bench` and gives tables; claims and figures are functions of those tables alone, so both
can be made again, without torch, from a folder that was written long ago.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from heedful.drawing import draw_to
from heedful.errors import UserError
from heedful.files import write_atomically
from heedful.records import Claim
from heedful.records.stored import read_json
from heedful.study import learnt
from heedful.study.workbench import Bench

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Tables = Mapping[str, pd.DataFrame]
Draw = Callable[[Tables], "Figure"]


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a paper, by a name such as sun-lu-fig2."""

    name: str
    title: str
    source: str  # paper and place
    measure: Callable[[Bench], Tables]
    claims: Callable[[Tables], Iterable[Claim]] = lambda tables: ()
    figures: Mapping[str, Draw] = field(default_factory=dict)  # by the names of their files

    def draw(self, done: "Reproduction") -> list[Path]:
        """Draw the figures into the folder of what came of it, each as PNG, SVG and PDF."""
        assert done.folder is not None
        return [
            path
            for name, figure in self.figures.items()
            for path in draw_to(done.folder / name, figure, done.tables, formats=("png", "svg", "pdf"))
        ]


@dataclass(frozen=True)
class Reproduction:
    """What came of an experiment."""

    name: str
    title: str
    source: str
    quick: bool
    tables: Tables
    claims: tuple[Claim, ...]
    folder: Path | None = None
    asked: str = ""  # the options it was run with, as `heedful reproduce` takes them

    def save(self, folder: str | Path) -> "Reproduction":
        """Write tables as Parquet and CSV, and the claims as JSON; the JSON last."""
        folder = Path(folder)
        for name, table in self.tables.items():
            with write_atomically(folder / f"{name}.parquet", "wb") as file:
                table.to_parquet(file, index=False)
            with write_atomically(folder / f"{name}.csv") as file:
                table.to_csv(file, index=False)
        content = {
            "schema": 1,
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "quick": self.quick,
            "asked": self.asked,
            "tables": list(self.tables),
            "claims": [claim.to_dict() for claim in self.claims],
        }
        with write_atomically(folder / "experiment.json") as file:
            json.dump(content, file, indent=2, ensure_ascii=False)
        return replace(self, folder=folder)

    def told(self, claim: Claim) -> str:
        """A claim in one line; of a single training it is said that it is one."""
        outcome = claim.told(trained=learnt.TABLE in self.tables)
        return f"{outcome}: {claim.statement} ({claim.source}): {claim.effect}"

    def save_latex(self) -> None:
        """Write the tables as LaTeX beside the others."""
        from heedful.study.latex import to_latex

        assert self.folder is not None
        for name, table in self.tables.items():
            with write_atomically(self.folder / f"{name}.tex") as file:
                file.write(to_latex(table))

    @staticmethod
    def load(folder: str | Path) -> "Reproduction":
        """Read what `save` wrote."""
        folder = Path(folder)
        try:
            content = read_json(folder / "experiment.json")
            tables = {name: pd.read_parquet(folder / f"{name}.parquet") for name in content["tables"]}
            claims = tuple(Claim.from_dict(claim) for claim in content["claims"])
            about = {name: content[name] for name in ("name", "title", "source", "quick")}
        except FileNotFoundError:
            raise UserError(f"{folder} holds no experiment: `heedful reproduce NAME` makes one.") from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            reason = (str(error).splitlines() or ["?"])[0]
            raise UserError(f"{folder} is damaged ({reason}): reproduce it again.") from None
        asked = content.get("asked", "")  # the first records have none
        return Reproduction(**about, tables=tables, claims=claims, folder=folder, asked=asked)


def reproduce(experiment: Experiment, bench: Bench) -> Reproduction:
    """Measure an experiment, judge its claims, and leave both in the bench's folder.

    The accuracies of the models that were trained for it are the first of its tables.
    """
    bench.trained.clear()
    tables = experiment.measure(bench)
    if bench.trained:
        tables = {learnt.TABLE: learnt.models_table(bench.trained), **tables}
    claims = tuple(learnt.judged(experiment.claims(tables), tables.get(learnt.TABLE)))
    done = Reproduction(
        experiment.name,
        experiment.title,
        experiment.source,
        bench.quick,
        tables,
        claims,
        asked=bench.asked,
    )
    return done.save(bench.folder / experiment.name)
