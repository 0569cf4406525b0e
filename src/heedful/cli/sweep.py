"""`heedful sweep`: run a study file, a grid of trainings, and ask its records questions."""

from pathlib import Path
from typing import Annotated, Any

import typer

from heedful.cli.options import AsJson, DataDir
from heedful.cli.output import print_json, print_table, progress, say


def sweep(
    study: Annotated[Path, typer.Argument(help="The study's TOML file.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the records. Default: runs/NAME.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Trainings at a time. Default: one a core.")
    ] = None,
    sql: Annotated[
        str | None, typer.Option("--sql", help="Only ask the records: SQL over the table `records`.")
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Train every cell of a grid of corpora × models × settings × seeds; a restart skips those done.

    Example: `heedful sweep examples/scale.toml`, then
    `heedful sweep examples/scale.toml --sql "select scale, avg(test_accuracy) from records group by scale"`
    """
    from heedful.records import query
    from heedful.study import load_study, run_study
    from heedful.study.sweep import RECORDS

    grid = load_study(study)
    folder = out or Path("runs") / grid.name
    if sql is not None:
        _show(query(folder / RECORDS, sql), as_json)
        return
    say(f"{grid.name}: {len(grid.cells)} cells, records in {folder}")
    with progress("cells", len(grid.cells)) as advance:
        swept = run_study(
            grid, folder, workers=workers, data_dir=data_dir, done=lambda cell, record: advance(1)
        )
    if swept.skipped:
        say(f"{swept.skipped} cells were there already.")
    for cell, fault in swept.failures:
        say(f"{cell.corpus}, {cell.model}, {dict(cell.settings)} failed: {fault}")
    columns = ["corpus", "model", *grid.grid, "seed", "dev_accuracy", "test_accuracy", "epoch", "seconds"]
    _show(swept.records.reindex(columns=columns), as_json)
    if swept.failures:
        raise typer.Exit(2)


def _show(frame: Any, as_json: bool) -> None:
    if as_json:
        import json

        print_json({"schema": 1, "rows": json.loads(frame.to_json(orient="records"))})
        return
    rows = [
        [f"{value:.4g}" if isinstance(value, float) else str(value) for value in row]
        for row in frame.itertuples(index=False)
    ]
    print_table("", [str(name) for name in frame.columns], rows)
