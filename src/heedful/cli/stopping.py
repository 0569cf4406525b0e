"""What Ctrl-C does to long work: a sentence about how to go on, and exit code 130, as shells expect."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from heedful.cli.output import say


@contextmanager
def can_be_stopped(what_is_kept: str) -> Iterator[None]:
    """End quietly on Ctrl-C, saying what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"heedful: stopped. {what_is_kept}")
        raise typer.Exit(130) from None
