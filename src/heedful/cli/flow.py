"""`heedful flow`: where training is pushing the scores of words, term by term, and what that means."""

import json
from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import AsJson, DataDir, Device
from heedful.cli.output import print_json, print_table, say, signed

SCHEMA = 1


def flow(
    run: Annotated[Path, typer.Argument(help="A run folder, as `heedful train` leaves it.")],
    csv: Annotated[
        Path | None, typer.Option("--csv", help="Write the terms of all words to this file.")
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            "--figure", help="Draw a watched run to NAME.png and .svg: scores, terms and VᵀW over training."
        ),
    ] = None,
    data_dir: DataDir = None,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Show the terms of the gradient flow of a trained model by token type (Sun & Lu, 2020, Eq. 19 and 27).

    A, B and C move a word's polarity, D, E and F its attention score; D pulls the classes apart where V and W
    look the same way. A run that was trained with --watch gets advice too.

    Example: `heedful flow runs/sst-dp`, or `heedful flow runs/sst-dp --figure sst-dp.png`
    """
    from heedful.files import write_atomically
    from heedful.training import load_run
    from heedful.training.evaluation import encode_for
    from heedful.training.texts_of_run import corpus_of
    from heedful.understanding import advise, find_types, flow_terms

    trained = load_run(run, device=device)
    model = trained.model
    if figure is not None:
        from heedful.drawing import draw_to
        from heedful.papers.sun_lu.watched import draw_watched

        stem = figure.with_suffix("") if figure.suffix in (".png", ".svg") else figure
        png, svg = draw_to(stem, draw_watched, trained.history)
        say(f"The picture is {png}, and {svg}.")
    train = encode_for(model, corpus_of(trained, data_dir=data_dir).split("train"))
    types = find_types(train, model.vocabulary, classes=model.classes)
    terms = flow_terms(model, train)
    if csv is not None:
        frame = terms.to_frame(types)
        with write_atomically(csv) as file:
            frame.to_csv(file, index=False)
        say(f"The terms of {len(frame):,} words are in {csv}.")
    by_type = terms.by_type(types)
    watched = "watch" in set(trained.history["kind"])
    advice = advise(trained).summary() if watched else None
    if as_json:
        rows = json.loads(by_type.to_json(orient="records"))
        print_json({"schema": SCHEMA, "by_type": rows, "advice": advice})
        return
    kinds = list(dict.fromkeys(by_type["type"]))
    means = by_type.pivot(index="quantity", columns="type", values="mean")
    print_table(
        "Mean of each term by token type, over the training texts",
        ["term", *kinds],
        [
            [str(name), *[signed(means.loc[name, kind], "+.2e") for kind in kinds]]
            for name in dict.fromkeys(by_type["quantity"])
        ],
        right=kinds,
    )
    typer.echo(advice or "Train with --watch to have the terms recorded, and advice on λ and the penalty.")
