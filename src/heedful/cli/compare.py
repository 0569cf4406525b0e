"""`heedful compare`: two models, or two versions of one, side by side."""

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import AsJson, Seed
from heedful.cli.output import print_json, print_table, say


def compare(
    first: Annotated[Path, typer.Argument(help="An audit's folder.")],
    second: Annotated[Path, typer.Argument(help="Another audit's folder.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Page (.html) or everything (.json) to write.")
    ] = None,
    no_texts: Annotated[
        bool, typer.Option("--no-texts", help="Keep words out of everything that is written.")
    ] = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare two audits: which model's highlights read better, by how much, and which words moved.

    Texts that both audits read are paired; audits of different texts are compared as independent samples, and
    that is said. Differences are the second minus the first.

    Example: `heedful compare audits/version-1 audits/version-2 --out comparison.html`
    """
    from heedful.comparing.comparison import compare as run_compare
    from heedful.records.wording import signed

    found = run_compare(first, second, keep_texts=not no_texts, seed=seed)
    if out is not None:
        found.save(out)
    if as_json:
        print_json(found.to_dict())
        return
    typer.echo(found.sentence)
    for note in found.notes:
        say(note)
    rows = []
    for one in found.differences:
        better = {"first": "the first", "second": "the second", "": "cannot be told"}[one.better]
        rows.append([one.name, f"{one.first.value:.3f}", f"{one.second.value:.3f}", one.apart(3), better])
    print_table("", ["number", "first", "second", "difference", "better"], rows)
    if found.moved:
        moved = ", ".join(f"{one.word} {signed(one.second - one.first, 3)}" for one in found.moved[:8])
        typer.echo(f"Words whose average attention moved most: {moved}")
    if out is not None:
        say(f"Written: {out}.")
