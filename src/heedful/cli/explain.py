"""`heedful explain`: one text, painted in the terminal by attention and by polarity."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.options import AsJson, Device
from heedful.cli.output import print_json

if TYPE_CHECKING:
    from rich.text import Text

    from heedful.understanding.one_text import Explanation


def explain(
    run: Annotated[Path, typer.Argument(help="A run folder, as `heedful train` leaves it.")],
    text: Annotated[str, typer.Argument(help="The text to read.")],
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Show how a trained model reads a text: its decision, and its words by attention and by polarity.

    Example: `heedful explain runs/sst-dp "a gorgeous, witty film that drags only a little"`
    """
    from heedful.training import load_run
    from heedful.understanding import explain as read

    reading = read(load_run(run, device=device), text)
    if as_json:
        print_json(reading.to_dict())
        return
    from rich.console import Console

    console = Console()
    console.print(f"{reading.decision}  ({reading.probability:.1%})", style="bold", markup=False)
    for line in painted(reading):
        console.print(line)


def painted(reading: "Explanation") -> "list[Text]":
    """The text twice, words shaded by attention and by polarity, and what the marks mean."""
    from rich.text import Text

    lines = [Text.assemble(("attention  ", "dim"), _paint(reading, by="attention"))]
    if all(word.polarity is not None for word in reading.words):
        lines.append(Text.assemble(("polarity   ", "dim"), _paint(reading, by="polarity")))
    legend = Text("brighter = more attention; blue speaks for the decision, orange against it", style="dim")
    # The same in words, for those who see no colour.
    top = sorted(reading.words, key=lambda word: -word.attention)[:5]
    legend.append("\nmost attended: " + ", ".join(f"{word.word} {word.attention:.2f}" for word in top))
    unknown = dict.fromkeys(word.word for word in reading.words if not word.known)
    if unknown:
        legend.append(f"\nunknown to the model (underlined): {', '.join(unknown)}")
    left_out = [word.word for word in reading.words if not word.read]
    if reading.unread:
        left_out.append(f"the last {reading.unread} words")
    if left_out:
        legend.append(f"\nnot read (struck out): {', '.join(left_out)}")
    return [*lines, legend]


def _paint(reading: "Explanation", *, by: str) -> "Text":
    from rich.style import Style
    from rich.text import Text

    values = [getattr(word, by) for word in reading.words]
    most = max((abs(value) for value in values), default=0.0) or 1.0
    painted, place = Text(), 0
    for word, value in zip(reading.words, values, strict=True):
        painted.append(reading.text[place : word.start])
        strength = abs(value) / most
        hue = (230, 159, 0) if by == "attention" or value < 0 else (86, 180, 233)
        style = Style(
            bgcolor="rgb({},{},{})".format(*(int(30 + (part - 30) * strength) for part in hue))
            if strength > 0.08
            else None,
            color=None if strength <= 0.08 else "black" if strength > 0.5 else "white",
            underline=not word.known,
            strike=not word.read,
        )
        painted.append(reading.text[word.start : word.end], style=style)
        place = word.end
    painted.append(reading.text[place:], style="strike dim" if reading.unread else "")
    return painted
