"""How much attention varies over seeds, beside Jain & Wallace's adversary (Wiegreffe & Pinter, 2019, 3.2)."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from heedful.drawing import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, empty_figure
from heedful.papers.debate.panels import LARGEST, QUARTERS, by_quarter, label_outer, panels
from heedful.papers.debate.stage import Stage
from heedful.papers.debate.trainings import Trainings, main_cells
from heedful.papers.jain_wallace.adversary import is_bound, posthoc_rows
from heedful.papers.wiegreffe_pinter.run_scores import headed
from heedful.papers.wiegreffe_pinter.uniform import SEEDS
from heedful.records import Claim, Finding
from heedful.study.experiment import Tables
from heedful.study.grid import load_origin
from heedful.study.pooling import MOST_APART, cells, defined, mean_over_texts, say_undefined, shown
from heedful.study.workbench import Bench
from heedful.training.presets import prepare

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from heedful.training import Run

PLACE = "Wiegreffe & Pinter (2019), 3.2"
ADVERSARY = {
    "divergence": "adversary_divergence",
    "kind": "adversary_kind",
    "search": "adversary_search",
}  # columns of the adversary, as they are called among those of seeds
FEWEST = 10  # texts of which a violin is drawn


def measure(bench: Bench, trainings: Trainings) -> Tables:
    """The attention of all seeds of each cell, compared text by text, and the adversary of the first."""
    from heedful.study.seeds import seeds_variance

    study = trainings.study("seeds")
    posthoc = _adversaries(bench, trainings)
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


def _adversaries(bench: Bench, trainings: Trainings) -> pd.DataFrame:
    """The post-hoc adversary of flat models: that of two levels is about sentences, and seeds about words."""
    flat = [name for name in trainings.models if not prepare(name, trainings.settings)[0].hierarchical]
    if not flat:
        return pd.DataFrame(columns=["corpus", "model", "instance", *ADVERSARY])
    return posthoc_rows(bench, replace(trainings, models=tuple(flat)))


def of_cell(rows: pd.DataFrame, **where: str) -> list[Finding]:
    """The findings of one cell's table, and how far the adversary goes."""
    from heedful.study.seeds import seeds_findings

    found = seeds_findings(rows, seeds=int(rows["runs"].iloc[0]), coordinates=where)
    return [*found, *defined(adversary_finding(rows, **where), beyond_seeds(rows, **where))]


def findings(tables: Tables) -> list[Finding]:
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
        within=(-MOST_APART, MOST_APART),
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


def claims(tables: Tables) -> Iterator[Claim]:
    """That seeds vary far less than an adversary, and agree on more than chance: corpus by corpus."""
    for where, rows in main_cells(tables["seeds"]):
        named, on = {finding.name: finding for finding in of_cell(rows, **where)}, f"On {where['corpus']}"
        asked = {
            f"{on}, the post-hoc adversary is farther from a run (the first) than other seeds are": (
                "adversary's divergence beyond that of other seeds"
            ),
            f"{on}, seeds agree on the top word more often than their shuffled weights do": (
                "overlap of the top between seeds, above shuffled"
            ),
        }
        for statement, name in asked.items():
            if name in named:
                yield Claim.decided(statement, PLACE, effect=named[name], comparison=">", threshold=0)


def figure(tables: Tables) -> "Figure":
    """Violins of the mean divergence between seeds; lines show shuffled weights and the adversary.

    "≥" at the adversary's line says that it was climbed for: its divergence is a lower bound.
    """
    table = tables["seeds"].dropna(subset=["divergence"])
    figure, cells_drawn = panels(table, 2.1, above=1.2, sharey=True)
    if not cells_drawn:
        return empty_figure("No text has two words or more, so seeds cannot differ.")
    entries: dict[str, Any] = {}
    for axis, rows in cells_drawn:
        _draw(axis, rows)
        axis.set_title(f"{axis.get_title()}, {int(rows['runs'].iloc[0])} seeds")
        axis.set_xlabel(f"{LARGEST} (first seed)")
        axis.set_ylabel("JSD between seeds, nats")
        axis.set_ylim(0, 0.72)
        # Corpora have classes of their own, so every panel may have something to add.
        handles, labels = axis.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    label_outer(figure.axes)
    names = sorted(entries, key=lambda label: not label.startswith("decided"))
    columns = 2 if len(entries) <= 4 else 3
    figure.legend([entries[name] for name in names], names, loc="outside upper center", ncols=columns)
    return figure


def _draw(axis: Any, rows: pd.DataFrame) -> None:
    classes = list(dict.fromkeys(rows.sort_values("decided")["decided_class"]))
    colours = [(BLUE, ORANGE, GREEN, GREY)[number % 4] for number in range(len(classes))]
    for number, place, width, own in by_quarter(axis, rows, "divergence", classes, fewest=FEWEST):
        parts = axis.violinplot(
            own, positions=[place], widths=0.9 * width, showmedians=True, showextrema=False
        )
        for body in parts["bodies"]:
            body.set_facecolor(colours[number])
            body.set_alpha(0.6)
        parts["cmedians"].set_color(BLACK)
    for name, colour in zip(classes, colours, strict=True):
        axis.plot([], [], "s", color=colour, alpha=0.6, label=f"decided: {name}")
    shuffled, adversary = rows["shuffled_divergence"].mean(), rows["adversary_divergence"].mean()
    axis.axhline(shuffled, color=PURPLE, linestyle="--", linewidth=1, label="shuffled weights, mean")
    axis.axhline(adversary, color=BLACK, linestyle=":", linewidth=1, label="post-hoc adversary, mean")
    if is_bound(rows["adversary_kind"].dropna()):
        at = len(QUARTERS) - 0.45
        axis.text(at, adversary + 0.01, "≥ (lower bound)", ha="right", va="bottom", fontsize=7)


STAGE = Stage(
    "seeds",
    "How much attention varies over seeds",
    PLACE,
    measure,
    findings,
    claims,
    {"wiegreffe-pinter-seeds": figure},
    seeds="all",
)
EXPERIMENT = STAGE.in_paper("wiegreffe-pinter", seeds=SEEDS)
