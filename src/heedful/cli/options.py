"""Options that several commands share, declared once so that they read alike everywhere."""

from pathlib import Path
from typing import Annotated

import typer

from heedful.errors import LARGEST_SEED

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
LabelColumn = Annotated[
    str | None, typer.Option("--label", help="Column with the labels. Default: guessed, and said.")
]
SplitColumn = Annotated[
    str | None,
    typer.Option(
        "--split", help="Column with train, dev or test. Default: guessed; without one, a seeded split."
    ),
]
Device = Annotated[str, typer.Option("--device", help="Where models run: cpu, cuda, cuda:1, mps …")]
