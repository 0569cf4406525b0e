"""The commands in one place. What a user can fix ends with exit code 2 and one sentence."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from heedful import __version__
from heedful.cli import bench, data
from heedful.cli.audit import audit
from heedful.cli.debate import debate
from heedful.cli.demo import demo
from heedful.cli.erase import erase
from heedful.cli.explain import explain
from heedful.cli.flow import flow
from heedful.cli.gallery import gallery
from heedful.cli.models import models
from heedful.cli.reproduce import reproduce
from heedful.cli.scores import scores
from heedful.cli.serve import serve
from heedful.cli.sweep import sweep
from heedful.cli.train import train
from heedful.errors import UserError


class Commands(TyperGroup):
    """A group of commands that says a user's mistake in one sentence instead of a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except UserError as error:
            typer.echo(f"heedful: {error}", err=True)
            raise typer.Exit(2) from error


app = typer.Typer(
    name="heedful",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Does your model mean what it attends to? Train attention classifiers and test their attention.",
)


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"heedful {__version__}")
        raise typer.Exit


@app.callback()
def heedful(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Show the version and stop."),
    ] = False,
) -> None:
    """Does your model mean what it attends to? Train attention classifiers and test their attention."""


for command in (
    demo,
    audit,
    train,
    explain,
    scores,
    flow,
    erase,
    debate,
    sweep,
    models,
    reproduce,
    gallery,
    serve,
):
    app.command()(command)
app.add_typer(data.app, name="data")
app.add_typer(bench.app, name="bench")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line with these arguments, or with the process's own."""
    app(args=None if arguments is None else list(arguments), prog_name="heedful")
