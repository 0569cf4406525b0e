"""`heedful erase`: take items or words away until the decision moves, over a whole split."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.asked import how_to_decide
from heedful.cli.flags import gathers
from heedful.cli.options import (
    AsJson,
    DataDir,
    Device,
    Encoding,
    LabelColumn,
    LabelMap,
    LocalWorkers,
    Scheduler,
    Seed,
    TextColumn,
    TextPairColumn,
    count,
)
from heedful.cli.output import can_be_stopped, print_json, print_table, progress, say

if TYPE_CHECKING:
    from pandas import DataFrame

    from heedful.records import Finding

SCHEMA = 1


@gathers(asked=how_to_decide)
def erase(
    subject: Annotated[str, typer.Argument(help="A run folder, or hf:NAME with --data.")],
    data: Annotated[
        str | None, typer.Option("--data", help="Texts of somebody's model: a corpus by name, or a file.")
    ] = None,
    split: Annotated[str, typer.Option("--split", help="The split to try: train, dev or test.")] = "test",
    rankings: Annotated[
        str | None,
        typer.Option(
            "--rankings",
            help="Names with commas between, and NAME=FILE for scores of your own (.npy or .json, one row a "
            "text of the split). Default: all that the model can have.",
        ),
    ] = None,
    level: Annotated[
        str,
        typer.Option(
            "--level",
            help="Which attention layer: final, words (of a hierarchical model), or any of a transformer: "
            "layer-2, layer-2-head-5 …",
        ),
    ] = "final",
    at_input: Annotated[
        bool, typer.Option("--input", help="Take words out of the texts, and read them again.")
    ] = False,
    how: Annotated[
        str, typer.Option("--how", help="With --input: delete words, or make them the unknown word.")
    ] = "delete",
    limit: Annotated[
        int | None, count("--limit", help="Number of texts to try, drawn by the seed. Default: all.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the results. Default: trials/… in the run.")
    ] = None,
    text: TextColumn = None,
    text_pair: TextPairColumn = None,
    label: LabelColumn = None,
    split_column: Annotated[
        str | None, typer.Option("--split-column", help="Column of --data with train, dev or test.")
    ] = None,
    encoding: Encoding = None,
    label_map: LabelMap = None,
    asked: Any = None,
    data_dir: DataDir = None,
    seed: Seed = 0,
    scheduler: Scheduler = None,
    workers: LocalWorkers = None,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Erase what attention ranks first, beside other rankings, and see when the decision moves.

    At the attention layer items are erased from what it saw; with --input words leave the text, and the model
    reads it again: word skill, comprehensiveness, sufficiency. One row per text is written as it is
    measured, and an interrupted trial goes on when the same command is given again. Rankings that a model
    does not have are named and left out. Figures are drawn too: at the layer in the style of Serrano & Smith,
    of words by the share that is taken out.

    Example: `heedful erase runs/sst-dp`, or `heedful erase runs/sst-dp --input --limit 500`, or
    `heedful erase runs/sst-dp --rankings attention,captum=scores.npy`, or
    `heedful erase hf:my/classifier --data reviews.csv --input --limit 50`, or at one head of a transformer
    `--level layer-2-head-5`
    """
    from heedful.auditing.erasing import erase_split
    from heedful.data.columns import reading_options
    from heedful.data.label_matching import read_label_map
    from heedful.study.cluster_streams import streams_on
    from heedful.trials import RANKINGS
    from heedful.trials.rankings.word_rankings import WORD_RANKINGS

    names, files = _names(rankings, WORD_RANKINGS if at_input else RANKINGS)
    kept = "The texts that were tried have their rows: give the same command again to go on."
    with can_be_stopped(kept), streams_on(scheduler, workers, say):
        erased = erase_split(
            subject,
            data,
            split=split,
            rankings=names,
            own=files,
            level=level,
            at_input=at_input,
            how=how,
            limit=limit,
            out=out,
            seed=seed,
            device=device,
            data_dir=data_dir,
            columns=reading_options(
                text=text, text_pair=text_pair, label=label, split=split_column, encoding=encoding
            ),
            label_map=None if label_map is None else read_label_map(label_map),
            asked_of=asked,
            progress=progress,
        )
    streamed, found, where = erased.streamed, erased.findings, erased.coordinates
    if streamed.skipped:
        say(f"{streamed.skipped} of {streamed.batches} batches were there from before.")
    for note in erased.notes:
        say(note)
    figures = erased.folder / "figures"
    if at_input:
        drawn = _draw_words(erased.rows, figures, seed)
    else:
        drawn = _draw_items(erased.rows, figures, where["corpus"], where["model"])
    if as_json:
        print_json(
            {
                "schema": SCHEMA,
                **where,
                "instances": streamed.instances,
                "rows": str(erased.folder),
                "findings": [finding.to_dict() for finding in found],
                "figures": [str(path) for path in drawn],
                "notes": list(erased.notes),
            }
        )
        return
    place = " ".join(where[name] for name in ("at", "how", "layer") if name in where)
    _show(found, f"{where['corpus']} {split}, {streamed.instances:,} texts, {place}")
    say(f"One row per text is in {erased.folder}{', pictures in its figures' if drawn else ''}.")


def _draw_words(frame: "DataFrame", folder: Path, seed: int) -> list[Path]:
    """What the top words of each ranking do, by the share of words taken out."""
    from heedful.drawing import draw_to
    from heedful.trials.erasure.share_curves import share_curves
    from heedful.trials.erasure.word_erasures import WordErasures

    return list(draw_to(folder / "shares", share_curves, WordErasures.from_frame(frame), seed))


def _draw_items(frame: "DataFrame", folder: Path, corpus: str, model: str) -> list[Path]:
    """The paper's forms of figure, as PNG and SVG."""
    from heedful.drawing import draw_to
    from heedful.papers.serrano_smith.forms import FORMS, form_tables

    made = form_tables(frame, corpus=corpus, model=model)
    return [path for form, tables in made.items() for path in draw_to(folder / form, FORMS[form], tables)]


def _names(given: str | None, known: Any) -> tuple[list[str] | None, dict[str, str]]:
    """The rankings asked for by name, None for all; and the files of one's own, by name."""
    from heedful.errors import choose_from
    from heedful.trials.rankings.named import check_own_names

    names: list[str] = []
    files: dict[str, str] = {}
    for part in [] if given is None else given.split(","):
        name, is_file, path = part.strip().partition("=")
        if is_file:
            check_own_names([name], {*known, *files})
            files[name] = path
        else:
            names.append(choose_from("ranking", name, known))
    return None if given is None else names, files


def _show(found: "Sequence[Finding]", title: str) -> None:
    """A table for each thing measured: each ranking's number with its interval, count and baselines."""
    from heedful.records.wording import decimals, in_brackets, number

    say(title)
    tables: dict[str, list[list[str]]] = {}
    for finding in found:
        where = finding.coordinates
        places = decimals(finding.value, finding.interval)
        label = [str(where.get("ranking", "all"))]
        label += [f"{name} {where[name]}" for name in ("share", "predicted") if name in where]
        ends = in_brackets(finding.interval, places) if finding.interval else ""
        beside = [finding.baselines.get(name) for name in ("random", "shuffled")]
        tables.setdefault(_heading(finding), []).append(
            [
                ", ".join(label),
                f"{number(finding.value, places)} {ends}",
                f"{finding.count:,}",
                *(number(null.value, places) if null else "" for null in beside),
            ]
        )
    columns = ["ranking", "value and 95 % interval", "n", "random", "shuffled"]
    for heading, rows in tables.items():
        print_table(heading, columns, rows, right=columns[1:])


def _heading(finding: "Finding") -> str:
    better = f"; {finding.better} is better" if finding.better else ""
    unit = (
        f" ({finding.unit}{better})" if finding.unit else f" ({finding.better} is better)" if better else ""
    )
    return f"{finding.name}{unit}"
