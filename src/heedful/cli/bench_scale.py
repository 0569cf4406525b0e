"""`heedful bench scale`: what more texts cost."""

from typing import Annotated, Any

import typer

from heedful.cli.options import AsJson, DataDir, Seed
from heedful.cli.output import print_json, print_table, progress


def scale(
    texts: Annotated[
        str, typer.Option("--texts", help="How many texts, with commas between.")
    ] = "1000,4000,16000,64000,256000",
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="prepare, train, scores, erase, audit, stream (erasing 20,000 and 200,000 texts), or "
            "workers (by two workers of a cluster). Default: all but workers. Repeatable."
        ),
    ] = None,
    corpus: Annotated[str, typer.Option(help="Whose words and lengths the texts have.")] = "sst",
    form: Annotated[str, typer.Option("--format", help="Of the files of texts: csv or parquet.")] = "csv",
    model: Annotated[str, typer.Option(help="A model or a preset by name.")] = "dp",
    data_dir: DataDir = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Time and peak memory of preparing, training, scores, erasure and audit at growing numbers of texts.

    Texts are made up by the word frequencies and lengths of a real corpus, and each command is a process of
    its own. Example: `heedful bench scale --texts 1000,4000,16000`
    """
    from heedful.bench.scale import (
        FORMATS,
        PROCESSES,
        SENT,
        STAGES,
        STREAM,
        STREAMED,
        WORKERS,
        measure_scale,
        measure_streaming,
    )
    from heedful.bench.scale import scale as shown
    from heedful.data import load_data
    from heedful.errors import UserError, choose_from

    sizes = [int(one) if one.strip().isdecimal() else 0 for one in texts.split(",")]
    if not all(200 <= size <= 10_000_000 for size in sizes):
        raise UserError(f"Between 200 and 10,000,000 texts can be made, not {texts}.")
    known = (*STAGES, STREAM, WORKERS)
    chosen = [choose_from("part of `heedful bench scale`", name, known) for name in part or known[:-1]]
    form = choose_from("format", form, FORMATS)
    stages = [name for name in chosen if name in STAGES]
    source = load_data(corpus, data_dir=data_dir)
    streams = {STREAM: (STREAMED, 0), WORKERS: (SENT, PROCESSES)}
    streamed = [streams[name] for name in streams if name in chosen]
    count = len(sizes) * len(stages) + sum(len(tests) for tests, _ in streamed)
    with progress("commands", count) as advance:
        about: dict[str, Any] = {"model": model, "seed": seed, "done": advance}
        costs = list(measure_scale(source, sizes, stages=stages, form=form, **about)) if stages else []
        for tests, workers in streamed:
            costs += measure_streaming(source, tests=tests, workers=workers, **about)
    found = shown(source, costs)
    if as_json:
        print_json({"schema": 1, **found.numbers})
        return
    for table in found.shown:
        assert not isinstance(table, str)
        print_table(table.title, table.columns, table.rows, right=table.columns[1:])
