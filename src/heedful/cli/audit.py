"""`heedful audit`: may this attention be shown as an explanation? One command, one folder, one verdict."""

import shlex
from collections.abc import Mapping
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
    LocalWorkers,
    Scheduler,
    Seed,
    count,
)
from heedful.cli.output import can_be_stopped, print_json, print_table, progress, say
from heedful.cli.places import program
from heedful.cli.watching import shown_progress
from heedful.settings import MOST_SEEDS

if TYPE_CHECKING:
    from heedful.auditing.by_label import LabelAudits
    from heedful.auditing.instead import Instead
    from heedful.auditing.result import Audit
    from heedful.auditing.rule import ClassReading
    from heedful.training.opening import Asked


@gathers(asked=how_to_decide, columns=how_to_read_pairs)
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
        count(
            "--limit",
            help="Number of texts to audit, drawn by the seed. Default: all of a run, up to 32,768; 2000 "
            "for another model.",
        ),
    ] = None,
    shown: Annotated[
        str,
        typer.Option(
            "--show", help="The ranking that you show to people. Default: attention, or leave-one-out."
        ),
    ] = "",
    also: Annotated[
        list[str] | None,
        typer.Option(
            "--also",
            help="Judge this ranking too: flow, value-zeroing, lime, layer-2, layer-2-head-5 … Repeatable.",
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", help="Column of the file: a reading for each of its values.")
    ] = None,
    deletions: Annotated[
        int | None,
        count(
            "--deletions",
            help="Random deletions for each word of a text. Default: 16 where they are products, else 4.",
        ),
    ] = None,
    looks: Annotated[
        bool, typer.Option("--stop/--no-stop", help="Stop as soon as the reading is settled.")
    ] = True,
    seeds: Annotated[
        int,
        count("--seeds", most=MOST_SEEDS, help="Models for stability, this one among them; 1 leaves it out."),
    ] = 3,
    uniform: Annotated[
        bool, typer.Option("--uniform/--no-uniform", help="Train the uniform control, too.")
    ] = True,
    folds: Annotated[
        int,
        count(
            "--folds",
            least=0,
            most=MOST_SEEDS,
            help="Number of models to train, so that each text is judged by one that has not seen it.",
        ),
    ] = 0,
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
    columns: Any = None,
    label_map: LabelMap = None,
    asked: Any = None,
    data_dir: DataDir = None,
    seed: Seed = 0,
    scheduler: Scheduler = None,
    workers: LocalWorkers = None,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Say whether a model's attention, or any other highlight, may be shown as an explanation.

    Words are deleted at random, and the highlight is judged by how well it predicts what the model then
    does. Further questions give context.

    Texts alone train a model first. What is measured is kept as it comes: an interrupted audit goes on when
    the same command is given again. The folder holds a page (index.html), audit.json, tables and figures.

    Example: `heedful audit reviews.csv`, `heedful audit runs/sst-dp --require faithful`, or
    `heedful audit hf:my/classifier --data reviews.csv`. Pairs: `--text premise --text-pair hypothesis`. A
    language model: `--template prompt.txt --labels "good,bad"`. A model with several labels at once gets one
    audit a label.
    """
    from heedful.auditing.audited import label_reading
    from heedful.auditing.by_label import LabelAudits, audit_labels
    from heedful.auditing.whole import audit as run_audit
    from heedful.data.label_matching import read_label_map
    from heedful.errors import UserError
    from heedful.study.cluster_streams import streams_on

    wanted = _wanted(require)
    where: dict[str, Any] = {"on": on, "learn": data is None, "data_dir": data_dir, **columns}
    source = data or subject
    several = _labels_at_once(subject, data, asked)
    if several and (rationale is not None or by is not None):
        raise UserError("--rationale and --by are for one label: name it with --audit-label.")
    rationales = groups = None
    if rationale is not None or by is not None:
        where |= label_reading(subject, source, columns, asked)
    if rationale is not None:
        rationales = _column_of(source, rationale, "--rationale", **where)
    if by is not None:
        groups = _column_of(source, by, "--by", **where)
    kept = "What is measured so far is kept: give the same command again to go on."
    with can_be_stopped(kept), streams_on(scheduler, workers, say), shown_progress() as training:
        options: dict[str, Any] = {
            "out": out,
            "asked_of": asked,
            "label_map": None if label_map is None else read_label_map(label_map),
            "model": model,
            "device": device,
            "data_dir": data_dir,
            "columns": columns,
            "progress": progress,
            "say": say,
            "callbacks": [training],
            "split": on,
            "limit": limit,
            "shown": shown,
            "also": ",".join(also or ()),
            "deletions": deletions,
            "looks": looks,
            "seeds": seeds,
            "uniform": uniform,
            "folds": folds,
            "keep_texts": not no_texts,
            "seed": seed,
        }
        found: Audit | LabelAudits
        if several and data is not None:
            found = audit_labels(subject, data, **options)
        else:
            found = run_audit(subject, data, rationales=rationales, by=groups, **options)
    if isinstance(found, LabelAudits):
        _show_labels(found, as_json=as_json)
        rank, reading = found.rank, "worse than that for a label"
    else:
        if as_json:
            print_json(for_machines(found))
        else:
            show(found)
        rank, reading = found.verdict.rank, found.reading
    if wanted is not None and rank > wanted:
        say(f"The reading is “{reading}”, and {require!r} was required.")
        raise typer.Exit(1)


def _labels_at_once(subject: str, data: str | None, asked: "Asked") -> bool:
    """Whether each of several labels is to be audited."""
    from heedful.models.transformers.loading import labels_at_once
    from heedful.training.opening import HUB, is_of_hub

    if not is_of_hub(subject) or data is None or asked.label is not None or asked.template is not None:
        return False
    return bool(labels_at_once(subject.removeprefix(HUB)))


def _show_labels(found: "LabelAudits", *, as_json: bool) -> None:
    """A reading for each label."""
    from heedful.records.wording import in_percent

    if as_json:
        print_json({**found.to_dict(), "folder": str(found.folder)})
        return
    rows = [
        [
            label,
            one.reading,
            "" if one.verdict.skill is None else str(one.verdict.skill).split(" (")[0],
            in_percent(one.content["data"]["accuracy"]["value"], 1),
            in_percent(one.content["data"]["majority"], 1),
        ]
        for label, one in found.audits.items()
    ]
    print_table("Labels", ["label", "reading", "skill", "accuracy", "majority"], rows)
    for why in found.left_out.values():
        say(why)
    say(f"The page is {found.folder / 'index.html'}; each label has a folder of its own beside it.")


def show(found: "Audit") -> None:
    """The reading first, then what to show instead, the classes, the answers, and where the rest is."""
    from heedful.auditing.names import named
    from heedful.records.wording import in_percent

    content, verdict = found.content, found.verdict
    accuracy = content["data"]["accuracy"]
    typer.echo(f"\n{content['subject']['name']}: {found.reading.upper()}")
    typer.echo(verdict.sentence)
    for reason in verdict.reasons:
        typer.echo(f"  · {reason}")
    better = verdict.instead
    if better is not None:
        typer.echo(
            f"Show instead: {named(better.ranking)}. On the same deletions it predicts "
            f"{in_percent(better.skill.value)} of what the best map could{_signed(better)}."
        )
        called = content["subject"]["called"]
        second = ' --text-pair "its other text"' if content["data"].get("roles") else ""
        typer.echo(f'  {program()} explain {called} "a text of yours"{second} --by {better.ranking}')
    right = f"accuracy {in_percent(accuracy['value'], 1)} on {accuracy['count']:,} texts"
    typer.echo(
        f"({right}, the largest class has {in_percent(content['data']['majority'], 1)}; "
        f"{_judged_on(content)})\n"
    )
    for title, first, read in (("Classes", "decided", verdict.classes), ("Groups", "group", verdict.groups)):
        if read:
            print_table(title, [first, "texts", "reading", "skill"], _rows(read))
    answers = [[str(one.number), one.question, one.outcome, one.answer] for one in found.answers]
    print_table("Questions", ["", "question", "outcome", "answer"], answers)
    say(f"The page is {found.folder / 'index.html'}; numbers are in {found.folder / 'audit.json'}.")
    if content["data"].get("texts_kept") and found.reading != "cannot say":
        called = content["subject"]["called"]
        roles = content["data"].get("roles")
        called += f" --text {shlex.quote(roles[0])} --text-pair {shlex.quote(roles[1])}" if roles else ""
        say("To ship highlights of texts of your own:")
        say(f"  {program()} highlight {called} YOUR_TEXTS --audit {found.folder} --out page.html")


def _signed(better: "Instead") -> str:
    from heedful.records.wording import in_percent

    return "" if better.signed is None else f", with its own signs {in_percent(better.signed.value)}"


def _judged_on(content: Mapping[str, Any]) -> str:
    folds = content["methods"].get("folds")
    if folds:
        return f"{folds} folds: each judged by a model that has not seen it; a reading of the recipe"
    return f"{content['data']['split']} split"


def _rows(read: "tuple[ClassReading, ...]") -> list[list[str]]:
    return [
        [
            one.name,
            f"{one.texts:,}",
            "no word decides it" if one.default else one.reading,
            "" if one.skill is None else str(one.skill).split(" (")[0],
        ]
        for one in read
    ]


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


def _column_of(
    source: str, column: str, option: str, *, on: str, text: str | None = None, **where: Any
) -> list[Any]:
    """A column of the file for each text of the audited split."""
    from heedful.auditing.plausibility import read_column
    from heedful.data.named import load_data
    from heedful.errors import UserError

    if text is None:
        raise UserError(f"With {option}, name the column of the texts too, with --text.")
    if not Path(source).is_file():
        raise UserError(f"{option} names a column of a file, but {source} is none: use --data FILE.")
    corpus = load_data(source, text=text, **where)
    pair = where.get("text_pair")
    return read_column(source, list(corpus.split(on).texts), text=text, column=column, text_pair=pair)
