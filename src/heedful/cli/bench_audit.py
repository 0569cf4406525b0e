"""`heedful bench audit`: how long an audit takes beside one evaluation pass, stage by stage."""

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import AsJson, DataDir
from heedful.cli.output import print_json, print_table


def audit(
    corpus: Annotated[
        str | None,
        typer.Option(help="A corpus by name, a file, a folder, or hf:NAME. Default: all of IMDB."),
    ] = None,
    model: Annotated[str, typer.Option(help="A model or a preset by name.")] = "dp",
    limit: Annotated[int | None, typer.Option(min=1, help="Audit so many texts. Default: all.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Time an audit, page included, beside one evaluation pass over the test split, on one thread.

    Example: `heedful bench audit`, or `heedful bench audit --corpus sst`
    """
    from dataclasses import asdict

    from heedful.bench.audit import measure_audit

    found = measure_audit(corpus, model=model, limit=limit, data_dir=data_dir)
    if as_json:
        print_json({"schema": 1, **asdict(found), "allowed": found.allowed, "within": found.within})
        return
    rows = [[name, f"{seconds:.1f} s"] for name, seconds in found.stages.items()]
    rows += [["the whole audit", f"{found.whole:.1f} s"], ["one evaluation pass", f"{found.plain:.2f} s"]]
    rows += [["the whole audit, of the processor", f"{found.processor:.1f} s"]]
    rows += [["peak memory", f"{found.peak_bytes / 2**30:.2f} GB"]]
    print_table(
        f"{found.audited:,} of {found.texts:,} texts of {Path(found.source).name}",
        ["stage", "taken"],
        rows,
        right=("taken",),
    )
    typer.echo(f"allowed: {found.allowed:.0f} s and 3 GB: {'kept' if found.within else 'NOT kept'}")
