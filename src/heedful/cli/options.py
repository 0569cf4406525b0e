"""Options that several commands share, declared once so that they read alike everywhere."""

from pathlib import Path
from typing import Annotated, Any

import typer

from heedful.errors import LARGEST_SEED
from heedful.settings import MOST, MOST_WORKERS


def count(*names: str, least: int = 1, most: int = MOST, help: str) -> Any:
    """An option that says how many or how large: a number that no machine could bear is refused here."""
    return typer.Option(*names, min=least, max=most, help=help)


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object for machines.")]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, max=LARGEST_SEED, help="The seed of everything that is left to chance."),
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Folder with the named corpora. Default: the variable HEEDFUL_DATA."),
]
TextColumn = Annotated[
    str | None, typer.Option("--text", help="Column with the texts. Default: guessed, and said.")
]
TextPairColumn = Annotated[
    str | None,
    typer.Option("--text-pair", help="Column with a second text, decided together with the first."),
]
LabelColumn = Annotated[
    str | None, typer.Option("--label", help="Column with the labels. Default: guessed, and said.")
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding", help="Encoding of a text file, such as gb18030. Default: recognised, and said."
    ),
]
LabelMap = Annotated[
    str | None, typer.Option("--label-map", help="Which label is which class, such as 0=ham,1=spam.")
]
Device = Annotated[str, typer.Option("--device", help="Where models run: cpu, cuda, cuda:1, mps …")]
Workers = Annotated[
    int | None, count("--workers", most=MOST_WORKERS, help="Trainings at a time. Default: one per core.")
]
LocalWorkers = Annotated[
    int | None, count("--workers", most=MOST_WORKERS, help="Of --scheduler local. Default: one per core.")
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        help="Work on a Dask cluster: its tcp://HOST:PORT, or local to start one. Default: no cluster.",
    ),
]
