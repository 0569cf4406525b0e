"""`heedful explain`: one text, painted in the terminal by attention and by polarity."""

from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.options import AsJson, Device, Seed
from heedful.cli.output import print_json

if TYPE_CHECKING:
    from rich.text import Text

    from heedful.models.subject import Subject
    from heedful.understanding.one_text import Explanation


def explain(
    run: Annotated[
        str, typer.Argument(help="A run folder, as `heedful train` leaves it, or hf:PATH_OR_NAME.")
    ],
    text: Annotated[str, typer.Argument(help="The text to read.")],
    by: Annotated[
        str, typer.Option("--by", help="Paint by attention, or by another ranking of words (docs/words.md).")
    ] = "attention",
    seed: Seed = 0,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Show how a trained model reads a text: its decision, and its words by attention and by polarity.

    Example: `heedful explain runs/sst-dp "a gorgeous, witty film that drags only a little"`
    """
    from heedful.understanding import explain as read

    subject = _opened(run, device)
    reading = read(subject, text)
    if by != "attention":
        reading = _ranked(subject, reading, by, seed=seed)
    if as_json:
        print_json({**reading.to_dict(), "by": by})
        return
    from rich.console import Console

    console = Console()
    console.print(f"{reading.decision}  ({reading.probability:.1%})", style="bold", markup=False)
    for line in painted(reading, by=by):
        console.print(line)


def _opened(name: str, device: str) -> "Subject":
    if name.startswith("hf:"):
        from heedful.models.huggingface import load_huggingface
        from heedful.training.devices import find_device

        return load_huggingface(name.removeprefix("hf:"), device=str(find_device(device)))
    from heedful.training import load_run

    return load_run(name, device=device).model


def _ranked(subject: "Subject", reading: "Explanation", by: str, *, seed: int) -> "Explanation":
    """The reading with the scores of another ranking in the place of attention."""
    from dataclasses import replace

    from heedful.models.huggingface import HuggingFaceSubject
    from heedful.trials.transformer_rankings import transformer_rankings
    from heedful.trials.word_gradients import Doubted
    from heedful.trials.word_rankings import word_scores

    own = transformer_rankings(subject) if isinstance(subject, HuggingFaceSubject) else {}
    found = word_scores(own.get(by, by), subject, subject.encode([reading.text]), seed=seed)
    scores = (found.scores if isinstance(found, Doubted) else found)[0].tolist()
    scores = scores[: len(reading.words)]  # what follows is padding
    words = [replace(word, attention=score) for word, score in zip(reading.words, scores, strict=True)]
    return replace(reading, words=tuple(words))


def painted(reading: "Explanation", *, by: str = "attention") -> "list[Text]":
    """The text twice, words shaded by attention (or another ranking) and by polarity, and what that means."""
    from rich.text import Text

    lines = [Text.assemble((f"{by:<9}  ", "dim"), _paint(reading, by="attention", signed=by != "attention"))]
    if all(word.polarity is not None for word in reading.words):
        lines.append(Text.assemble(("polarity   ", "dim"), _paint(reading, by="polarity")))
    legend = Text(f"brighter = more {by}; blue speaks for the decision, orange against it", style="dim")
    # The same in words, for those who see no colour.
    top = sorted(reading.words, key=lambda word: -word.attention)[:5]
    most = "most attended" if by == "attention" else f"highest {by}"
    legend.append(f"\n{most}: " + ", ".join(f"{word.word} {word.attention:.2f}" for word in top))
    unknown = dict.fromkeys(word.word for word in reading.words if not word.known)
    if unknown:
        legend.append(f"\nunknown to the model (underlined): {', '.join(unknown)}")
    left_out = [word.word for word in reading.words if not word.read]
    if reading.unread:
        left_out.append(f"the last {reading.unread} words")
    if left_out:
        legend.append(f"\nnot read (struck out): {', '.join(left_out)}")
    return [*lines, legend]


def _paint(reading: "Explanation", *, by: str, signed: bool = True) -> "Text":
    from rich.style import Style
    from rich.text import Text

    values = [getattr(word, by) for word in reading.words]
    most = max((abs(value) for value in values), default=0.0) or 1.0
    painted, place = Text(), 0
    for word, value in zip(reading.words, values, strict=True):
        painted.append(reading.text[place : word.start])
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
    painted.append(reading.text[place:], style="strike dim" if reading.unread else "")
    return painted
