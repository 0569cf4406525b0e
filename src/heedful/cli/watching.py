"""How a training looks while it runs, on standard error: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from heedful.cli.output import say

if TYPE_CHECKING:
    from heedful.training.callbacks import Callback

LINES = 20  # plain lines of a training, about: one of 500 short epochs would fill a log


@contextmanager
def shown_progress() -> "Iterator[Callback]":
    """A callback that shows loss, dev accuracy and time left; an error too leaves a clean terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from heedful.records.wording import in_percent
    from heedful.training.callbacks import Callback, Training

    class Bar(Callback):
        def begin(self, training: Training) -> None:
            _say_beginning(training)
            epochs = training.settings.epochs
            self.task = bar.add_task(
                "", total=epochs, completed=training.epoch, epoch=training.epoch, loss="–", dev="–"
            )
            bar.start()

        def epoch_begins(self, training: Training) -> None:
            self.first = training.step

        def step_ends(self, training: Training) -> None:
            done = training.epoch - 1 + (training.step - self.first) / training.steps_per_epoch
            bar.update(self.task, completed=done, epoch=training.epoch, loss=f"{training.loss:.4f}")

        def epoch_ends(self, training: Training, row: Mapping[str, Any]) -> None:
            bar.update(self.task, completed=training.epoch, dev=in_percent(row["dev_accuracy"], 1))

    class Lines(Callback):
        def begin(self, training: Training) -> None:
            _say_beginning(training)
            self.begun: tuple[float, int] | None = None

        def step_ends(self, training: Training) -> None:
            if self.begun is None:  # the first step may compile, which no other does
                self.begun = time.perf_counter(), training.step

        def epoch_ends(self, training: Training, row: Mapping[str, Any]) -> None:
            epoch, epochs = training.epoch, training.settings.epochs
            if epoch not in (1, epochs) and epoch % max(1, epochs // LINES):
                return
            assert self.begun is not None
            begun, first = self.begun
            seconds = (time.perf_counter() - begun) / max(1, training.step - first)
            left = seconds * training.steps_per_epoch * (epochs - epoch)
            say(
                f"epoch {epoch} of {epochs}: loss {row['train_loss']:.4f}, "
                f"dev accuracy {row['dev_accuracy']:.4f}, {left:.0f} s left"
            )

    if not sys.stderr.isatty():
        yield Lines()
        return
    bar = Progress(
        TextColumn("epoch {task.fields[epoch]} of {task.total}"),
        BarColumn(),
        TextColumn("loss {task.fields[loss]}  dev {task.fields[dev]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(stderr=True),
        transient=True,
    )
    try:
        yield Bar()
    finally:
        bar.stop()  # also after an error or Ctrl-C: a running bar hides the cursor


def _say_beginning(training: Any) -> None:
    from heedful.training import compiled
    from heedful.training.learners import kernel_form

    if training.epoch:
        say(f"Going on after epoch {training.epoch}.")
    on_cpu = training.model.head.weight.device.type == "cpu"
    form = kernel_form(training.model, training.settings) if on_cpu and training.settings.compiled else None
    if form is not None and compiled.available() and not compiled.is_compiled(form.family):
        say("Compiling the training kernel, once: some seconds.")
