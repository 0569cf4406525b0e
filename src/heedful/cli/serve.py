"""`heedful serve`: the page live, with a box to type a text into."""

from pathlib import Path
from typing import Annotated, Any

import typer

from heedful.cli.options import AsJson, Device
from heedful.cli.output import can_be_stopped, print_json, say


def serve(
    run: Annotated[
        str,
        typer.Argument(
            help="A run folder; a sweep's, whose study has keep_runs = true, for a λ slider; or "
            "hf:PATH_OR_NAME."
        ),
    ],
    audit: Annotated[
        Path | None, typer.Option("--audit", help="An audit's folder, to show its page below the box.")
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="The address to listen at. Default: this machine alone.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes any that is free.")] = 8765,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Serve a page on which a text can be typed: its decision, its words, the smallest set that flips it.

    Its JSON API is described at /docs. Nothing that is typed is kept. Stop it with Ctrl-C.

    Example: `heedful serve runs/sst-dp`, or `heedful serve hf:my/classifier`
    """
    from heedful.web.models import open_models
    from heedful.web.names import names_for, on_this_machine
    from heedful.web.server import bind, create_app
    from heedful.web.server import serve as answer

    content = _audit_content(audit)
    models, notes = open_models(run, device=device)
    for note in notes:
        say(note)
    app = create_app(models, audit=content, hosts=names_for(host))
    with bind(host, port) as listening:
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listening.getsockname()[1]}/"
        if not on_this_machine(host):
            say(f"Whoever reaches {host} can read texts with this model: there is no password.")
        if as_json:
            print_json({"schema": 1, "address": address, "models": [model.about() for model in models]})
        say(f"Open {address} in a browser; {address}docs describes the API. Ctrl-C stops.")
        with can_be_stopped("Nothing that was typed is kept."):
            answer(app, listening)


def _audit_content(folder: Path | None) -> dict[str, Any] | None:
    if folder is None:
        return None
    from heedful.auditing.page.writing import page_content
    from heedful.auditing.result import FIGURES, load_audit

    return page_content(load_audit(folder), folder / FIGURES)
