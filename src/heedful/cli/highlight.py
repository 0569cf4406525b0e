"""`heedful highlight`: for every text the words that decide, ready to be shown to people."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.asked import how_to_decide
from heedful.cli.flags import gathers
from heedful.cli.options import (
    AsJson,
    DataDir,
    Device,
    Encoding,
    Seed,
    TextColumn,
    TextPairColumn,
)
from heedful.cli.output import can_be_stopped, print_json, progress, say

if TYPE_CHECKING:
    from heedful.highlights.making import Tally

SCHEMA = 1


@gathers(asked=how_to_decide)
def highlight(
    model: Annotated[str, typer.Argument(help="A run folder, or hf:PATH_OR_NAME.")],
    texts: Annotated[
        str, typer.Argument(help="Texts, which need no labels: a file, or a corpus by name (its test split).")
    ],
    out: Annotated[
        list[Path],
        typer.Option("--out", help="File to write: .html, .csv, .jsonl or .parquet. Repeatable."),
    ],
    audit: Annotated[
        Path | None, typer.Option("--audit", help="An audit of this model: highlights by what it found best.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by", help="Highlight by this ranking: leave-one-out, integrated, gradient …, or by `changes`."
        ),
    ] = None,
    strength: Annotated[
        str | None,
        typer.Option(
            "--strength",
            help="How a word's change is measured: deletions, or leave-one-out. Default: the first where it "
            "has a closed form.",
        ),
    ] = None,
    no_texts: Annotated[
        bool, typer.Option("--no-texts", help="Keep texts and words out of everything that is written.")
    ] = False,
    text: TextColumn = None,
    text_pair: TextPairColumn = None,
    encoding: Encoding = None,
    on: Annotated[
        str, typer.Option("--on", help="The split of a named corpus: train, dev or test.")
    ] = "test",
    asked: Any = None,
    data_dir: DataDir = None,
    seed: Seed = 0,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Highlight the words that decide, in all your texts, by the map that was measured best for this model.

    Each highlighted word has its strength: how much it changes the probability of the decision. Where no
    single word decides this is said, and nothing is painted. Without --audit or --by a small audit of its own
    chooses the map. A command that was stopped goes on when it is given again.

    Example: `heedful highlight runs/sst-dp reviews.csv --out page.html --audit audits/sst-dp`. Pairs:
    `--text premise --text-pair hypothesis`. A language model: `--template prompt.txt --labels "good,bad"`.
    """
    from heedful.highlights.making import highlight_files
    from heedful.highlights.texts import open_texts

    found = open_texts(texts, text=text, text_pair=text_pair, encoding=encoding, on=on, data_dir=data_dir)
    for note in found.notes:
        say(note)
    with can_be_stopped("What is done so far is kept: give the same command again to go on."):
        tally = highlight_files(
            model,
            found,
            out,
            audit=audit,
            by=by,
            strength=strength,
            keep_texts=not no_texts,
            asked=asked,
            device=device,
            seed=seed,
            progress=progress,
            say=say,
        )
    if as_json:
        print_json({"schema": SCHEMA, **tally.to_dict()})
    else:
        show(tally)


def show(tally: "Tally") -> None:
    """How many texts have highlights, and where they are."""
    from heedful.highlights.page import MANY

    typer.echo(f"{tally.marked:,} of {tally.texts:,} texts have a word that decides.")
    if tally.nobody:
        typer.echo(f"{_texts(tally.nobody)} no single deciding word; nothing is highlighted there.")
    if tally.flips:
        of = f"{tally.flips:,} text{'s' * (tally.flips != 1)}"
        typer.echo(f"For {of} the smallest set of words that flips the decision is known.")
    for path in tally.outs:
        say(f"Written: {path} ({path.stat().st_size / 1e6:.1f} MB).")
    if tally.texts > MANY and any(path.suffix.lower() == ".html" for path in tally.outs):
        say(f"A page of more than {MANY:,} texts is slow to open: for programs take .jsonl or .parquet.")


def _texts(count: int) -> str:
    return f"{count:,} texts have" if count != 1 else "1 text has"
