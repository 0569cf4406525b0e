"""`heedful bench transformer`, `passes`: how fast a transformer is read, and how much an audit reads."""

from typing import Annotated

import typer

from heedful.cli.options import AsJson, DataDir, Device, Seed, count
from heedful.cli.output import print_json, print_table


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
    from dataclasses import asdict

    from heedful.bench.transformer import measure_transformer, packaged_classifier
    from heedful.data.named import load_data
    from heedful.training.devices import find_device
    from heedful.training.opening import open_of_hub

    where = find_device(device)
    chosen = list(load_data(corpus, data_dir=data_dir, learn=False).split("test").texts[:texts])
    subject = packaged_classifier(device=where) if model is None else open_of_hub(model, device=device)
    found = measure_transformer(subject, chosen, rounds=rounds)
    if as_json:
        print_json({"schema": 1, **asdict(found), "share_of_products": found.share_of_products})
        return
    print_table(
        "A transformer without each word",
        ["leaving out every word", "ours is faster by a factor of"],
        [
            ["padded as they come, with weights", f"{found.padded / found.ours:.2f}"],
            ["sorted by length, padded, with weights", f"{found.by_length / found.ours:.2f}"],
        ],
    )
    typer.echo(
        f"{found.variants:,} variants of {found.texts} texts, {found.pieces:,} pieces; logits differ by at "
        f"most {found.largest_difference:.0e}. The matrix products alone take {found.share_of_products:.0%} "
        f"of our time. Two threads are {found.alone / found.two_threads:.2f} times as fast as one. Erasing "
        f"in the last layer by itself is {found.full_passes / found.last_layer:.1f} times as fast as by full "
        "passes."
    )


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
    from dataclasses import asdict

    from heedful.bench.minilm import learnt_minilm
    from heedful.bench.passes import audit_passes
    from heedful.data.named import load_data
    from heedful.training.devices import find_device
    from heedful.training.opening import open_of_hub

    where = find_device(device)
    chosen = load_data(corpus, data_dir=data_dir)
    if model is None:
        subject = learnt_minilm(chosen, seed=seed, device=where)
    else:
        subject = open_of_hub(model, device=device)
    found = audit_passes(subject, chosen, texts=texts, seed=seed)
    if as_json:
        print_json({"schema": 1, **asdict(found), "total": found.total})
        return
    print_table(
        f"An audit of {found.texts} texts in plain passes",
        ["stage", "passes", "ways back"],
        [
            [stage, f"{count:.1f}", f"{found.back.get(stage, 0):.1f}"]
            for stage, count in sorted(found.forth.items(), key=lambda item: -item[1])
        ],
    )
    typer.echo(
        f"{found.total:.0f} plain passes in all, and {sum(found.back.values()):.0f} ways back of gradients; "
        f"the reading is “{found.reading}”, from {found.changed_texts:,} changed texts. It announced "
        f"{found.announced:.0f} s at most and took {found.seconds:.0f} s."
    )
