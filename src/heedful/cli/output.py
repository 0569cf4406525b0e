"""How results reach a person or a machine: they go to standard output, all else to standard error."""

import json
import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import typer

from heedful.errors import cut

Advance = Callable[[int], None]


def print_json(result: Mapping[str, Any]) -> None:
    """Print one JSON object; it must carry its `schema` version."""
    assert "schema" in result
    # Where an encoding has not all signs, JSON's own escapes stand for them.
    everything = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    typer.echo(json.dumps(result, ensure_ascii=not everything))


class _Loudness:
    """How much is said to the person at the terminal; set anew for each command."""

    still = aloud = False

    def __call__(self, *told: str) -> None:
        self.still, self.aloud = "quiet" in told, "verbose" in told


speak = _Loudness()


def say(sentence: str) -> None:
    """A remark for the person at the terminal, kept out of the result; of a quiet command only warnings."""
    if not speak.still or sentence.startswith(("Warning", "heedful:")):
        typer.echo(cut(sentence), err=True)


def signed(mean: float, form: str) -> str:
    """A mean with its sign; of no words there is none."""
    return "no words" if math.isnan(mean) else format(mean, form)


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[str] = (),
    whole: Collection[str] = (),
) -> None:
    """Print a table under its title; `right` names columns aligned to the right, `whole` those kept whole."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for column in columns:
        # A name that is cut short may be the same as its neighbour's: long ones go on in the next line.
        side: Literal["left", "right"] = "right" if column in right else "left"
        table.add_column(column, justify=side, overflow="fold", no_wrap=column in whole)
    for row in rows:
        table.add_row(*[Text(cell) for cell in row])  # Text: brackets in data are not markup
    console = Console()
    if title:
        console.print(Text(title, style="bold"))
    console.print(table)


@contextmanager
def progress(what: str, total: int) -> Iterator[Advance]:
    """Show how far long work has come: a bar on a terminal, a line at every tenth elsewhere."""
    if speak.still:
        yield lambda steps: None
        return
    if sys.stderr.isatty():
        with _bar(what, total) as advance:
            yield advance
        return
    done, shown = 0, 0

    def advance_plainly(steps: int) -> None:
        nonlocal done, shown
        done += steps
        tenth = 10 * done // max(total, 1)
        if tenth > shown:
            shown = tenth
            say(f"{what}: {done} of {total}")

    yield advance_plainly


@contextmanager
def _bar(what: str, total: int) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps: bar.advance(task, steps)


@contextmanager
def can_be_stopped(what_is_kept: str) -> Iterator[None]:
    """End quietly on Ctrl-C, saying what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"heedful: stopped. {what_is_kept}")
        raise typer.Exit(130) from None
