"""`heedful audit`: may this attention be shown as an explanation? One command, one folder, one verdict."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.options import AsJson, DataDir, Device, LabelColumn, Seed, SplitColumn, TextColumn
from heedful.cli.output import print_json, print_table, progress, say
from heedful.cli.stopping import can_be_stopped
from heedful.cli.watching import shown_progress

if TYPE_CHECKING:
    from heedful.auditing import Audit


def audit(
    subject: Annotated[
        str,
        typer.Argument(
            help="A run folder, hf:PATH_OR_NAME with --data, or texts to train on: a file or a corpus."
        ),
    ],
    data: Annotated[
        str | None, typer.Option("--data", help="Labelled texts to audit on: a file, or a corpus by name.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the audit. Default: audits/NAME.")
    ] = None,
    model: Annotated[
        str, typer.Option("--model", help="What is trained where there are only texts; see `heedful models`.")
    ] = "dp",
    on: Annotated[str, typer.Option("--on", help="The split to audit: train, dev or test.")] = "test",
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", min=1, help="Audit so many texts. Default: all, or 300 to 1000 if each is read again."
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option("--seeds", min=1, help="Models for stability, this one among them; 1 leaves it out."),
    ] = 3,
    uniform: Annotated[
        bool, typer.Option("--uniform/--no-uniform", help="Train the uniform control, too.")
    ] = True,
    no_texts: Annotated[
        bool, typer.Option("--no-texts", help="Keep texts and words out of everything that is written.")
    ] = False,
    rationale: Annotated[
        str | None,
        typer.Option(
            "--rationale", help="Column with the words that a person marked: a text, or a list of 0 and 1."
        ),
    ] = None,
    require: Annotated[
        str | None,
        typer.Option(
            "--require", help="Exit with code 1 unless the reading is this or better: faithful, care."
        ),
    ] = None,
    text: TextColumn = None,
    label: LabelColumn = None,
    split: SplitColumn = None,
    data_dir: DataDir = None,
    seed: Seed = 0,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Ask seven questions of a model's attention, and say whether it may be shown as an explanation.

    Texts alone train a model first. What is measured is kept as it comes: an interrupted audit goes on when
    the same command is given again. The folder holds a page (index.html), audit.json, tables and figures.

    Example: `heedful audit reviews.csv`, `heedful audit runs/sst-dp --require faithful`, or
    `heedful audit hf:my/classifier --data reviews.csv`
    """
    from heedful.auditing import audit as run_audit
    from heedful.data.columns import named_columns
    from heedful.errors import UserError

    wanted = _wanted(require)
    columns = named_columns(text=text, label=label, split=split)
    rationales = None
    if rationale is not None:
        if text is None:
            raise UserError("With --rationale, name the column of the texts too, with --text.")
        source = data or subject
        if not Path(source).is_file():
            raise UserError(
                f"Rationales are a column of a file, but {source} is none: name the file with --data."
            )
        rationales = _rationales(
            source, rationale, on=on, data_dir=data_dir, text=text, label=label, split=split
        )
    kept = "What is measured so far is kept: give the same command again to go on."
    with can_be_stopped(kept), shown_progress() as training:
        found = run_audit(
            subject,
            data,
            out=out,
            rationales=rationales,
            model=model,
            device=device,
            data_dir=data_dir,
            columns=columns,
            progress=progress,
            say=say,
            callbacks=[training],
            split=on,
            limit=limit,
            seeds=seeds,
            uniform=uniform,
            keep_texts=not no_texts,
            seed=seed,
        )
    if as_json:
        print_json(for_machines(found))
    else:
        show(found)
    if wanted is not None and found.verdict.rank > wanted:
        say(f"The reading is “{found.reading}”, and {require!r} was required.")
        raise typer.Exit(1)


def show(found: "Audit") -> None:
    """The verdict first, then the seven answers, then where the rest is."""
    from heedful.verdict import nothing_better

    content = found.content
    verdict, subject = content["verdict"], content["subject"]
    accuracy = content["data"]["accuracy"]
    typer.echo(f"\n{subject['name']}: {found.reading.upper()}")
    typer.echo(verdict["sentence"])
    for reason in verdict["reasons"][1:]:
        typer.echo(f"  · {reason}")
    if verdict["instead"] is not None:
        better = verdict["instead"]
        typer.echo(f"Show instead: {better['ranking']}, because {better['why']}.")
        typer.echo(f"  {better['command']}")
    elif (nothing := nothing_better(found.evidence)) is not None:
        typer.echo(nothing)
    typer.echo(
        f"(accuracy {accuracy['value']:.1%} on {accuracy['count']:,} texts, "
        f"{content['data']['split']} split)\n"
    )
    rows = [
        [str(answer.number), entry["question"], answer.outcome, answer.answer]
        for answer, entry in zip(found.answers, content["questions"], strict=True)
    ]
    print_table("Seven questions", ["", "question", "outcome", "answer"], rows)
    page = found.folder / "index.html"
    if page.exists():
        say(f"The page is {page}; numbers are in {found.folder / 'audit.json'}.")
    else:
        say(f"All numbers are in {found.folder / 'audit.json'}.")


def for_machines(found: "Audit") -> dict[str, Any]:
    """The verdict, the answers and where the rest lies, without texts and tables."""
    kept = (
        "schema",
        "heedful",
        "made",
        "seconds",
        "subject",
        "data",
        "verdict",
        "questions",
        "plausibility",
        "methods",
    )
    return {**{key: found.content[key] for key in kept}, "folder": str(found.folder)}


def _wanted(require: str | None) -> int | None:
    from heedful.errors import choose_from

    if require is None:
        return None
    names = {"faithful": 0, "care": 1, "use with care": 1}
    return names[choose_from("reading to require", require, names)]


def _rationales(
    source: str,
    column: str,
    *,
    on: str,
    data_dir: Path | None,
    text: str,
    label: str | None,
    split: str | None,
) -> list[str | list[int]]:
    from heedful.data.named import load_data
    from heedful.study.auditing.plausibility import read_rationales

    corpus = load_data(source, data_dir=data_dir, text=text, label=label, split=split, learn=False)
    return read_rationales(source, list(corpus.split(on).texts), text=text, column=column)
