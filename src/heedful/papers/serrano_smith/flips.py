"""Who flips the decision alone: the top item, or a random other one? (4.2: Table 2, Figs. 9, 12, 13.)"""

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

import pandas as pd

from heedful.drawing import BLUE, GREY, ORANGE
from heedful.papers.serrano_smith.layout import LABELS, of_panel, panels, say_empty
from heedful.papers.serrano_smith.over_models import (
    PAIR,
    differences,
    highest,
    lowest,
    mean_over_models,
    paper,
    part_of,
    pick,
    share_of_models,
)
from heedful.papers.serrano_smith.rows import MODELS, each_cell, rows_of
from heedful.papers.serrano_smith.single_items import single_table
from heedful.records import Claim, benjamini_hochberg
from heedful.study.experiment import Experiment, Tables
from heedful.study.workbench import Bench

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Row 0: the top item flips the decision, 1: it does not; column 0: the random other item does, 1: not.
PLACES = {"both": (0, 0), "top_only": (0, 1), "other_only": (1, 0), "neither": (1, 1)}
COLOURS = {"both": GREY, "top_only": BLUE, "other_only": ORANGE, "neither": "#FFFFFF"}


def flips(rows: pd.DataFrame, ranking: str = "attention") -> pd.DataFrame:
    """In how many instances the top item of a ranking, and a random other one, flips the decision alone.

    McNemar's p-values are also adjusted for the number of models (Benjamini & Hochberg).
    """
    from heedful.trials import flip_table

    found = []
    for cell in each_cell(rows):
        table = flip_table(cell.single(ranking))
        found.append(
            {
                **cell.coordinates,
                "ranking": ranking,
                "tested": table.count,
                "both": table.both,
                "top_only": table.top_only,
                "other_only": table.other_only,
                "neither": table.neither,
                "one_item": table.alone,
                "p": table.p_value,
            }
        )
    frame = pd.DataFrame(found)
    return frame.assign(p_adjusted=benjamini_hochberg(frame["p"]))


def shares(flipped: pd.DataFrame) -> pd.DataFrame:
    """The contingency tables in percent, as the paper prints them."""
    cells = ["both", "top_only", "other_only", "neither"]
    percent = 100 * flipped[cells].div(flipped["tested"].clip(lower=1), axis=0)
    return flipped.assign(**{f"{name}_%": percent[name].round(1) for name in cells}).drop(columns=cells)


def measure(bench: Bench, *, models: tuple[str, ...] = MODELS, ranking: str = "attention") -> Tables:
    """The contingency tables of one ranking's top item: Table 2, Figs. 9, 12, 13."""
    rows = rows_of(bench, models)
    counted = flips(rows, ranking)
    findings = single_table(rows, (ranking,))
    return {"summary": shares(counted), "flips": counted, "findings": findings}


def flip_claims(tables: Tables) -> Iterator[Claim]:
    """Table 2 and Fig. 9."""
    findings = tables["findings"]
    yield Claim.decided(
        "In the vast majority (75 %) of instances erasing the top item does not change the decision, in "
        "every model",
        paper("section 4.2"),
        effect=highest(pick(findings, "flips by the top item"), "flips by the top item"),
        comparison="<",
        threshold=0.25,
    )
    name = "flips by the top item beyond a random other"
    yield Claim.decided(
        "The top item alone flips the decision more often than a random other item alone, in every model",
        paper("section 4.2"),
        effect=lowest(pick(findings, name), name),
        comparison=">",
        threshold=0,
    )
    name = "wrong flips − negative ΔJS"
    yield Claim.decided(
        "Of the instances that exactly one of the two flips, the random other item's share mirrors the share "
        "of negative ΔJS (within 10 points), on average over models",
        paper("section 4.2"),
        effect=mean_over_models(pick(findings, name), name),
        comparison="within",
        threshold=0.1,
    )


def family_claims(tables: Tables) -> Iterator[Claim]:
    """Fig. 9, which has all architectures."""
    findings = tables["findings"]
    wrong = pick(findings, "wrong flips")
    encoder = wrong.assign(encoder=part_of(wrong, 1))
    flat, nested = (encoder[part_of(encoder, 0) == family] for family in ("flan", "han"))
    yield Claim.decided(
        "The random other item is less often the one that flips in FLANs than in HANs, on average over "
        "corpora and encoders",
        paper("section 4.2, footnote 5"),
        effect=mean_over_models(differences(flat, nested, by=(*PAIR, "encoder")), "wrong flips, FLAN − HAN"),
        comparison="<",
        threshold=0,
    )
    yield Claim.decided(
        "Without an encoder, more instances have the decision flipped by the top or the random item than "
        "with any encoder, in most (7 of 8) pairs of corpus and HAN or FLAN",
        paper("A.2"),
        effect=share_of_models(_brittle(findings), "more flips without an encoder", above=0),
        comparison=">=",
        threshold=7 / 8,
    )


def gradient_top_claims(tables: Tables) -> Iterator[Claim]:
    """Fig. 12."""
    rows = pick(tables["findings"], "flips beyond attention's top item", ranking="gradient")
    lower = rows.assign(value=-rows["value"], low=-rows["high"], high=-rows["low"])
    yield Claim.decided(
        "The top item by gradient flips fewer decisions than the top item by attention in at least 14 of 24 "
        "models",
        paper("A.3"),
        effect=share_of_models(lower, "gradient's top item flips less", above=0),
        comparison=">=",
        threshold=14 / 24,
    )


def product_top_claims(tables: Tables) -> Iterator[Claim]:
    """Fig. 13."""
    name = "flips beyond attention's top item"
    yield Claim.decided(
        "The top item by gradient × attention flips more decisions than the top item by attention, in every "
        "model",
        paper("A.3"),
        effect=lowest(pick(tables["findings"], name, ranking="product"), name),
        comparison=">",
        threshold=0,
    )


def _brittle(findings: pd.DataFrame) -> pd.DataFrame:
    """noenc − the most brittle encoder, by corpus and family."""
    rows = pick(findings, "either flips")
    rows = rows.assign(family=part_of(rows, 0), encoder=part_of(rows, 1))
    keys = [*PAIR, "family"]
    without = rows[rows["encoder"] == "noenc"]
    rest = rows[rows["encoder"] != "noenc"]
    ends = {"value": "max", "low": "max", "high": "max", "count": "min", "measured": "first"}
    return differences(without, rest.groupby(keys, as_index=False).agg(ends), by=keys)


def contingency(tables: Tables) -> "Figure":
    """A two by two table for each model and corpus, in percent of the texts tested."""
    flips = tables["flips"]
    figure, made = panels(flips, width=1.75, beside=1.2, height=1.15, extra=0.7)
    for axis, model, corpus in made:
        _table(axis, of_panel(flips, model, corpus))
    ranking = str(flips["ranking"].iloc[0])
    figure.supylabel(f"top item by {LABELS.get(ranking, ranking)} flips it", fontsize=8.5)
    figure.supxlabel("a random other item flips the decision (% of the texts)", fontsize=8.5)
    return figure


def _table(axis: "Axes", rows: pd.DataFrame) -> None:
    from matplotlib.patches import Rectangle

    total = int(rows["tested"].sum())
    if not total:
        say_empty(axis)
        return
    for name, (down, across) in PLACES.items():
        share = float(rows[name].sum()) / total
        # The paper's colours: blue should be large, orange close to 0. Strength grows with the share.
        strength = 0.0 if name == "neither" else min(1.0, 0.15 + 2.5 * share)
        axis.add_patch(
            Rectangle((across, down), 1, 1, facecolor=COLOURS[name], alpha=0.6 * strength, edgecolor="none")
        )
        axis.text(across + 0.5, down + 0.5, f"{100 * share:.1f}", ha="center", va="center", fontsize=8)
    axis.set(xlim=(0, 2), ylim=(2, 0), xticks=[0.5, 1.5], yticks=[0.5, 1.5])
    axis.set_xticklabels(["yes", "no"], fontsize=7.5)
    axis.set_yticklabels(["yes", "no"], fontsize=7.5)
    axis.tick_params(length=0)
    axis.grid(False)
    axis.axhline(1, color="#B0B0B0", linewidth=0.6)
    axis.axvline(1, color="#B0B0B0", linewidth=0.6)
    for side in axis.spines.values():
        side.set_visible(True)
        side.set_color("#B0B0B0")


EXPERIMENTS = {
    name: Experiment(name, title, paper(place), measured, claims, {name: contingency})
    for name, title, place, measured, claims in (
        (
            "serrano-smith-table2",
            "Decision flips by the most attended item and by a random other one, HANrnn",
            "Table 2",
            partial(measure, models=("han-rnn",)),
            flip_claims,
        ),
        (
            "serrano-smith-fig9",
            "Decision flips by the most attended item and by a random other one, all architectures",
            "Fig. 9",
            measure,
            lambda tables: chain(flip_claims(tables), family_claims(tables)),
        ),
        (
            "serrano-smith-fig12",
            "Decision flips by the top item by gradient, all architectures",
            "Fig. 12",
            partial(measure, ranking="gradient"),
            gradient_top_claims,
        ),
        (
            "serrano-smith-fig13",
            "Decision flips by the top item by gradient × attention, all architectures",
            "Fig. 13",
            partial(measure, ranking="product"),
            product_top_claims,
        ),
    )
}
