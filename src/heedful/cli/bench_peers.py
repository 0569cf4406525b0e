"""`heedful bench peers` and `heedful bench families`: others' libraries, and transformers trained here."""

from pathlib import Path
from typing import Annotated, Any

import typer

from heedful.cli.options import AsJson, DataDir, Device, Seed, count
from heedful.cli.output import print_json, print_table, progress, say
from heedful.cli.stopping import can_be_stopped


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
    from dataclasses import asdict

    from heedful.bench.minilm import learnt_minilm
    from heedful.bench.peers import Peers, missing_peers
    from heedful.bench.transformer import packaged_classifier
    from heedful.data.named import load_data
    from heedful.training.devices import find_device
    from heedful.training.opening import open_of_hub

    where, learns = find_device(device), model == "minilm"
    source = load_data(corpus, data_dir=data_dir, learn=learns)
    chosen = list(source.split("test").texts[:texts])
    if learns:
        subject = learnt_minilm(source, learnt=1000, device=where)  # as many as the published table
    elif model is None:
        subject = packaged_classifier(device=where)
    else:
        subject = open_of_hub(model, device=device)
    missing = missing_peers()
    if missing:
        say(f"Not installed, and left out: {', '.join(missing)} (pip install 'heedful[peers]').")
    run = Peers(subject, chosen, samples=samples)
    with progress("comparisons", rounds * len(run)) as advance:
        rows = run.measure(rounds=rounds, done=lambda: advance(1))
    if as_json:
        found = [asdict(row) for row in rows]
        print_json({"schema": 1, "texts": len(chosen), "missing": missing, "rows": found})
        return
    first = {row.question: row.seconds for row in reversed(rows)}
    print_table(
        f"Of one text, mean of {len(chosen)}, one thread",
        [
            "question",
            "who",
            "words are",
            "time, ours is 1",
            "evaluations",
            "ρ with ours",
            "furthest from ours",
        ],
        [
            [
                row.question,
                row.who,
                row.how,
                f"{row.seconds / first[row.question]:.2f}",
                f"{row.evaluations:.0f}",
                "" if row.rank_correlation is None else f"{row.rank_correlation:.2f}",
                "" if row.furthest is None else f"{row.furthest:.0e}",
            ]
            for row in rows
        ],
        right=("time, ours is 1", "evaluations", "ρ with ours", "furthest from ours"),
    )


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
    from dataclasses import asdict

    from heedful.auditing.whole import audit
    from heedful.bench.families import FAMILIES, train_families
    from heedful.data.named import load_data
    from heedful.training.devices import find_device

    where = find_device(device)
    texts = load_data(corpus, data_dir=data_dir)
    rows: list[dict[str, Any]] = []
    chosen = family or list(FAMILIES)
    kept = "What was trained and audited is kept: give the same command again to go on."
    with can_be_stopped(kept), progress("families", len(chosen)) as advance:
        how: dict[str, Any] = {"vectors": vectors, "seed": seed, "device": where}
        for found in train_families(texts, out / "models", chosen, **how):
            row = asdict(found)
            if audited:
                said = audit(
                    f"hf:{out / 'models' / found.family}",
                    texts,
                    out=out / found.family,
                    limit=audited,
                    seed=seed,
                    device=device,
                )
                skill, better = said.verdict.skill, said.verdict.instead
                row |= {
                    "reading": said.verdict.reading,
                    "skill": None if skill is None else skill.value,
                    "instead": None if better is None else better.ranking,
                    "audit": str(said.folder),
                }
            rows.append(row)
            advance(1)
    if as_json:
        print_json({"schema": 1, "corpus": texts.name, "families": rows})
        return
    columns = ["family", "parameters", "dev", "test", "majority", "reading of attention", "skill", "better"]
    print_table(
        f"Transformers trained on {texts.name}",
        columns,
        [
            [
                row["family"],
                f"{row['parameters']:,}",
                *(f"{row[name]:.1%}" for name in ("dev", "test", "majority")),
                row.get("reading", ""),
                "" if row.get("skill") is None else f"{row['skill']:.2f}",
                row.get("instead") or "",
            ]
            for row in rows
        ],
    )
