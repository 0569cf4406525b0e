"""`heedful debate`: every test of the debate about attention, on one's own corpus or run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.asked import how_to_decide, how_to_read_pairs
from heedful.cli.flags import gathers
from heedful.cli.options import (
    AsJson,
    DataDir,
    Device,
    LabelMap,
    Seed,
    Workers,
    count,
)
from heedful.cli.output import can_be_stopped, print_json, print_table, progress, say
from heedful.cli.places import default_folder
from heedful.cli.reproduce import show_models
from heedful.settings import MOST_SEEDS

if TYPE_CHECKING:
    from heedful.papers.debate.forecast import Estimate
    from heedful.papers.debate.holding import Held

SCHEMA = 1


@gathers(asked=how_to_decide, columns=how_to_read_pairs)
def debate(
    source: Annotated[
        str,
        typer.Argument(help="A run folder, a corpus by name, a file with texts, or hf:NAME with --data."),
    ],
    data: Annotated[
        str | None,
        typer.Option("--data", help="Texts of somebody's model: a corpus by name, or a file."),
    ] = None,
    label_map: LabelMap = None,
    level: Annotated[
        str | None,
        typer.Option(
            "--level", help="Of a transformer: debate this layer or head, layer-2, layer-2-head-5 …"
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="Of a corpus: a model or preset. Default: biLSTM and tanh.")
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", help="Stages with commas between. Default: all eight.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer seeds and texts, and a small model of a corpus.")
    ] = False,
    seeds: Annotated[
        int | None,
        count("--seeds", least=2, most=MOST_SEEDS, help="Trainings to compare. Default: 8, quick 3."),
    ] = None,
    limit: Annotated[int | None, count("--limit", help="Test texts tried. Default: 500, quick 200.")] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for everything. Default: debate in the run, or in runs."),
    ] = None,
    workers: Workers = None,
    data_dir: DataDir = None,
    columns: Any = None,
    asked: Any = None,
    seed: Seed = 0,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Hold the debate of Jain & Wallace and Wiegreffe & Pinter over your model, claim by claim.

    Stages: agreement, permutation, adversary, uniform, seeds, diagnostic, adversarial, sanity. How long it
    takes is said first. What was trained and measured is kept: the same command goes on after a stop.
    Somebody's model (hf:NAME) is not trained again: what needs that is left out, and said.

    Example: `heedful debate sst --only agreement,adversary`, or `heedful debate runs/mine --quick`, or
    `heedful debate hf:distilbert-base-uncased-finetuned-sst-2-english --data sst`
    """
    from heedful.data.label_matching import read_label_map
    from heedful.papers.debate.forecast import estimate
    from heedful.papers.debate.holding import check, hold
    from heedful.papers.debate.preparing import debate_on
    from heedful.study.processes import cores
    from heedful.training.devices import find_device

    find_device(device)
    prepared = debate_on(
        source,
        data,
        model=model,
        quick=quick,
        seeds=seeds,
        limit=limit,
        seed=seed,
        data_dir=data_dir,
        device=device,
        label_map=None if label_map is None else read_label_map(label_map),
        level=level,
        asked_of=asked,
        columns=columns,
    )
    folder = out or _default(source, prepared.run is not None, prepared.trainings.models[0], quick)
    bench = prepared.bench(
        folder,
        quick=quick,
        workers=workers,
        data_dir=None if data_dir is None else str(data_dir),
        device=device,
        say=say,
        progress=progress,
    )
    check(bench)
    wanted = None if only is None else [name.strip() for name in only.split(",")]
    stages = prepared.stages(wanted)
    for note in prepared.notes(wanted):
        say(note)
    time_needed = estimate(prepared, stages, quick=quick, workers=workers or cores())
    say(f"{_counted(len(stages), 'stage')}, {_trainings(time_needed)}, if nothing is there yet.")
    prepared.adopt(bench)
    done = []
    with can_be_stopped("What was trained and measured is kept: give the same command again to go on."):
        for held in hold(prepared, stages, bench):
            done.append(held.to_dict())
            if not as_json:
                _show(held)
    if as_json:
        result = {"schema": SCHEMA, "source": source, "model": prepared.trainings.models[0], "quick": quick}
        about = {"seeds": list(prepared.trainings.seeds), "estimated_seconds": time_needed.total}
        print_json({**result, **about, "left_out": prepared.left_out, "stages": done})
        return
    say(f"Tables, figures and claims are in {folder}.")


def _default(source: str, is_run: bool, model: str, quick: bool) -> Path:
    if is_run:
        return Path(source) / ("debate-quick" if quick else "debate")
    return default_folder("debate", Path(source).stem, model, *(["quick"] if quick else []))


def _trainings(needed: "Estimate") -> str:
    """How many trainings of which length, and what all of it takes."""
    parts = []
    if needed.trainings:
        parts.append(f"{_counted(needed.trainings, 'training')} of {_said(needed.training)}")
    if needed.guided:
        of = _said(needed.guided_training)
        parts.append(f"{_counted(needed.guided, 'classifier')} of single words of {of}")
    return f"{' and '.join(parts) or 'no training'}: {_said(needed.total)} in all"


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _said(seconds: float) -> str:
    from heedful.records.wording import lasting

    return f"about {lasting(seconds)}" if seconds >= 1 else "under a second"


def _show(held: "Held") -> None:
    """Findings over all texts as a table, then the claims; groups of texts are in the folder and the JSON."""
    whole = [one for one in held.findings if not {"predicted", "largest_weight"} & set(one.coordinates)]
    rows = []
    for one in whole:
        about = [str(one.coordinates[key]) for key in ("check", "what") if key in one.coordinates]
        rows.append([": ".join([one.name, *([", ".join(about)] if about else [])]), str(one)])
    print_table(held.stage.title, ["finding", "value and 95 % interval"], rows)
    show_models(held.reproduction)
    for claim in held.reproduction.claims:
        typer.echo(held.reproduction.told(claim))
