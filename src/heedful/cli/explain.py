"""`heedful explain`: one text, painted in the terminal by attention and by polarity."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.asked import how_to_decide
from heedful.cli.flags import gathers
from heedful.cli.options import AsJson, Device, Seed
from heedful.cli.output import print_json

if TYPE_CHECKING:
    from rich.text import Text

    from heedful.understanding.one_text import Explanation

SHOWN_PAIR = " ⁄ "  # between the two texts of a pair
SCHEMA = 2  # since 2 the scores of another ranking stand apart from attention


@gathers(asked=how_to_decide)
def explain(
    run: Annotated[
        str, typer.Argument(help="A run folder, as `heedful train` leaves it, or hf:PATH_OR_NAME.")
    ],
    text: Annotated[str, typer.Argument(help="The text to read.")],
    by: Annotated[
        str | None,
        typer.Option("--by", help="Paint by attention, or by leave-one-out, integrated, gradient …"),
    ] = None,
    text_pair: Annotated[
        str | None, typer.Option("--text-pair", help="A second text, decided together with the first.")
    ] = None,
    asked: Any = None,
    seed: Seed = 0,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Show how a trained model reads a text: its decision, and its words by attention and by polarity.

    Example: `heedful explain runs/sst-dp "a gorgeous, witty film that drags only a little"`. A language
    model: `--template prompt.txt --labels "good,bad"`.
    """
    from heedful.data.pairs import paired
    from heedful.records.wording import in_percent
    from heedful.training.opening import open_any
    from heedful.trials.explaining import explained

    whole = text if text_pair is None else paired(text, text_pair)
    reading = explained(open_any(run, device=device, asked=asked).subject, whole, by, seed=seed)
    if as_json:
        print_json({**reading.to_dict(), "schema": SCHEMA})
        return
    from rich.console import Console

    console = Console()
    said = f"{reading.decision}  ({in_percent(reading.probability, 1)})"
    console.print(said, style="bold", markup=False)
    for line in painted(reading):
        console.print(line)


def painted(reading: "Explanation") -> "list[Text]":
    """The text twice, words shaded by the scores that were asked for and by polarity."""
    from rich.text import Text

    by, scores = reading.by, list(reading.scores)
    lines = [Text.assemble((f"{by:<9}  ", "dim"), _paint(reading, scores, signed=by != "attention"))]
    polarity = [word.polarity for word in reading.words if word.polarity is not None]
    if len(polarity) == len(reading.words):
        lines.append(Text.assemble(("polarity   ", "dim"), _paint(reading, polarity)))
    legend = Text(f"brighter = more {by}; blue speaks for the decision, orange against it", style="dim")
    # The same in words, for those who see no colour.
    top = sorted(zip(reading.words, scores, strict=True), key=lambda pair: -pair[1])[:5]
    most = "most attended" if by == "attention" else f"highest {by}"
    legend.append(f"\n{most}: " + ", ".join(f"{word.word} {score:.2f}" for word, score in top))
    unknown = dict.fromkeys(word.word for word in reading.words if not word.known)
    if unknown:
        legend.append(f"\nunknown to the model (underlined): {', '.join(unknown)}")
    left_out = [word.word for word in reading.words if not word.read]
    if reading.unread:
        left_out.append(f"the last {reading.unread} words")
    if left_out:
        legend.append(f"\nnot read (struck out): {', '.join(left_out)}")
    return [*lines, legend]


def _paint(reading: "Explanation", values: list[float], *, signed: bool = True) -> "Text":
    from rich.style import Style
    from rich.text import Text

    from heedful.data.pairs import PAIR

    most = max((abs(value) for value in values), default=0.0) or 1.0
    painted, place = Text(), 0
    for word, value in zip(reading.words, values, strict=True):
        painted.append(reading.text[place : word.start].replace(PAIR, SHOWN_PAIR))
        strength = abs(value) / most
        hue = (86, 180, 233) if signed and value >= 0 else (230, 159, 0)
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
    painted.append(
        reading.text[place:].replace(PAIR, SHOWN_PAIR), style="strike dim" if reading.unread else ""
    )
    return painted
