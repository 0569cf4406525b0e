"""`heedful sweep`: run a study file, a grid of trainings, and ask its records questions."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from heedful.cli.options import AsJson, DataDir, Device
from heedful.cli.output import print_json, print_table, progress, say
from heedful.cli.places import default_folder
from heedful.cli.stopping import can_be_stopped


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
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Train every cell of a grid of corpora × models × settings × seeds; a restart skips those done.

    Relative paths in the study file begin in its own folder.

    Example: `heedful sweep examples/scale.toml`, then
    `heedful sweep examples/scale.toml --sql "select scale, avg(test_accuracy) from records group by scale"`
    """
    from heedful.records import query
    from heedful.study import load_study, run_study
    from heedful.study.sweep import RECORDS

    grid = load_study(study)
    folder = out or default_folder(grid.name)
    if sql is not None:
        _show(query(folder / RECORDS, sql), as_json)
        return
    kept = "The cells that ended have their records: give the same command again to go on."
    with can_be_stopped(kept), progress(f"{grid.name}, cells", len(grid.cells)) as advance:
        swept = run_study(
            grid,
            folder,
            workers=workers,
            data_dir=data_dir,
            device=device,
            done=lambda cell, record: advance(1),
            say=say,
        )
    before = f", {swept.skipped} of them from before" if swept.skipped else ""
    say(f"{len(swept.records)} of {len(grid.cells)} cells have their records{before}, in {folder / RECORDS}.")
    for cell, fault in swept.failures:
        say(f"{cell} failed: {fault}")
    columns = ["corpus", "model", *grid.grid, "seed", "dev_accuracy", "test_accuracy", "epoch", "seconds"]
    _show(swept.records.reindex(columns=columns), as_json, failures=swept.failures)
    if swept.failures:
        raise typer.Exit(2)


def _show(frame: Any, as_json: bool, *, failures: Iterable[tuple[Any, str]] = ()) -> None:
    if as_json:
        import json

        rows = json.loads(frame.to_json(orient="records", double_precision=15))
        failed = [{"cell": str(cell), "why": fault} for cell, fault in failures]
        print_json({"schema": 1, "rows": rows, "failures": failed})
        return
    rows = [
        [f"{value:.4g}" if isinstance(value, float) else str(value) for value in row]
        for row in frame.itertuples(index=False)
    ]
    print_table("", [str(name) for name in frame.columns], rows)
