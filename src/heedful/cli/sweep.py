"""`heedful sweep`: run a study file, a grid of trainings, and ask its records questions."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.options import AsJson, DataDir, Device, Scheduler, Workers
from heedful.cli.output import can_be_stopped, print_json, print_table, progress, say
from heedful.cli.places import default_folder
from heedful.errors import UserError

if TYPE_CHECKING:
    from heedful.study import Study, Sweep


def sweep(
    study: Annotated[Path, typer.Argument(help="The study's TOML file.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the records. Default: runs/NAME.")
    ] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    sql: Annotated[
        str | None, typer.Option("--sql", help="Only ask the records: SQL over the table `records`.")
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only say how many cells there are, and how many hours they take.")
    ] = False,
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv", help="Also write the table of measures here: a row per number, with intervals."
        ),
    ] = None,
    latex: Annotated[
        Path | None,
        typer.Option("--latex", help="Also write the table here as a paper has it: models × corpora."),
    ] = None,
    data_dir: DataDir = None,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Train every cell of a grid of corpora × models × settings × seeds; a restart skips those done.

    Relative paths in the study file begin in its own folder. A study that names measures (accuracy, τ, …)
    ends with their table, over seeds and with intervals; a seed, a setting or a measure that is added later
    runs alone. The cells run in processes here, or with --scheduler on a Dask cluster.

    Example: `heedful sweep examples/scale.toml`, then
    `heedful sweep examples/scale.toml --sql "select scale, avg(test_accuracy) from records group by scale"`
    """
    from heedful.files import check_file
    from heedful.records import query
    from heedful.study import load_study, run_study
    from heedful.study.cells import RECORDS

    grid = load_study(study)
    folder = out or default_folder(grid.name)
    if (csv or latex) and not grid.measures:
        raise UserError(f'There is no table without measures: write measures = ["accuracy"] into {study}.')
    for path in filter(None, (csv, latex)):
        check_file(path)
    if plan:
        _plan(grid, folder, as_json, workers=workers, scheduler=scheduler, data_dir=data_dir)
        return
    if sql is not None:
        _show(query(folder / RECORDS, sql), as_json)
        return
    kept = "The cells that ended have their records: give the same command again to go on."
    with can_be_stopped(kept), progress(f"{grid.name}, cells", len(grid.cells)) as advance:
        swept = run_study(
            grid,
            folder,
            workers=workers,
            scheduler=scheduler,
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
    _show(
        swept.records.reindex(columns=columns), as_json, failures=swept.failures, entries=_told(grid, swept)
    )
    if grid.measures:
        _table(grid, swept, as_json, csv=csv, latex=latex)
    if swept.failures:
        raise typer.Exit(2)


def _plan(grid: "Study", folder: Path, as_json: bool, **where: Any) -> None:
    from heedful.study.forecast import foretold
    from heedful.study.sweep import plan_study

    found = plan_study(grid, folder, **where)
    left = found.cells - found.done
    if as_json:
        hours = {"hours": found.hours, "at_once": found.at_once}
        print_json({"schema": 1, "cells": found.cells, "done": found.done, "left": left, **hours})
        return
    seeds = f"{len(grid.seeds)} seed{'s' if len(grid.seeds) > 1 else ''}"
    settings = "".join(f" × {len(values)} of {name}" for name, values in grid.grid.items())
    typer.echo(
        f"{found.cells} cells ({len(grid.corpora)} corpora × {len(grid.models)} models{settings} × {seeds}), "
        f"{found.done} of them done."
    )
    if left:
        turns = foretold(found.seconds, found.at_once, what="cell")
        typer.echo(f"{turns} In all {found.hours:.2f} hours of one core, trainings and measures.")


def _told(grid: "Study", swept: "Sweep") -> list[dict[str, Any]]:
    return [
        {
            "corpus": entry.corpus,
            **dict(zip(("model", *grid.grid), entry.row, strict=True)),
            "measure": entry.measure,
            "finding": None if entry.finding is None else entry.finding.to_dict(),
            "why": entry.why,
        }
        for entry in swept.entries
    ]


def _table(grid: "Study", swept: "Sweep", as_json: bool, *, csv: Path | None, latex: Path | None) -> None:
    """The measures as a paper's table, on the terminal and in the files that were asked for."""
    from heedful.files import write_atomically
    from heedful.study.tables import long_table, pivot, to_latex

    laid = pivot(grid, swept.entries)
    if not as_json:
        for of, part in laid.narrow():
            print_table(f"{grid.name}{of}, over {len(grid.seeds)} seeds", part.titles(), part.cells())
    for why in dict.fromkeys(f"{entry.measure}: {entry.why}" for entry in swept.entries if entry.why):
        say(f"Nothing is said of {why}")
    if csv is not None:
        with write_atomically(csv) as file:
            long_table(grid, swept.entries).to_csv(file, index=False)
    if latex is not None:
        with write_atomically(latex) as file:
            file.write(to_latex(laid))


def _show(
    frame: Any,
    as_json: bool,
    *,
    failures: Iterable[tuple[Any, str]] = (),
    entries: Sequence[Mapping[str, Any]] = (),
) -> None:
    if as_json:
        import json

        rows = json.loads(frame.to_json(orient="records", double_precision=15))
        failed = [{"cell": str(cell), "why": fault} for cell, fault in failures]
        print_json({"schema": 1, "rows": rows, "failures": failed, **({"table": entries} if entries else {})})
        return
    rows = [
        [f"{value:.4g}" if isinstance(value, float) else str(value) for value in row]
        for row in frame.itertuples(index=False)
    ]
    print_table("", [str(name) for name in frame.columns], rows)
