"""`heedful worker`: processes of this machine for a Dask cluster."""

from typing import Annotated

import typer

from heedful.cli.options import count
from heedful.cli.output import can_be_stopped, say
from heedful.settings import MOST_WORKERS


def worker(
    scheduler: Annotated[str, typer.Argument(help="The scheduler's address, tcp://HOST:PORT.")],
    workers: Annotated[
        int | None,
        count("--workers", most=MOST_WORKERS, help="Processes, of one thread each. Default: one per core."),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            "--host",
            help="Address of this machine at which the cluster reaches them. Default: this machine alone.",
        ),
    ] = None,
) -> None:
    """Work for a Dask scheduler until stopped; studies are sent to it with `heedful sweep --scheduler`.

    Needs the extra `cluster` (`pip install 'heedful[cluster]'`), and no shared disk. Whoever
    can reach the scheduler can run code here: use a network that you trust, or tls:// addresses.

    Example: `dask scheduler --host 127.0.0.1 --port 8786`, then `heedful worker tcp://127.0.0.1:8786`
    """
    from heedful.study.cluster_workers import serve_workers

    with can_be_stopped("Tasks that were under way go to other workers."):
        serve_workers(scheduler, workers=workers, host=host, say=say)
