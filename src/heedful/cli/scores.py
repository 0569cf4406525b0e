"""`heedful scores`: what each word says and how much attention it draws, over the whole vocabulary."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.options import AsJson, DataDir, Device, count
from heedful.cli.output import print_json, print_table, say, signed

if TYPE_CHECKING:
    import pandas

SCHEMA = 1


def scores(
    run: Annotated[Path, typer.Argument(help="A run folder, as `heedful train` leaves it.")],
    local: Annotated[
        bool,
        typer.Option(
            "--local", help="Average each word over its occurrences in a split, instead of feeding it alone."
        ),
    ] = False,
    split: Annotated[str, typer.Option("--split", help="With --local: train, dev or test.")] = "train",
    top: Annotated[int, count("--top", help="Words to show of each kind.")] = 10,
    least: Annotated[int, count("--least", help="Show words that occur so often.")] = 5,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write all words to this CSV file.")] = None,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", help="Write all words to this Parquet file.")
    ] = None,
    data_dir: DataDir = None,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Show the most positive, negative and attended words of a model, and the mean scores of each type.

    A word's polarity is what its state alone says, its attention score how much it draws (Sun & Lu, 2020).
    Types go by how a word occurs in the classes' training texts.

    Example: `heedful scores runs/sst-dp`
    """
    from heedful.files import write_atomically
    from heedful.training import load_run
    from heedful.training.evaluation import encode_for
    from heedful.training.texts_of_run import corpus_of
    from heedful.understanding import find_types, local_scores, token_scores

    trained = load_run(run, device=device)
    model = trained.model
    corpus = corpus_of(trained, data_dir=data_dir)
    train = encode_for(model, corpus.split("train"))
    types = find_types(train, model.vocabulary, classes=model.classes)
    found = (
        local_scores(model, train if split == "train" else encode_for(model, corpus.split(split)))
        if local
        else token_scores(model)
    )
    frame = found.to_frame(types)
    if csv is not None:
        with write_atomically(csv) as file:
            frame.to_csv(file, index=False)
        say(f"{len(frame):,} words are in {csv}.")
    if parquet is not None:
        with write_atomically(parquet, "wb") as file:
            frame.to_parquet(file, index=False)
        say(f"{len(frame):,} words are in {parquet}.")
    by_type = found.by_type(types)
    if as_json:
        print_json(
            {
                "schema": SCHEMA,
                "kind": found.kind,
                "words": len(frame),
                "by_type": json.loads(by_type.to_json(orient="records")),
            }
        )
        return
    _show_highest(frame[frame["count"] >= least], list(found.columns()), top)
    print_table(
        f"Mean scores of each type ({found.kind} scores)",
        ["score", "type", "mean", "words"],
        [
            [row.score, row.type, signed(row.mean, "+.3f"), f"{row.words:,}"]
            for row in by_type.rename(columns={"count": "words"}).itertuples(index=False)
        ],
        right=("mean", "words"),
    )


def _show_highest(frame: "pandas.DataFrame", columns: list[str], top: int) -> None:
    """The words with the highest values of each score, and the lowest of a single polarity, side by side."""
    named = {"polarity": "most positive", "attention": "most attended", "weight": "largest weight"}
    lists: dict[str, list[str]] = {}
    for column in columns:
        ordered = frame.sort_values(column, ascending=False, kind="stable")
        heading = named.get(column, f"most {column.removeprefix('polarity ')}")
        lists[heading] = _listed(ordered.head(top), column)
        if column == "polarity":
            lists["most negative"] = _listed(ordered.iloc[::-1].head(top), column)
    rows = [[entries[place] for entries in lists.values()] for place in range(min(map(len, lists.values())))]
    print_table("", list(lists), rows)


def _listed(frame: "pandas.DataFrame", column: str) -> list[str]:
    return [f"{word} {value:+.2f}" for word, value in zip(frame["word"], frame[column], strict=True)]
