"""`heedful bench watch`: what looking into a training costs beside the training, and beside an evaluation."""

from pathlib import Path
from typing import Annotated, Any

import typer

from heedful.cli.options import AsJson, DataDir
from heedful.cli.output import print_json, say
from heedful.errors import choose_from

PARTS = ("watch", "flow")


def watch(
    part: Annotated[
        list[str] | None,
        typer.Option(help=f"What to measure: {', '.join(PARTS)}; both unless said. Repeatable."),
    ] = None,
    short: Annotated[str, typer.Option(help="watch: the corpus that is trained on.")] = "sst",
    long: Annotated[str, typer.Option(help="flow: the corpus whose training texts are read.")] = "imdb",
    model: Annotated[str, typer.Option(help="A model or preset that has flow terms.")] = "dp",
    epochs: Annotated[
        int | None, typer.Option(min=1, help="watch: epochs of a training; the preset's unless said.")
    ] = None,
    records: Annotated[int, typer.Option(min=1, help="watch: records in a run.")] = 50,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each comparison; the least counts.")] = 3,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Time a watch over training beside the training, and flow terms and scores beside an evaluation pass.

    Example: `heedful bench watch --part flow --long imdb`
    """
    chosen = [choose_from("part of `heedful bench watch`", name, PARTS) for name in part or PARTS]
    found: dict[str, Any] = {"model": model}
    for name in chosen:
        say(f"Measuring {name} …")
        if name == "watch":
            changes = {} if epochs is None else {"epochs": epochs}
            found[name] = _watch(short, model, changes, records, rounds, data_dir, quiet=as_json)
        else:
            found[name] = _flow(long, model, rounds, data_dir, quiet=as_json)
    if as_json:
        print_json({"schema": 1, **found})


def _watch(
    source: str,
    model: str,
    changes: dict[str, Any],
    records: int,
    rounds: int,
    data_dir: Path | None,
    *,
    quiet: bool,
) -> dict[str, Any]:
    from dataclasses import asdict

    from heedful.bench.preparing import prepared
    from heedful.bench.watch import measure_watch
    from heedful.data import load_data
    from heedful.understanding.watch import WatchSettings

    corpus = load_data(source, data_dir=data_dir)
    given = prepared(corpus, model, changes)
    cost = measure_watch(
        given.splits,
        given.vocabulary,
        classes=corpus.label_names,
        model=given.model,
        training=given.training,
        settings=WatchSettings(records=records),
        rounds=rounds,
    )
    if not quiet:
        typer.echo(
            f"Training {model} on {source}: {cost.plain_seconds:.2f} s without a watch, "
            f"{cost.watched_seconds:.2f} s with one that leaves {cost.records} records. Inside it: "
            f"{cost.inside_seconds:.2f} s, {cost.share:.1%} of the training (aim: under 10 %, 50 records)."
        )
    return {"corpus": source, **asdict(cost)}


def _flow(source: str, model: str, rounds: int, data_dir: Path | None, *, quiet: bool) -> dict[str, Any]:
    from dataclasses import asdict

    from heedful.bench.preparing import prepared
    from heedful.bench.understanding import measure_flow
    from heedful.data import load_data
    from heedful.models.building import build_model

    corpus = load_data(source, data_dir=data_dir)
    given = prepared(corpus, model)
    # Untrained: the same work whatever the weights are.
    made = build_model(given.model, given.vocabulary, corpus.label_names, rules=given.rules)
    cost = measure_flow(made, given.splits["train"], rounds=rounds)
    if not quiet:
        typer.echo(
            f"{cost.texts:,} training texts of {source}, {cost.occurrences:,} words, {cost.vocabulary:,} "
            f"different: all flow terms take {cost.flow_seconds:.2f} s, {cost.ratio:.2f} × an evaluation "
            f"pass of {cost.evaluation_seconds:.2f} s (aim: at most 2). The scores of all different words "
            f"take {cost.scores_seconds:.3f} s (aim: under 1 s)."
        )
    return {"corpus": source, **asdict(cost)}
