"""How much attention varies over seeds, beside Jain & Wallace's adversary (Wiegreffe & Pinter, 2019, 3.2)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from heedful.records import Claim, Finding, paired_difference
from heedful.study.experiment import Tables
from heedful.study.grid import load_origin
from heedful.study.ground import Ground, main_model
from heedful.study.jain_wallace.adversary import adversary_rows
from heedful.study.pooling import cells, shown
from heedful.study.seeds import seeds_findings, seeds_variance
from heedful.study.workbench import Bench
from heedful.training.run import Run

PLACE = "Wiegreffe & Pinter (2019), 3.2"


def measure_seeds(bench: Bench, ground: Ground) -> Tables:
    """The attention of all seeds of each cell, compared text by text, and the adversary of the first."""
    study = ground.study("seeds")
    runs: dict[tuple[str, str], list[Run]] = {}
    for cell, run in bench.runs(study):
        runs.setdefault((cell.corpus, cell.model), []).append(run)
    frames = []
    for (name, model), own in runs.items():
        corpus = load_origin(study.origin(name), bench.data_dir)
        found = seeds_variance(own, corpus)
        table = found.table.set_index("instance").assign(adversary_divergence=np.nan, adversary_kind="")
        if not own[0].recipe.model.hierarchical:  # whose adversary is about sentences, and seeds about words
            posthoc = adversary_rows(own[0], corpus, limit=ground.limit, restarts=3, steps=100)
            posthoc = posthoc.set_index("instance")
            table["adversary_divergence"] = posthoc["divergence"]  # NaN for the texts that were not taken
            table["adversary_kind"] = posthoc["kind"].iloc[0]
        table["decided_class"] = table["decided"].map(dict(enumerate(found.classes)))
        frames.append(table.reset_index().assign(corpus=Path(name).stem, model=model, runs=len(own)))
    table = pd.concat(frames, ignore_index=True).assign(seed=0)
    return {"seeds": table, "summary": summary(table)}


def of_cell(rows: pd.DataFrame, **where: str) -> list[Finding]:
    """The findings of one cell's table, with the names of its classes."""
    classes = dict(zip(rows["decided"], rows["decided_class"], strict=True))
    names = [str(classes.get(number, number)) for number in range(max(classes) + 1)]
    return seeds_findings(rows, seeds=int(rows["runs"].iloc[0]), classes=names, coordinates=where)


def seeds_tables_findings(tables: Tables) -> list[Finding]:
    """All findings of the table, cell by cell."""
    return [finding for where, rows in cells(tables["seeds"]) for finding in of_cell(rows, **where)]


def beyond_seeds(rows: pd.DataFrame, **where: str) -> Finding | None:
    """How much farther the post-hoc adversary is from a run than other seeds are, on the same texts."""
    both = rows.dropna(subset=["adversary_divergence", "divergence"])
    if not len(both):
        return None
    lead = paired_difference(both["adversary_divergence"], both["divergence"])
    exact = (both["adversary_kind"] == "exact").all()
    return Finding(
        "adversary's divergence beyond that between seeds",
        lead.value,
        interval=lead.interval,
        count=len(both),
        seeds=int(rows["runs"].iloc[0]),
        measured="JSD of the post-hoc adversary minus the mean JSD between seeds, paired over texts",
        unit="nats",
        kind="estimate" if exact else "lower bound",
        coordinates=where,
    )


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Divergence between seeds, overlap and the adversary's, by corpus and model."""
    lines = []
    for where, rows in cells(table):
        named = {finding.name: finding for finding in reversed(of_cell(rows))}  # the first is over all texts
        overlap = named["overlap of the top between seeds"]
        lines.append(
            {
                **where,
                "JSD between seeds": shown(named["divergence between seeds"]),
                "shuffled": f"{named['divergence between seeds'].baselines['shuffled'].value:.3f}",
                "top overlap": shown(overlap),
                "overlap, shuffled": f"{overlap.baselines['shuffled'].value:.3f}",
                "adversary beyond": shown(beyond_seeds(rows)),
                "seeds": int(rows["runs"].iloc[0]),
            }
        )
    return pd.DataFrame(lines)


def seeds_claims(tables: Tables) -> Sequence[Claim]:
    """That seeds vary far less than an adversary, and agree on more than chance: corpus by corpus."""
    claims = []
    for corpus, own in tables["seeds"].groupby("corpus", sort=False):
        model = main_model(own["model"])
        rows = own[own["model"] == model]
        where = {"corpus": str(corpus), "model": model}
        beyond = beyond_seeds(rows, **where)
        if beyond is not None:
            statement = f"On {corpus}, the post-hoc adversary is farther from a run than other seeds are"
            claims.append(Claim.decided(statement, PLACE, effect=beyond, comparison=">", threshold=0))
        named = {finding.name: finding for finding in reversed(of_cell(rows, **where))}
        claims.append(
            Claim.decided(
                f"On {corpus}, seeds agree on the top word more often than their shuffled weights do",
                PLACE,
                effect=named["overlap of the top between seeds, above shuffled"],
                comparison=">",
                threshold=0,
            )
        )
    return claims
