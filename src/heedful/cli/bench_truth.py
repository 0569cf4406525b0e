"""`heedful bench truth`: models with known truth, made and audited, and how often the verdict errs."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.options import AsJson, DataDir, count
from heedful.cli.output import print_json, print_table, progress
from heedful.cli.stopping import can_be_stopped
from heedful.errors import LARGEST_SEED
from heedful.settings import MOST_SEEDS, MOST_WORKERS

if TYPE_CHECKING:
    import pandas as pd

QUICK_TEXTS = 100


def truth(
    part: Annotated[str, typer.Option(help="Which models: fit, held-out or all.")] = "all",
    quick: Annotated[
        bool, typer.Option("--quick", help="A score of small models on generated texts.")
    ] = False,
    processes: Annotated[int, count(most=MOST_WORKERS, help="Models made and audited at a time.")] = 2,
    rows: Annotated[
        Path | None,
        typer.Option(help="Only print the tables of these rows: a folder that a run left, or a CSV file."),
    ] = None,
    known: Annotated[
        Path | None,
        typer.Option(help="Rows of an earlier run, as docs/results/truth has: these are not made again."),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for rows; a restart goes on.")] = Path("audits/truth"),
    data_dir: DataDir = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=LARGEST_SEED, help="Another seed draws other models.")
    ] = 14,
    as_json: AsJson = False,
) -> None:
    """Make models whose deciding words are known, audit them, and count how often the reading is wrong.

    The error rates are those of the held-out part; the other is for fitting thresholds. All of it takes
    about an hour on two cores, and needs sst, agnews and 20news-1. docs/verdict.md has results.

    Example: `heedful bench truth --quick`
    """
    from heedful.bench.truth.publishing import as_markdown
    from heedful.bench.truth.running import read_results

    results = (
        read_results(rows) if rows is not None else _run(part, quick, seed, processes, out, data_dir, known)
    )
    published = results[results["part"] == "held-out"]
    if not len(published):
        published = results
    if as_json:
        print_json({"schema": 1, **_found(published)})
    elif markdown:
        typer.echo(as_markdown(published))
    else:
        _print(published)


def _run(
    part: str,
    quick: bool,
    seed: int,
    processes: int,
    out: Path,
    data_dir: Path | None,
    known: Path | None,
) -> "pd.DataFrame":
    from heedful.bench.truth.catalogue import recipes
    from heedful.bench.truth.measuring import ROWS, Job
    from heedful.bench.truth.running import MODELS, RESULTS, run, take_over
    from heedful.data.named import DATA_VARIABLE
    from heedful.files import check_folder

    chosen = recipes(part, quick=quick, seed=seed)
    check_folder(out, marks=(RESULTS,), parts=(MODELS, ROWS, RESULTS))
    job = Job(out, texts=QUICK_TEXTS, again=False, covered=False) if quick else Job(out)
    if data_dir is not None:
        os.environ[DATA_VARIABLE] = str(data_dir)  # the processes that make models read it too
    if known is not None:
        typer.echo(f"{take_over(out, chosen, known):,} models are taken from {known}.", err=True)
    kept = "The models measured so far are kept: give the same command again to go on."
    with can_be_stopped(kept), progress("models", len(chosen)) as advance:
        return run(chosen, job, processes=processes, done=lambda: advance(1))


def _found(results: "pd.DataFrame") -> dict[str, Any]:
    from dataclasses import asdict

    from heedful.bench.truth import tables

    derived = ("share", "share_reaches", "end_reaches")
    return {
        "models": len(results),
        "left_out": _records(tables.left_out(results)),
        "readings": _records(tables.confusion(results).reset_index()),
        "by_architecture": _records(tables.confusion(results, "architecture").reset_index()),
        "rates": [
            {**asdict(rate), **{name: getattr(rate, name) for name in derived}}
            for rate in tables.rates(results)
        ],
        "auc": tables.auc(results),
        "coverage_at_95": [asdict(rate) for rate in tables.coverage(results, kind="at_95")],
        "rankings": _records(tables.rankings(results)),
        "regressions": _records(tables.regressions(results)),
        "costs": _records(tables.costs(results).reset_index()),
    }


def _records(table: "pd.DataFrame") -> list[dict[str, Any]]:
    """The rows of a table; what is not known is null."""
    return [
        {str(name): None if cell != cell else cell for name, cell in row.items()}
        for row in table.to_dict("records")
    ]


def _print(results: "pd.DataFrame") -> None:
    from heedful.bench.truth.publishing import headline, left_out, published

    typer.echo(headline(results))
    for one in published(results):
        print_table(one.title, one.columns, one.rows, right=one.columns[one.left :])
    for said in left_out(results):
        typer.echo(said)


def readings(
    corpus: Annotated[
        list[str] | None,
        typer.Option(help="A corpus by name. Default: sst, imdb, 20news-1 and agnews. Repeatable."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="A model by name, or minilm, which is read on sst. Default: dp and minilm."),
    ] = None,
    seeds: Annotated[int, count(most=MOST_SEEDS, help="Trainings of each model, with seeds 0, 1, …")] = 5,
    out: Annotated[Path, typer.Option(help="Folder for what was read; a restart goes on.")] = Path(
        "audits/readings"
    ),
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Train real models with several seeds, and read each on two halves of the test texts.

    MiniLM alone takes twelve minutes of one core.

    Example: `heedful bench readings --corpus sst --model dp --seeds 2`
    """
    from heedful.bench.readings import CORPORA, MINILM, MINILM_CORPUS
    from heedful.bench.readings import readings as read

    chosen = [
        (source, name)
        for name in model or ("dp", MINILM)
        for source in ([MINILM_CORPUS] if name == MINILM else corpus or CORPORA)
    ]
    kept = "The trainings read so far are kept: give the same command again to go on."
    with can_be_stopped(kept), progress("trainings", len(chosen) * seeds) as advance:
        found = read(chosen, seeds=seeds, out=out, data_dir=data_dir, done=lambda: advance(1))
    if as_json:
        print_json({"schema": 1, **found.numbers})
        return
    for one in found.shown:
        if not isinstance(one, str):
            print_table(one.title, one.columns, one.rows)
