"""`heedful train`: train a classifier on a corpus and leave a run folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.flags import takes_settings
from heedful.cli.options import AsJson, DataDir, Device, LabelColumn, Seed, SplitColumn, TextColumn
from heedful.cli.output import print_json, say
from heedful.models.settings import ModelSettings
from heedful.training.settings import TrainingSettings

if TYPE_CHECKING:
    from heedful.training.callbacks import Callback


@takes_settings(ModelSettings, TrainingSettings)
def train(
    source: Annotated[str, typer.Argument(help="A corpus by name, a file, a folder, or hf:NAME.")],
    model: Annotated[
        str, typer.Option("--model", help="A model or a preset by name; see `heedful models`.")
    ] = "dp",
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the run. Default: runs/CORPUS-MODEL.")
    ] = None,
    text: TextColumn = None,
    label: LabelColumn = None,
    split: SplitColumn = None,
    data_dir: DataDir = None,
    seed: Seed = 0,
    device: Device = "cpu",
    as_json: AsJson = False,
    changes: dict[str, Any] | None = None,
) -> None:
    """Train a classifier: the dev split chooses the epoch, the test split is looked at once, at the end.

    An interrupted training goes on where it stopped when the same command is given again.

    Example: `heedful train sst --model dp --scale 10 --out runs/sst-dp`
    """
    from heedful.training import train as train_model

    folder = out or Path("runs") / f"{Path(source).name.split('.')[0]}-{model}"
    run = train_model(
        source,
        model=model,
        out=folder,
        data_dir=data_dir,
        device=device,
        callbacks=[shown_progress()],
        seed=seed,
        text=text,
        label=label,
        split=split,
        **(changes or {}),
    )
    for note in run.notes:
        say(note)
    if as_json:
        print_json({"schema": 1, **run.result, "out": str(folder)})
        return
    typer.echo(run.summary())
    typer.echo(f'The run is in {folder}. Look inside: heedful explain {folder} "a text of yours"')


def shown_progress() -> "Callback":
    """A callback that shows a training: a bar with loss, dev accuracy and time left, or a line an epoch."""
    import sys
    from collections.abc import Mapping

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from heedful.training.callbacks import Callback, Training

    class Shown(Callback):
        def begin(self, training: Training) -> None:
            self.bar: Progress | None = None
            if training.epoch:
                say(f"Going on after epoch {training.epoch}.")
            if sys.stderr.isatty():
                self.bar = Progress(
                    TextColumn("epoch {task.fields[epoch]}"),
                    BarColumn(),
                    TextColumn("loss {task.fields[loss]:.4f}  dev {task.fields[dev]}"),
                    TimeRemainingColumn(),
                    console=Console(stderr=True),
                    transient=True,
                )
                self.task = self.bar.add_task(
                    "train",
                    total=training.settings.epochs,
                    completed=training.epoch,
                    epoch=training.epoch,
                    loss=0.0,
                    dev="–",
                )
                self.bar.start()

        def step_ends(self, training: Training) -> None:
            if self.bar is not None:
                done = (
                    training.epoch - 1 + (training.step % training.steps_per_epoch) / training.steps_per_epoch
                )
                self.bar.update(self.task, completed=done, epoch=training.epoch, loss=training.loss)

        def epoch_ends(self, training: Training, row: Mapping[str, Any]) -> None:
            if self.bar is not None:
                self.bar.update(self.task, completed=training.epoch, dev=f"{row['dev_accuracy']:.1%}")
            else:
                say(
                    f"epoch {row['epoch']}: loss {row['train_loss']:.4f}, "
                    f"dev accuracy {row['dev_accuracy']:.4f}"
                )

        def end(self, training: Training) -> None:
            if self.bar is not None:
                self.bar.stop()

    return Shown()
