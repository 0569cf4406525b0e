"""How much attention varies over seeds, beside Jain & Wallace's adversary (Wiegreffe & Pinter, 2019, 3.2)."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from heedful.records import Claim, Finding
from heedful.study.experiment import Tables
from heedful.study.grid import load_origin
from heedful.study.ground import Ground, main_model
from heedful.study.pooling import MOST, cells, defined, headed, mean_over_texts, say_undefined, shown
from heedful.study.seeds import seeds_findings, seeds_variance
from heedful.study.wiegreffe_pinter.posthoc import is_bound, posthoc_rows
from heedful.study.workbench import Bench
from heedful.training.presets import prepare
from heedful.training.run import Run

PLACE = "Wiegreffe & Pinter (2019), 3.2"
ADVERSARY = {
    "divergence": "adversary_divergence",
    "kind": "adversary_kind",
    "search": "adversary_search",
}  # columns of the adversary, as they are called among those of seeds


def measure_seeds(bench: Bench, ground: Ground) -> Tables:
    """The attention of all seeds of each cell, compared text by text, and the adversary of the first."""
    study = ground.study("seeds")
    posthoc = _adversaries(bench, ground)
    runs: dict[tuple[str, str], list[Run]] = {}
    for cell, run in bench.runs(study):
        runs.setdefault((cell.corpus, cell.model), []).append(run)
    frames = []
    for (name, model), own in runs.items():
        corpus = load_origin(study.origin(name), bench.data_dir)
        found = seeds_variance(own, corpus)
        table = found.table.set_index("instance")
        far = posthoc[(posthoc["corpus"] == Path(name).stem) & (posthoc["model"] == model)]
        # Texts that were not taken have none: NaN.
        table = table.join(far.set_index("instance")[list(ADVERSARY)].rename(columns=ADVERSARY))
        table["adversary_divergence"] = table["adversary_divergence"].astype(float)
        table["decided_class"] = table["decided"].map(dict(enumerate(found.classes)))
        frames.append(table.reset_index().assign(corpus=Path(name).stem, model=model, runs=len(own)))
    table = pd.concat(frames, ignore_index=True).assign(seed=0)
    say_undefined(bench, table, "divergence", "no text has two words, which seeds could weigh differently")
    return {"seeds": table, "summary": summary(table)}


def _adversaries(bench: Bench, ground: Ground) -> pd.DataFrame:
    """The post-hoc adversary of flat models: that of two levels is about sentences, and seeds about words."""
    flat = [name for name in ground.models if not prepare(name, ground.settings)[0].hierarchical]
    if not flat:
        return pd.DataFrame(columns=["corpus", "model", "instance", *ADVERSARY])
    return posthoc_rows(bench, replace(ground, models=tuple(flat)))


def of_cell(rows: pd.DataFrame, **where: str) -> list[Finding]:
    """The findings of one cell's table, and how far the adversary goes."""
    found = seeds_findings(rows, seeds=int(rows["runs"].iloc[0]), coordinates=where)
    return [*found, *defined(adversary_finding(rows, **where), beyond_seeds(rows, **where))]


def seeds_tables_findings(tables: Tables) -> list[Finding]:
    """All findings of the table, cell by cell."""
    return [finding for where, rows in cells(tables["seeds"]) for finding in of_cell(rows, **where)]


def adversary_finding(rows: pd.DataFrame, **where: str) -> Finding | None:
    """The mean divergence of the first seed's post-hoc adversary; a lower bound where it was climbed for."""
    own = rows.dropna(subset=["adversary_divergence"])
    if not len(own):
        return None
    return mean_over_texts(
        own.assign(seed=0),
        "adversary_divergence",
        name="post-hoc adversary's divergence",
        measured=f"JSD to the farthest weights with nearly the same output, mean over texts; "
        f"{own['adversary_search'].iloc[0]}",
        unit="nats",
        kind="lower bound" if is_bound(own["adversary_kind"]) else "estimate",
        coordinates=where,
    )


def beyond_seeds(rows: pd.DataFrame, **where: str) -> Finding | None:
    """How much farther the first run's post-hoc adversary is from it than other seeds are, on the same texts.

    Each other seed is compared with it, and the interval is over those: one alone does not tell of others.
    """
    seeds = int(rows["runs"].iloc[0])
    both = rows.dropna(subset=["adversary_divergence", "divergence"])
    if not len(both):
        return None
    leads = [
        pd.DataFrame(
            {
                "seed": other,
                "instance": both["instance"],
                "lead": both["adversary_divergence"] - both[f"divergence_0_{other}"],
            }
        )
        for other in range(1, seeds)
    ]
    return mean_over_texts(
        pd.concat(leads, ignore_index=True),
        "lead",
        name="adversary's divergence beyond that of other seeds",
        measured=f"JSD of the first run's post-hoc adversary ({both['adversary_search'].iloc[0]}) minus that "
        f"of each of {seeds - 1} other seeds, from the first run and on the same texts",
        alone=False,
        within=(-MOST, MOST),
        unit="nats",
        kind="lower bound" if is_bound(both["adversary_kind"]) else "estimate",
        coordinates=where,
    )


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Divergence and overlap between seeds beside their shuffled weights', and the post-hoc adversary's."""
    lines = []
    for where, rows in cells(table):
        named = {finding.name: finding for finding in reversed(of_cell(rows))}  # the first is over all texts
        lines.append(
            {
                **headed(where),
                "JSD of seeds": _beside_shuffled(named.get("divergence between seeds")),
                "top overlap": _beside_shuffled(named.get("overlap of the top between seeds")),
                "adversary": shown(adversary_finding(rows)),
                "beyond seeds": shown(beyond_seeds(rows)),
                "seeds": int(rows["runs"].iloc[0]),
            }
        )
    return pd.DataFrame(lines)


def _beside_shuffled(finding: Finding | None) -> str:
    beside = f"; shuffled {finding.baselines['shuffled'].value:.3f}" if finding is not None else ""
    return f"{shown(finding)}{beside}"


def seeds_claims(tables: Tables) -> Sequence[Claim]:
    """That seeds vary far less than an adversary, and agree on more than chance: corpus by corpus."""
    claims = []
    for corpus, own in tables["seeds"].groupby("corpus", sort=False):
        model = main_model(own["model"])
        rows = own[own["model"] == model]
        where = {"corpus": str(corpus), "model": model}
        named = {finding.name: finding for finding in of_cell(rows, **where)}
        asked = {
            f"On {corpus}, the post-hoc adversary is farther from a run (the first) than other seeds are": (
                named.get("adversary's divergence beyond that of other seeds")
            ),
            f"On {corpus}, seeds agree on the top word more often than their shuffled weights do": (
                named.get("overlap of the top between seeds, above shuffled")
            ),
        }
        claims += [
            Claim.decided(statement, PLACE, effect=effect, comparison=">", threshold=0)
            for statement, effect in asked.items()
            if effect is not None
        ]
    return claims
