"""`heedful gallery`: what each mechanism is good for, trained here and drawn."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from heedful.cli.options import AsJson, DataDir, Device, Seed, Workers, count
from heedful.cli.output import Advance, can_be_stopped, print_json, print_table, progress, say
from heedful.cli.places import default_folder
from heedful.errors import UserError, listed
from heedful.settings import MOST_SEEDS

if TYPE_CHECKING:
    from heedful.gallery import Comparison, Entry
    from heedful.gallery.at_hand import AtHand
    from heedful.store import Store

SHEET, KEPT = "gallery.html", "kept"


def gallery(
    name: Annotated[str | None, typer.Argument(help="An entry. Without one: list all.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Train all entries and make a contact sheet.")] = False,
    seeds: Annotated[int, count("--seeds", most=MOST_SEEDS, help="How many seeds to train with.")] = 3,
    size: Annotated[
        Literal["small", "quick", "full"],
        typer.Option(
            "--size",
            help="small: seconds, a rehearsal without an aim; quick: minutes; full: as long as it takes.",
        ),
    ] = "quick",
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for pictures and figures. Default: runs/gallery.")
    ] = None,
    data_dir: DataDir = None,
    device: Device = "cpu",
    workers: Workers = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """List the attention mechanisms, or train one beside a model without it and draw what it attends to.

    An entry that has a real task takes it where its data are, in the folder gallery of the data folder, and a
    generated one elsewhere. Seeds on real data are trained side by side, in a process of one thread each, and
    kept: the same command goes on where it stopped.
    Generated tasks run on the processor whatever the device is. The exit code is 1 if an entry does not pass,
    at any size but small, and 2 if one could not be trained. No entry passes with one seed: it has no
    interval.

    Example: `heedful gallery`, `heedful gallery bahdanau`, or `heedful gallery --all --out gallery`
    """
    from heedful.files import check_folder
    from heedful.gallery import ENTRIES, entry
    from heedful.gallery.at_hand import at_hand
    from heedful.study.processes import cores

    if name is not None and every:
        raise UserError(f"Give a name, such as {name}, or --all, not both.")
    if name is None and not every:
        _list([at_hand(entry(known), size=size, data_dir=data_dir) for known in ENTRIES], as_json)
        return
    chosen = [entry(known) for known in (ENTRIES if name is None else [name])]
    folder = out or default_folder("gallery")
    check_folder(folder)
    if device != "cpu":
        from heedful.training.devices import find_device

        find_device(device)
    # Processes would share one accelerator, and its memory.
    at_once = workers or (cores() if device == "cpu" else 1)
    asked = {
        "seeds": range(seed, seed + seeds),
        "size": size,
        "data_dir": data_dir,
        "device": device,
        "workers": at_once,
    }
    kept = f"The entries that ended are in {folder}, and the same command goes on from them."
    with (
        can_be_stopped(kept),
        _keeping(chosen, folder) as store,
        progress("gallery, seeds", len(chosen) * seeds) as advance,
    ):
        compared, failures = [], []
        for one in chosen:
            try:
                compared.append(_train(one, folder, advance, store=store, **asked))
            except UserError as error:  # one entry that lacks its corpus must not take the others with it
                if not every:
                    raise
                failures.append((one, str(error)))
                advance(seeds)
    if every:
        _make_sheet(compared, failures, folder)
    _show(compared, failures, folder, as_json, every)
    if failures:
        raise typer.Exit(2)
    if size != "small" and not all(comparison.passes for comparison in compared):
        raise typer.Exit(1)


def _keeping(chosen: "Sequence[Entry]", folder: Path) -> "AbstractContextManager[Store | None]":
    """Where trained seeds are kept; generated tasks keep none, and leave no trace."""
    from heedful.store import Store

    if not any(entry.real for entry in chosen):
        return nullcontext()
    return Store(folder / KEPT, {"schema": 1}, what="trained seeds").opened()


def _list(known: "Sequence[AtHand]", as_json: bool) -> None:
    if as_json:
        fields = ("name", "title", "source", "task", "formula", "without", "measure", "better", "aim")
        rows = [
            {
                **{field: getattr(one.entry, field) for field in fields},
                "is_real": one.is_real,
                "data": one.data,
            }
            for one in known
        ]
        print_json({"schema": 1, "entries": rows})
        return
    print_table(
        "",
        ["name", "mechanism", "data", "task"],
        [[one.entry.name, one.entry.title, one.kind, one.entry.task] for one in known],
    )
    without = [one.entry.name for one in known if one.entry.real is not None and not one.is_real]
    if without:
        say(f"Real data are not here for {listed(without)}: docs/gallery/README.md says how to get them.")
    say("Train and draw one: heedful gallery NAME. All, on one page: heedful gallery --all")


def _train(entry: "Entry", folder: Path, advance: Advance, **asked: Any) -> "Comparison":
    import json

    from heedful.files import write_atomically
    from heedful.gallery import compare_entry
    from heedful.gallery.sheet import draw_comparison

    comparison = compare_entry(entry, done=lambda seed: advance(1), **asked)
    for form in ("png", "svg"):
        with write_atomically(folder / f"{entry.name}.{form}", "wb") as file:
            file.write(draw_comparison(comparison, form))
    with write_atomically(folder / f"{entry.name}.json") as file:
        json.dump({"schema": 1, **comparison.to_dict()}, file, ensure_ascii=False, indent=1)
    return comparison


def _make_sheet(
    compared: "Sequence[Comparison]", failures: "Sequence[tuple[Entry, str]]", folder: Path
) -> None:
    from heedful.files import write_atomically
    from heedful.gallery.sheet import contact_sheet

    pictures = {
        name: (folder / f"{name}.png").read_bytes()
        for name in (comparison.entry.name for comparison in compared)
    }
    with write_atomically(folder / SHEET) as file:
        file.write(contact_sheet(compared, pictures, failures=failures))


def _show(
    compared: "Sequence[Comparison]",
    failures: "Sequence[tuple[Entry, str]]",
    folder: Path,
    as_json: bool,
    every: bool,
) -> None:
    from heedful.gallery.sheet import found, shown_figure, shown_margin, shown_measure

    for entry, why in failures:
        say(f"{entry.name} could not be trained: {why}")
    if as_json:
        entries = [comparison.to_dict() for comparison in compared]
        failed = [{"name": entry.name, "why": why} for entry, why in failures]
        print_json({"schema": 1, "entries": entries, "failures": failed, "out": str(folder)})
        return
    print_table(
        "",
        ["entry", "measure", "with", "without", "gain and interval", "passes"],
        [
            [
                comparison.entry.name,
                shown_measure(comparison.entry),
                f"{comparison.mean('figure'):.3f}",
                f"{comparison.mean('baseline'):.3f}",
                shown_margin(comparison),
                "yes" if comparison.passes else "no",
            ]
            for comparison in compared
        ],
        right=("with", "without", "gain and interval"),
    )
    if every:
        typer.echo(f"The contact sheet is {folder / SHEET}.")
        return
    for comparison in compared:
        further = comparison.outcomes[0].table
        if further:
            rows = [[name, shown_figure(comparison.mean(name))] for name in further]
            print_table("Means over the seeds", ["figure", "mean"], rows, right=("mean",))
        typer.echo(f"{comparison.data}\n{found(comparison)}")
        typer.echo(f"The picture is {folder / f'{comparison.entry.name}.png'}.")
