"""`heedful reproduce`: an experiment of a paper, with its tables, figures and claims."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.options import AsJson, DataDir, Device, Scheduler, Workers, count
from heedful.cli.output import can_be_stopped, print_json, print_table, progress, say
from heedful.settings import MOST_SEEDS

if TYPE_CHECKING:
    from heedful.study.experiment import Experiment, Reproduction

SCHEMA = 1


def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="An experiment, or a paper for all of its. Without one: the list.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Minutes instead of hours: fewer seeds, settings and texts.")
    ] = False,
    corpus: Annotated[
        list[str] | None, typer.Option("--corpus", help="Only on this corpus. Repeatable.")
    ] = None,
    model: Annotated[list[str] | None, typer.Option("--model", help="Only this model. Repeatable.")] = None,
    seeds: Annotated[
        int | None,
        count("--seeds", most=MOST_SEEDS, help="Seeds of each training. Default: the experiment's."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", help="Folder for runs, tables and figures; shared by experiments.")
    ] = Path("runs/reproduce"),
    publish: Annotated[
        Path | None,
        typer.Option("--publish", help="Leave the tables in this folder of published results too."),
    ] = None,
    latex: Annotated[bool, typer.Option("--latex", help="Leave the tables as LaTeX too.")] = False,
    workers: Workers = None,
    scheduler: Scheduler = None,
    data_dir: DataDir = None,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Repeat an experiment of a paper: its numbers beside ours, its figures, and whether its claims hold.

    Trainings and measurements are kept in the folder: what two experiments share is done once, and the same
    command goes on after an interruption. `heedful ledger` puts published results on one page.

    Example: `heedful reproduce sun-lu-fig2 --quick`, or `heedful reproduce serrano-smith`
    """
    from heedful.errors import UserError
    from heedful.files import check_folder
    from heedful.papers import FILES, experiment, find_experiments
    from heedful.study.experiment import reproduce as run_experiment
    from heedful.study.published import publish as write_published
    from heedful.study.workbench import Bench

    if name is None:
        _list([experiment(one) for one in FILES], as_json)
        return
    if publish is not None:
        if quick:
            raise UserError(
                "A quick run is no result, so it is not published: leave out --quick or --publish."
            )
        check_folder(publish)
    wanted = find_experiments(name)
    bench = Bench(
        out,
        quick=quick,
        seeds=tuple(range(seeds or 0)),
        corpora=tuple(corpus or ()),
        models=tuple(model or ()),
        workers=workers,
        scheduler=scheduler,
        data_dir=None if data_dir is None else str(data_dir),
        device=device,
        say=say,
        foretell=True,
        progress=progress,
    )
    bench.check(FILES)
    done = []
    with can_be_stopped("What was trained and measured is kept: give the same command again to go on."):
        for one in wanted:
            say(f"{one.name}: {one.title} ({one.source})")
            reproduction = run_experiment(one, bench)
            if latex:
                reproduction.save_latex()
            if publish is not None:
                write_published(reproduction, one, publish)
            drawn = one.draw(reproduction)
            done.append(_told(reproduction, drawn))
            if not as_json:
                _show(reproduction, drawn)
    if as_json:
        print_json({"schema": SCHEMA, "quick": quick, "experiments": done})


def _list(known: "Sequence[Experiment]", as_json: bool) -> None:
    if as_json:
        rows = [{"name": one.name, "title": one.title, "source": one.source} for one in known]
        print_json({"schema": SCHEMA, "experiments": rows})
        return
    print_table(
        "Experiments (`heedful reproduce NAME`); about how long the trainings take is said before they begin",
        ["name", "what, and where"],
        [[one.name, f"{one.title}. {one.source}"] for one in known],
        whole=["name"],
    )


def _told(done: "Reproduction", drawn: Sequence[Path]) -> dict[str, Any]:
    return {
        "name": done.name,
        "title": done.title,
        "source": done.source,
        "folder": str(done.folder),
        "tables": {name: len(table) for name, table in done.tables.items()},
        "figures": [str(path) for path in drawn],
        "claims": [claim.to_dict() for claim in done.claims],
    }


def show_models(done: "Reproduction") -> None:
    """What the models reached of which claims are made."""
    from heedful.study.learnt import COLUMNS, TABLE, models_lines

    models = done.tables.get(TABLE)
    if models is not None and done.claims:
        print_table("The models that claims are about, on test texts", COLUMNS, models_lines(models))


def _show(done: "Reproduction", drawn: Sequence[Path]) -> None:
    summary = done.tables.get("summary")
    if summary is not None:
        rows = [
            [f"{value:.4g}" if isinstance(value, float) else str(value) for value in row]
            for row in summary.itertuples(index=False)
        ]
        print_table(done.title, [str(column) for column in summary.columns], rows)
    show_models(done)
    for claim in done.claims:
        typer.echo(done.told(claim))
    pictures = [str(path) for path in drawn if path.suffix == ".png"]
    say(f"Tables{' and figures' if pictures else ''} are in {done.folder}. {' '.join(pictures)}".strip())
