"""`heedful bench fuzz` and `heedful bench serve`: what bad input and too many askers do."""

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import AsJson, DataDir, Seed, count
from heedful.cli.output import print_json, print_table, progress


def fuzz(
    cases: Annotated[int, count("--cases", help="Damaged inputs to try.")] = 100_000,
    kinds: Annotated[
        str | None, typer.Option("--kinds", help="Kinds of input with commas between. Default: all.")
    ] = None,
    first: Annotated[int, count("--first", least=0, help="Begin with this case, to see one again.")] = 0,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Damage files, folders, studies, vectors and traces by chance, and hand them to whoever reads them.

    Folders are those of runs, audits, erasures and sweeps. Each is read or refused in a sentence; a
    traceback, a hang or another number without a word is a fault, and ends with exit code 1.

    Example: `heedful bench fuzz --cases 5000`
    """
    from heedful.bench.fuzz import fuzz as run_fuzz

    chosen = [] if kinds is None else [kind.strip() for kind in kinds.split(",")]
    with progress("damaged inputs", cases) as advance:
        found = run_fuzz(cases, seed=seed, kinds=chosen, first=first, progress=advance)
    tried = sorted({kind for kind, _ in found.counts})
    if as_json:
        counts = [
            {"kind": kind, **{what: found.of(kind, what) for what in ("read", "refused", "fault")}}
            for kind in tried
        ]
        print_json({"schema": 1, "seconds": found.seconds, "kinds": counts, "faults": found.faults})
    else:
        print_table(
            f"{cases:,} damaged inputs in {found.seconds:.0f} s",
            ["kind", "read", "refused", "faults"],
            [
                [kind, *(f"{found.of(kind, what):,}" for what in ("read", "refused", "fault"))]
                for kind in tried
            ],
            right=("read", "refused", "faults"),
        )
        for fault in found.faults[:20]:
            typer.echo(fault)
    if found.faults:
        raise typer.Exit(1)


def serve(
    run: Annotated[Path, typer.Argument(help="A run folder, as `heedful train` leaves it.")],
    corpus: Annotated[str, typer.Option(help="Whose test texts are asked about.")] = "data-2",
    connections: Annotated[
        str, typer.Option("--connections", help="How many ask at once, with commas between.")
    ] = "1,8,32,64,256",
    seconds: Annotated[float, typer.Option("--seconds", min=1, help="For each number of them.")] = 10,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Serve a run on this machine's loopback address, and ask without a pause: answers a second, and waits.

    Example: `heedful bench serve runs/sst-dp --corpus sst`
    """
    from heedful.bench.serve import MOST_CONNECTIONS, MOST_SECONDS, measure_serving
    from heedful.data import load_data
    from heedful.errors import UserError

    many = [int(part) if part.strip().isdecimal() else 0 for part in connections.split(",")]
    if not all(1 <= number <= MOST_CONNECTIONS for number in many) or seconds > MOST_SECONDS:
        raise UserError(
            f"A server is asked by 1 to {MOST_CONNECTIONS} connections for at most {MOST_SECONDS} s, not by "
            f"{connections} for {seconds:g} s."
        )
    texts = list(load_data(corpus, data_dir=data_dir).split("test").texts)[:1000]
    loads = []
    with progress("numbers of connections", len(many)) as advance:
        for load in measure_serving(run, texts, connections=many, seconds=seconds):
            loads.append(load)
            advance(1)
    best = max(load.goodput for load in loads)
    if as_json:
        rows = [
            {
                "connections": load.connections,
                "answers_a_second": load.goodput,
                "of_best": load.goodput / best,
                "refused": load.refused,
                "broken": load.broken,
                "p50": load.quantile(0.5),
                "p99": load.quantile(0.99),
                "memory_mb": list(load.memory),
            }
            for load in loads
        ]
        print_json({"schema": 1, "loads": rows})
        return
    columns = ["connections", "answers/s", "of best", "refused", "broken", "p50 ms", "p99 ms", "memory MB"]
    print_table(
        f"{seconds:g} s each",
        columns,
        [
            [
                str(load.connections),
                f"{load.goodput:.0f}",
                f"{load.goodput / best:.0%}",
                f"{load.refused:,}",
                f"{load.broken:,}",
                f"{1000 * load.quantile(0.5):.0f}",
                f"{1000 * load.quantile(0.99):.0f}",
                f"{load.memory[0]:.0f} → {load.memory[1]:.0f}",
            ]
            for load in loads
        ],
        right=columns,
    )
