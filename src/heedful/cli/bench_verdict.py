"""`heedful bench verdict`: how the rule reads models whose attention is known to say little."""

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import AsJson, DataDir, Seed
from heedful.cli.output import print_json, print_table, say
from heedful.cli.stopping import can_be_stopped


def verdict(
    corpus: Annotated[str, typer.Option(help="A corpus by name, a file, a folder, or hf:NAME.")] = "sst",
    model: Annotated[str, typer.Option(help="A flat model or a preset by name.")] = "dp",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Audit so many texts. Default: as `heedful audit` takes.")
    ] = None,
    strength: Annotated[float, typer.Option(help="λ of the adversary.")] = 0.1,
    out: Annotated[Path, typer.Option(help="Folder for runs and rows; a restart goes on.")] = Path(
        "audits/controls"
    ),
    data_dir: DataDir = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Train a model and its controls (uniform, shuffled, an adversary), mix its weights, and read them all.

    Stability is not asked here, so the best reading is care. Takes minutes; docs/verdict.md has results.

    Example: `heedful bench verdict --corpus sst --out audits/controls-sst`
    """
    from heedful.data.named import load_data
    from heedful.files import check_folder
    from heedful.study.auditing.controls import control_evidence, evidence_table
    from heedful.verdict import Evidence, judge

    check_folder(out)
    texts = load_data(corpus, data_dir=data_dir)
    with can_be_stopped("What is measured so far is kept: give the same command again to go on."):
        found = control_evidence(
            texts,
            out,
            model=model,
            seed=seed,
            limit=limit,
            strength=strength,
            report=lambda name: say(f"{name} …"),
        )
    table = evidence_table(found)
    table["reading"] = [judge(Evidence(**part)).reading for part in found.values()]
    if as_json:
        records = table.astype(object).where(table.notna(), None).to_dict("records")
        print_json({"schema": 1, "corpus": corpus, "model": model, "seed": seed, "readings": records})
        return
    rows = [
        [
            row.subject,
            f"{row.accuracy:.3f}",
            f"{row.skill:.2f} [{row.low:.2f}, {row.high:.2f}]" if row.skill == row.skill else "–",
            f"{row.worst_class:.2f}" if row.worst_class == row.worst_class else "–",
            f"{row.gap:.2f}" if row.gap == row.gap else "–",
            row.reading,
        ]
        for row in table.itertuples(index=False)
    ]
    head = ["subject", "accuracy", "word skill", "worst class", "gap", "reading"]
    print_table(f"{model} on {corpus}, {table['texts'].iloc[0]:,} texts", head, rows)
