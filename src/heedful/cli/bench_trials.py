"""`heedful bench erasure`, `words` and `debate`: how fast the trials are beside the ways they replace."""

from pathlib import Path
from typing import Annotated, Any

import typer

from heedful.cli.options import AsJson, DataDir, Seed
from heedful.cli.output import print_json, print_table, progress, say
from heedful.errors import UserError, choose_from

ERASURE_PARTS = ("flips", "growth", "leave-one-out")
DEBATE_PARTS = ("tau", "adversary")
WORD_MODELS = ("dp", "flan-noenc", "flan-conv", "flan-rnn", "han-rnn")

Rounds = Annotated[int, typer.Option(min=1, help="Rounds of each comparison; the least counts.")]


def erasure(
    part: Annotated[
        list[str] | None,
        typer.Option(help=f"What to measure: {', '.join(ERASURE_PARTS)}; all unless said. Repeatable."),
    ] = None,
    instances: Annotated[int, typer.Option(min=1, help="Texts.")] = 500,
    shortest: Annotated[int, typer.Option(min=1, help="Words of the shortest text.")] = 150,
    longest: Annotated[int, typer.Option(min=1, help="Words of the longest text.")] = 400,
    width: Annotated[int, typer.Option(min=1, help="Numbers of a word's vector.")] = 100,
    classes: Annotated[int, typer.Option(min=2, help="Classes.")] = 10,
    first_length: Annotated[int, typer.Option(min=1, help="growth: words of a text at the start.")] = 500,
    doublings: Annotated[int, typer.Option(min=1, help="growth: how often that doubles.")] = 4,
    rounds: Rounds = 5,
    loop_rounds: Annotated[int, typer.Option(min=1, help="flips: rounds of the loops.")] = 3,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Time erasure at an attention layer beside loops over erasures, and leaving out one word beside Captum.

    The texts are made up by the seed. Example: `heedful bench erasure --part growth`
    """
    from heedful.bench.erasure import random_trace

    chosen = [
        choose_from("part of `heedful bench erasure`", name, ERASURE_PARTS) for name in part or ERASURE_PARTS
    ]
    if shortest > longest:
        raise UserError(f"The shortest text has {shortest} words, but the longest {longest}: give both.")
    shape = {"instances": instances, "shortest": shortest, "longest": longest}
    shape |= {"width": width, "classes": classes, "seed": seed}
    found: dict[str, Any] = {"shape": shape}
    for name in chosen:
        say(f"Measuring {name} …")
        if name == "flips":
            found[name] = _flips(random_trace(**shape), rounds, loop_rounds, quiet=as_json)
        elif name == "growth":
            lengths = tuple(first_length * 2**n for n in range(doublings + 1))
            found[name] = _growth(lengths, rounds, quiet=as_json)
        else:
            found[name] = _leave_one_out(random_trace(**shape), rounds, quiet=as_json)
    if as_json:
        print_json({"schema": 1, **found})


def words(
    model: Annotated[
        list[str] | None,
        typer.Option(help=f"A model by name; {', '.join(WORD_MODELS)} unless said. Repeatable."),
    ] = None,
    texts: Annotated[int, typer.Option(min=1, help="Texts.")] = 200,
    longest: Annotated[int, typer.Option(min=5, help="Words of the longest text.")] = 50,
    plain: Annotated[
        int, typer.Option(min=1, help="Texts that the slowest way is timed on, and scaled from.")
    ] = 5,
    rounds: Rounds = 3,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Time leaving out every word and reading the texts again, beside loops over variants and over texts.

    Texts are random words, and models untrained: neither changes the speed. Example: `heedful bench words`
    """
    from dataclasses import asdict

    from heedful.bench.words import measure_leave_one_out, random_texts
    from heedful.models.named import MODELS

    chosen = [choose_from("model", name, MODELS) for name in model or WORD_MODELS]
    batch = random_texts(texts=texts, longest=longest, seed=seed)
    found = []
    for name in chosen:
        say(f"Measuring {name} …")
        found.append(measure_leave_one_out(name, batch, rounds=rounds, plain=plain))
    if as_json:
        ratios = [{"times_plain": one.times_plain, "times_by_text": one.times_by_text} for one in found]
        models = [{**asdict(one), **ratio} for one, ratio in zip(found, ratios, strict=True)]
        print_json({"schema": 1, "models": models})
        return
    print_table(
        f"Leaving out each of {found[0].words:,} words in {texts} texts, × as fast as each loop",
        ["model", "loop over variants", "loop over texts", "closed form, × ours", "apart, at most"],
        [
            [
                one.model,
                f"{one.times_plain:.1f}",
                f"{one.times_by_text:.1f}",
                "–" if one.closed is None else f"{one.ours / one.closed:.1f}",
                f"{one.largest_difference:.1g}",
            ]
            for one in found
        ],
        right=("loop over variants", "loop over texts", "closed form, × ours", "apart, at most"),
    )


def debate(
    part: Annotated[
        list[str] | None,
        typer.Option(help=f"What to measure: {', '.join(DEBATE_PARTS)}; both unless said. Repeatable."),
    ] = None,
    length: Annotated[
        list[int] | None, typer.Option(min=2, help="tau: words of a text; 20, 200 and 400 unless said.")
    ] = None,
    instances: Annotated[int, typer.Option(min=1, help="tau: texts of each length.")] = 1000,
    texts: Annotated[int, typer.Option(min=1, help="adversary: test reviews of IMDB.")] = 2000,
    made: Annotated[bool, typer.Option("--made", help="adversary: made-up texts instead.")] = False,
    data_dir: DataDir = None,
    epsilon: Annotated[float, typer.Option(help="adversary: how far the output may move.")] = 0.01,
    restarts: Annotated[int, typer.Option(min=1, help="adversary: starts of the ascent.")] = 5,
    steps: Annotated[int, typer.Option(min=1, help="adversary: steps of the ascent.")] = 500,
    rounds: Rounds = 5,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Time Kendall's τ beside a loop over SciPy's, and the exact adversary beside gradient ascent.

    The adversary needs IMDB, on which a `dp` is trained first; the ascent takes minutes. Times are of the
    processor. Example: `heedful bench debate --part tau`
    """
    chosen = [
        choose_from("part of `heedful bench debate`", name, DEBATE_PARTS) for name in part or DEBATE_PARTS
    ]
    found: dict[str, Any] = {}
    for name in chosen:
        say(f"Measuring {name} …")
        if name == "tau":
            lengths = tuple(length or (20, 200, 400))
            found[name] = _tau(lengths, instances, rounds, seed, quiet=as_json)
        else:
            ascent = {"restarts": restarts, "steps": steps, "rounds": rounds}
            found[name] = _adversary(texts, epsilon, ascent, seed, made, data_dir, quiet=as_json)
    if as_json:
        print_json({"schema": 1, **found})


def _flips(trace: Any, rounds: int, loop_rounds: int, *, quiet: bool) -> dict[str, Any]:
    from dataclasses import asdict

    from heedful.bench.erasure import measure_flips

    times = measure_flips(trace, rounds=rounds, loop_rounds=loop_rounds)
    if not quiet:
        ways = {
            "usual loop": times.usual,
            "lean loop": times.lean,
            "heedful without numba": times.uncompiled,
            "heedful": times.ours,
        }
        print_table(
            f"Flip sizes of one ranking, {times.instances} texts of up to {times.longest} words, "
            f"{times.steps} steps (aim: at least 120 × the lean loop)",
            ["way", "ms", "× the lean loop"],
            [[way, f"{1000 * took:.2f}", f"{times.lean / took:.1f}"] for way, took in ways.items()],
            right=("ms", "× the lean loop"),
        )
        typer.echo(
            f"Texts on which two ways differ: {times.differing}. Five rankings and the exact minimum take "
            f"{times.whole_to_one:.1f} × one ranking (aim: at most 5)."
        )
    ratios = ("times_lean", "times_usual", "uncompiled_times_lean", "whole_to_one")
    return {**asdict(times), **{name: getattr(times, name) for name in ratios}}


def _growth(lengths: tuple[int, ...], rounds: int, *, quiet: bool) -> dict[str, Any]:
    from dataclasses import asdict

    from heedful.bench.erasure import measure_growth

    growth = measure_growth(lengths, rounds=rounds)
    if not quiet:
        first = growth.seconds[0]
        print_table(
            "One ranking and the exact minimum (aim: at most 30 × from the first length to 16 times it)",
            ["words of a text", "ms", "× the first", "× the one before"],
            [
                [f"{tokens:,}", f"{1000 * took:.2f}", f"{took / first:.2f}", f"{took / before:.2f}"]
                for tokens, took, before in zip(
                    growth.lengths, growth.seconds, (first, *growth.seconds), strict=False
                )
            ],
            right=("words of a text", "ms", "× the first", "× the one before"),
        )
    return {**asdict(growth), "ratio": growth.ratio}


def _leave_one_out(trace: Any, rounds: int, *, quiet: bool) -> dict[str, Any]:
    from dataclasses import asdict

    from heedful.bench.erasure import measure_leave_one_out

    times = measure_leave_one_out(trace, rounds=rounds)
    if not quiet:
        typer.echo(
            f"Leaving out each word at the layer: {1000 * times.ours:.2f} ms, Captum's FeatureAblation "
            f"{1000 * times.captum:.0f} ms: {times.ratio:.0f} × (aim: at least 50), "
            f"up to {times.largest_difference:.1g} apart."
        )
    return {**asdict(times), "ratio": times.ratio}


def _tau(
    lengths: tuple[int, ...], instances: int, rounds: int, seed: int, *, quiet: bool
) -> list[dict[str, Any]]:
    from dataclasses import asdict

    from heedful.bench.debate import measure_tau

    speeds = measure_tau(lengths, instances=instances, rounds=rounds, seed=seed)
    if not quiet:
        print_table(
            f"Kendall's τ-b with p-values of {instances:,} texts, beside a loop over scipy.stats.kendalltau "
            "(aims: 100 × at 20 words, 20 × at 200, 8 × at 400)",
            ["words", "loop, ms", "ours, ms", "×", "apart, at most"],
            [
                [
                    str(one.tokens),
                    f"{1000 * one.loop_seconds:.0f}",
                    f"{1000 * one.seconds:.1f}",
                    f"{one.ratio:.0f}",
                    f"{one.largest_difference:.1g}",
                ]
                for one in speeds
            ],
            right=("words", "loop, ms", "ours, ms", "×", "apart, at most"),
        )
    return [asdict(one) for one in speeds]


def _adversary(
    texts: int,
    epsilon: float,
    ascent: dict[str, int],
    seed: int,
    made: bool,
    data_dir: Path | None,
    *,
    quiet: bool,
) -> dict[str, Any]:
    from dataclasses import asdict

    from heedful.bench.debate import made_trace, measure_adversary, review_trace

    trace = made_trace(texts, seed=seed) if made else review_trace(texts, data_dir=data_dir, seed=seed)
    with progress("climbing, texts", len(trace)) as advance:
        speed = measure_adversary(trace, epsilon, **ascent, seed=seed, advance=advance)
    if not quiet:
        of = "made-up texts" if made else "test reviews of IMDB"
        typer.echo(
            f"The exact adversary on {speed.instances:,} {of}, {speed.mean_tokens:.0f} words on average: "
            f"{speed.seconds:.2f} s, the ascent with {ascent['restarts']} starts of {ascent['steps']} steps "
            f"{speed.ascent_seconds:.1f} s: {speed.ratio:.0f} × (aim: at least 150). It goes "
            f"{speed.mean_gain:.3f} nats farther on average ({speed.least_gain:.1g} at the least), is behind "
            f"the ascent on {speed.behind} texts, and over ε by at most {max(speed.largest_excess, 0):.1g}."
        )
    return {"made": made, **asdict(speed)}
