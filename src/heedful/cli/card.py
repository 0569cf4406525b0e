"""`heedful card`: an audit as the section of a model card."""

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import AsJson
from heedful.cli.output import print_json, say

SCHEMA = 1


def card(
    audit: Annotated[Path, typer.Argument(help="An audit's folder.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write. Default: standard output.")
    ] = None,
    front_matter: Annotated[
        bool, typer.Option("--yaml/--no-yaml", help="Begin with the YAML that model hubs read.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Write the section of a model card: the reading and its error rates, below YAML for model hubs.

    Example: `heedful card audits/sst-dp --out README.md`
    """
    from heedful.comparing.card import model_card
    from heedful.files import write_atomically

    section = model_card(audit, front_matter=front_matter)
    if out is not None:
        with write_atomically(out) as file:
            file.write(section)
        say(f"Written: {out}.")
    if as_json:
        print_json({"schema": SCHEMA, "card": section})
    elif out is None:
        typer.echo(section)
