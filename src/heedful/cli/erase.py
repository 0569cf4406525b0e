"""`heedful erase`: take items or words away until the decision moves, over a whole split."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.options import AsJson, DataDir, Device, Seed
from heedful.cli.output import print_json, print_table, progress, say
from heedful.cli.stopping import can_be_stopped

if TYPE_CHECKING:
    from pandas import DataFrame

    from heedful.records import Finding

SCHEMA = 1


def erase(
    run: Annotated[Path, typer.Argument(help="A run folder, as `heedful train` leaves it.")],
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
        typer.Option("--level", help="Which attention layer: final, or words (of a hierarchical model)."),
    ] = "final",
    at_input: Annotated[
        bool, typer.Option("--input", help="Take words out of the texts, and read them again.")
    ] = False,
    how: Annotated[
        str, typer.Option("--how", help="With --input: delete words, or make them the unknown word.")
    ] = "delete",
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Try so many texts, drawn by the seed. Default: all.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the results. Default: trials/… in the run.")
    ] = None,
    data_dir: DataDir = None,
    seed: Seed = 0,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Erase what attention ranks first, beside other rankings, and see when the decision moves.

    At the attention layer items are erased from what it saw; with --input words leave the text, and the model
    reads it again: word skill, comprehensiveness, sufficiency. One row a text is written as it comes, and an
    interrupted trial goes on when the same command is given again. At the layer, figures of Serrano & Smith's
    forms are drawn beside the rows.

    Example: `heedful erase runs/sst-dp`, or `heedful erase runs/sst-dp --input --limit 500`, or
    `heedful erase runs/sst-dp --rankings attention,captum=scores.npy`
    """
    from heedful.errors import UserError, choose_from
    from heedful.files import check_folder
    from heedful.training import load_run
    from heedful.training.texts_of_run import corpus_of, encode_for
    from heedful.trials import RANKINGS
    from heedful.trials.erasure.deletion import WAYS
    from heedful.trials.rankings.own_scores import read_scores
    from heedful.trials.rankings.word_rankings import WORD_RANKINGS
    from heedful.trials.stream import RECIPE, sample_rows, stream
    from heedful.trials.streamed_trials import layer_findings, layer_trial, word_findings, word_trial

    names, files = _names(rankings, WORD_RANKINGS if at_input else RANKINGS)
    if at_input and level != "final":
        raise UserError("Words leave the whole text, not one layer: leave out --level, or --input.")
    if how != "delete" and not at_input:
        raise UserError("How words are taken out is a matter of --input: add it, or leave out --how.")
    choose_from("way to take out words", how, WAYS)
    if out is not None:
        check_folder(out, marks=(RECIPE,))
    trained = load_run(run, device=device)
    model = trained.model
    if not at_input:
        choose_from(
            "attention level of this model",
            level,
            ("final", "words") if model.settings.hierarchical else ("final",),
        )
    corpus = corpus_of(trained, data_dir=data_dir).split(split)
    if not len(corpus):
        raise UserError(f"The corpus {corpus.name} has no {split} split: choose another.")
    own = {name: read_scores(name, path, texts=len(corpus)) for name, path in files.items()}
    rows = sample_rows(len(corpus), limit, seed=seed)
    where = {"at": "input", "how": how} if at_input else {"at": "layer", "layer": level}
    coordinates = {
        "corpus": corpus.name,
        "model": str(trained.recipe.corpus.get("preset", "")),
        "split": split,
        **where,
    }
    recipe = {
        **coordinates,
        "fingerprint": trained.recipe.corpus["fingerprint"],
        "weights": _digest(trained.folder),
        "rankings": names,
        "seed": seed,
        **({"own": {name: scores.digest for name, scores in own.items()}} if own else {}),
    }
    folder = out or _default_folder(run, recipe, limit)
    trial = (
        word_trial(model, names, own=own, seed=seed, how=how)
        if at_input
        else layer_trial(model, names, own=own, level=level, seed=seed)
    )
    kept = "The texts that were tried have their rows: give the same command again to go on."
    with can_be_stopped(kept), progress(f"{corpus.name}, texts", len(rows)) as advance:
        streamed = stream(
            trial, model, encode_for(model, corpus), folder, recipe=recipe, rows=rows, progress=advance
        )
    if streamed.skipped:
        say(f"{streamed.skipped} of {streamed.batches} batches were there from before.")
    frame = streamed.rows()
    found, notes = (
        word_findings(frame, classes=model.classes, coordinates=coordinates, seed=seed)
        if at_input
        else layer_findings(frame, coordinates=coordinates, seed=seed)
    )
    for note in notes:
        say(note)
    drawn = [] if at_input else _draw(frame, corpus.name, coordinates["model"], folder)
    result = {
        "schema": SCHEMA,
        **coordinates,
        "instances": streamed.instances,
        "rows": str(folder),
        "findings": [finding.to_dict() for finding in found],
        "figures": [str(path) for path in drawn],
        "notes": notes,
    }
    if as_json:
        print_json(result)
        return
    _show(found, f"{corpus.name} {split}, {streamed.instances:,} texts, {' '.join(map(str, where.values()))}")
    say(f"One row a text is in {folder}{', pictures in its figures' if drawn else ''}.")


def _draw(frame: "DataFrame", corpus: str, model: str, folder: Path) -> list[Path]:
    """The paper's forms of figure, as PNG and SVG in FOLDER/figures."""
    from heedful.drawing import draw_to
    from heedful.papers.serrano_smith.forms import FORMS, form_tables

    made = form_tables(frame, corpus=corpus, model=model)
    return [
        path
        for form, tables in made.items()
        for path in draw_to(folder / "figures" / form, FORMS[form], tables)
    ]


def _names(given: str | None, known: Any) -> tuple[list[str] | None, dict[str, str]]:
    """The rankings asked for by name, None for all; and the files of one's own, by name."""
    from heedful.errors import choose_from
    from heedful.trials.rankings.own_scores import check_own_names

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


def _digest(folder: Path | None) -> str:
    """Of the trained weights: results of another model are never taken for those of this one."""
    import hashlib

    from heedful.training.run import WEIGHTS

    assert folder is not None
    with open(folder / WEIGHTS, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest()


def _default_folder(run: Path, recipe: dict[str, Any], limit: int | None) -> Path:
    """A place in the run for each thing that can be asked, so that asking again goes on or is answered."""
    import hashlib
    import json

    key = hashlib.blake2b(json.dumps([recipe, limit]).encode(), digest_size=4).hexdigest()
    return run / "trials" / f"erase-{recipe['at']}-{recipe['split']}-{key}"


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
