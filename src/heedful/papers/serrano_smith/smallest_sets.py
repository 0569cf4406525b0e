"""The exact smallest sets, which the paper calls prohibitive: how far each ranking is from them. Ours."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from heedful.drawing import YELLOW, new_figure
from heedful.papers.names import corpus_label, model_label
from heedful.papers.serrano_smith.layout import COLOUR, LABELS
from heedful.papers.serrano_smith.over_models import (
    highest,
    lowest,
    nothing,
    paper,
    pick,
    share_of_models,
)
from heedful.papers.serrano_smith.rows import COORDINATES, RANKINGS, each_cell, measured, rows_of
from heedful.records import Claim, Finding
from heedful.study.experiment import Experiment, Tables
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Items taken ÷ items of the smallest set: never below 1, so more than 1 would say nothing.
NEAR_OPTIMAL = 1.25
TICKS = (1, 2, 5, 10, 20, 50, 100)
MARKERS = {"random": "s", "attention": "o", "gradient": "^", "product": "D", "contribution": "v"}


def exact_table(rows: pd.DataFrame, rankings: Sequence[str]) -> pd.DataFrame:
    """How far each ranking is from the smallest sets, by model."""
    from heedful.trials import compare, no_short_set, optimal_share, optimality_gap

    found: list[Finding] = []
    for cell in each_cell(rows):
        erasures, about = cell.erasures, cell.coordinates
        if not compare(erasures, cell.rankings).kept.any():
            continue
        found += optimality_gap(erasures, rankings, coordinates=about)
        found += optimal_share(erasures, rankings, coordinates=about)
        found += [no_short_set(erasures, share=share, coordinates=about) for share in (0.1, 0.5)]
    return pd.DataFrame([finding.to_row() for finding in found])


def measure(bench: Bench) -> Tables:
    """The smallest sets, how far each ranking is from them, and the mathematics checked: ours."""
    from heedful.papers.serrano_smith.paths import check_paths

    rows = rows_of(bench)
    found = exact_table(rows, [name for name in RANKINGS if name != "shuffled"])
    checked = measured(bench, Measure(check_paths, {"texts": 200}))
    return {"summary": gaps_of(found), "findings": found, "paths": checked}


def gaps_of(findings: pd.DataFrame) -> pd.DataFrame:
    """How many times as many items each ranking takes as the smallest set has, a model a row.

    Beside them stands what attention takes after its weights were shuffled, of the smallest sets for these.
    """
    gaps = findings[findings["name"] == "optimality gap"]
    rows = []
    for about, own in gaps.groupby([*COORDINATES], sort=False):
        own = own.set_index("ranking")
        shown = {name: _told(own.loc[name]) for name in own.index}
        shuffled = f"{own.loc['attention', 'baseline_shuffled']:.2f}"
        rows.append({**dict(zip(COORDINATES, about, strict=True)), **shown, "shuffled": shuffled})
    return pd.DataFrame(rows)


def _told(gap: pd.Series) -> str:
    return f"{gap['value']:.2f} [{gap['low']:.2f}, {gap['high']:.2f}]"


def exact_claims(tables: Tables) -> Iterator[Claim]:
    """What the smallest sets add to the paper: ours."""
    findings, paths = tables["findings"], tables["paths"]
    source = "ours, against the exact smallest sets"
    gaps = pick(findings, "optimality gap", ranking="attention")
    beyond = "Ranking by attention takes over 25 % (our number) more items than the smallest sets, on average"
    yield Claim.decided(
        f"{beyond}, in every model",
        source,
        effect=lowest(gaps, "optimality gap of attention"),
        comparison=">",
        threshold=NEAR_OPTIMAL,
    )
    yield Claim.decided(
        f"{beyond}, in most models",
        source,
        effect=share_of_models(gaps, "attention far from the smallest sets", above=NEAR_OPTIMAL),
        comparison=">",
        threshold=0.5,
    )
    gaps = pick(findings, "optimality gap", ranking="product")
    yield Claim.decided(
        "Gradient × attention is within 25 % (our number) of the smallest sets, in every model",
        source,
        effect=highest(gaps, "optimality gap of gradient × attention"),
        comparison="<=",
        threshold=NEAR_OPTIMAL,
    )
    yield from _path_claims(paths)


def _path_claims(paths: pd.DataFrame) -> Iterator[Claim]:
    for column, statement in (
        ("differ", "The closed form and the head run again agree on the size of every flip"),
        ("below_exact", "No ranking ever flips with fewer items than the smallest set has"),
        ("set_fails", "Erasing the smallest set changes the decision, to the class foretold"),
        (
            "smaller_flips",
            "No set smaller than the smallest set flips, of all subsets of texts with at most 12 items",
        ),
    ):
        rows = paths[paths["check"] == column]
        yield Claim.decided(
            f"{statement}, on trained models",
            "The mathematics of erasure (docs/erasure.md)",
            effect=_exactly(column, rows),
            comparison="<=",
            threshold=0,
        )


def _exactly(name: str, rows: pd.DataFrame) -> Finding:
    """The number of violations in all cases checked: a count of everything, so it needs no interval."""
    if not rows["cases"].any():
        return nothing(f"violations ({name})")
    return Finding(
        f"violations ({name})",
        float(rows["violations"].sum()),
        count=int(rows["cases"].sum()),
        measured="cases where it is not so, near-ties of rounding left out and counted",
        kind="exact",
        coordinates={"near_ties": int(rows["near_ties"].sum())},
    )


def optimality(tables: Tables) -> "Figure":
    """The mean optimality gap of each ranking with its 95 % interval, on a logarithmic axis; 1 is optimal."""
    findings = tables["findings"]
    gaps = findings[findings["name"] == "optimality gap"]
    models, corpora = list(gaps["model"].unique()), list(gaps["corpus"].unique())
    figure = new_figure(max(6.0, 2.6 * len(corpora) + 1.0), 0.42 * len(models) + 1.5)
    axes = figure.subplots(1, len(corpora), squeeze=False, sharex=True, sharey=True)[0]
    for axis, corpus in zip(axes, corpora, strict=True):
        for ranking, marker in MARKERS.items():
            rows = gaps[(gaps["corpus"] == corpus) & (gaps["ranking"] == ranking)]
            axis.errorbar(
                rows["value"],
                [models.index(model) for model in rows["model"]],
                xerr=[rows["value"] - rows["low"], rows["high"] - rows["value"]],
                linestyle="none",
                marker=marker,
                markersize=4.5,
                color=COLOUR.get(ranking, YELLOW),
                label=LABELS.get(ranking, ranking),
            )
        axis.set_xscale("log")
        axis.axvline(1, color="black", linewidth=0.8)
        axis.set_title(corpus_label(corpus), fontsize=9)
        axis.set_yticks(range(len(models)), [model_label(model) for model in models])
        axis.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
        axis.minorticks_off()
    most = max(2.0, float(gaps["high"].max()))
    axes[0].set_xlim(0.9, 1.15 * most)
    axes[0].set_ylim(len(models) - 0.5, -0.5)
    figure.supxlabel("items needed ÷ items of the smallest set (mean; 1 is optimal)", fontsize=9)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=5, fontsize=7.5)
    return figure


EXPERIMENT = Experiment(
    "serrano-smith-exact",
    "The exact smallest sets: how far each ranking is from them (not in the paper)",
    paper("section 5.1 calls it prohibitive"),
    measure,
    exact_claims,
    {"serrano-smith-exact": optimality},
)
