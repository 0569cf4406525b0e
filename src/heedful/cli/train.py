"""`heedful train`: train a classifier on a corpus and leave a run folder."""

from pathlib import Path
from typing import Annotated, Any

import typer

from heedful.cli.asked import how_to_read
from heedful.cli.flags import fields_of, gathers
from heedful.cli.options import AsJson, DataDir, Device, Seed
from heedful.cli.output import can_be_stopped, print_json, say
from heedful.cli.places import default_folder
from heedful.cli.watching import shown_progress
from heedful.models.settings import ModelSettings
from heedful.training.settings import TrainingSettings


@gathers(columns=how_to_read, changes=fields_of(ModelSettings, TrainingSettings))
def train(
    source: Annotated[str, typer.Argument(help="A corpus by name, a file, a folder, or hf:NAME.")],
    model: Annotated[
        str, typer.Option("--model", help="A model or a preset by name; see `heedful models`.")
    ] = "dp",
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the run. Default: runs/CORPUS-MODEL.")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Record scores and flow terms by token type; see `heedful flow`.")
    ] = False,
    deterministic: Annotated[
        bool,
        typer.Option(
            "--deterministic", help="Use one thread: the same bits on any number of cores, more slowly."
        ),
    ] = False,
    columns: Any = None,
    data_dir: DataDir = None,
    seed: Seed = 0,
    device: Device = "cpu",
    as_json: AsJson = False,
    changes: Any = None,
) -> None:
    """Train a classifier: the dev split chooses the epoch, the test split is looked at once, at the end.

    An interrupted training goes on where it stopped when the same command is given again.

    Example: `heedful train sst --model dp --scale 10 --out runs/sst-dp`
    """
    from heedful.training import train as train_model
    from heedful.understanding import Watch

    folder = out or default_folder(Path(source).name.split(".")[0], model)
    kept = "What is trained so far is kept: give the same command again to go on."
    with can_be_stopped(kept), shown_progress() as progress:
        run = train_model(
            source,
            model=model,
            out=folder,
            data_dir=data_dir,
            device=device,
            callbacks=[progress, *([Watch()] if watch else [])],
            seed=seed,
            deterministic=deterministic,
            say=say,
            **columns,
            **changes,
        )
    if as_json:
        print_json({"schema": 1, **run.result, "out": str(folder)})
        return
    typer.echo(run.summary())
    typer.echo(f'The run is in {folder}. Look inside: heedful explain {folder} "a text of yours"')
