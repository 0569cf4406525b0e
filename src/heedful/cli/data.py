"""`heedful data`: which corpora there are, and what is in one."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.asked import how_to_read
from heedful.cli.flags import gathers
from heedful.cli.options import AsJson, DataDir, Seed
from heedful.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from heedful.data.summary import Summary

app = typer.Typer(
    no_args_is_help=True,
    help="Look at corpora: the papers', generated ones, and your own files.\n\n"
    "Example: `heedful data list`, or `heedful data show reviews.csv`",
)


@app.command("list")
def list_corpora(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """List the corpora that are known by name, and whether each is at hand.

    Example: `heedful data list`
    """
    from heedful.data.catalogue import CATALOGUE
    from heedful.data.named import is_at_hand

    rows = [
        {"name": name, "description": entry.description, "at_hand": is_at_hand(name, data_dir=data_dir)}
        for name, entry in CATALOGUE.items()
    ]
    if as_json:
        print_json({"schema": 1, "corpora": rows})
        return
    print_table(
        "",
        ["name", "at hand", "what it is"],
        [[str(row["name"]), "yes" if row["at_hand"] else "no", str(row["description"])] for row in rows],
    )
    say("Any CSV, TSV, JSONL, Parquet or Excel file, a folder of texts by label, or hf:NAME is a corpus too.")


@app.command("show")
@gathers(columns=how_to_read)
def show_corpus(
    source: Annotated[str, typer.Argument(help="A corpus by name, a file, a folder, or hf:NAME.")],
    columns: Any = None,
    data_dir: DataDir = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Show a corpus: lengths, vocabulary, class sizes, a sample, and the papers' figures beside ours.

    Example: `heedful data show sst`, or `heedful data show reviews.csv --text body --label stars`
    """
    from heedful.data import load_data
    from heedful.data.summary import summarise
    from heedful.data.words import rules_for

    corpus = load_data(source, data_dir=data_dir, seed=seed, **columns)
    summary = summarise(corpus, rules=rules_for(corpus.texts))
    if as_json:
        print_json(summary.to_dict())
    else:
        show_summary(summary)


def show_summary(summary: "Summary") -> None:
    """Print a corpus for a person."""
    from heedful.data.corpus import SPLITS
    from heedful.data.summary import compare

    print_table(
        f"{summary.name}: {summary.texts:,} texts, {summary.vocabulary:,} words, "
        f"{summary.words.mean:.1f} words (s.d. {summary.words.sd:.1f}) and "
        f"{summary.sentences.mean:.1f} sentences (s.d. {summary.sentences.sd:.1f}) per text",
        ["class", *SPLITS],
        [
            [label, *[f"{summary.classes[split][label]:,}" for split in SPLITS]]
            for label in summary.label_names
        ],
        right=SPLITS,
    )
    rows = compare(summary)
    if rows:
        print_table(
            "Beside the published figures",
            ["figure", "theirs", "ours", "difference", "why"],
            [[row.figure, _number(row.theirs), _number(row.ours),
              f"{100 * row.difference:+.1f} %", row.reason] for row in rows],
            right=("theirs", "ours", "difference"),
        )  # fmt: skip
    print_table(
        "Samples",
        ["class", "text"],
        [[sample.label, _shorten(sample.text)] for sample in summary.samples],
    )
    for note in summary.notes:
        say(note)


def _number(value: float) -> str:
    return f"{value:,.4g}" if value % 1 else f"{value:,.0f}"


def _shorten(text: str, limit: int = 200) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"
