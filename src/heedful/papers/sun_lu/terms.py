"""The signs that §4 of Sun & Lu (2020) gives to the terms of the scores' movement, measured during training.

For each type of words a term's lean is its mean over its mean size, both summed over the moments of a
training: 1 if it is above 0 for every word at every moment, −1 if below, 0 if it cancels.
"""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from heedful.drawing import new_figure
from heedful.papers.sun_lu import courses, trainings
from heedful.papers.sun_lu.effects import effect_of_runs
from heedful.records import Claim
from heedful.study.experiment import Experiment, Tables
from heedful.study.workbench import Bench

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCE = "Sun & Lu (2020), §4"
SCALES = (1.0, 10.0, 100.0)
QUANTITIES = ("A", "B", "C", "D", "E", "F", "pi", "rho", "alignment")
NEGLIGIBLE = 0.1
SIGNS = (  # quantity, its name, its side of 0 for positive and for negative words, section
    ("pi", "π", ">", "<", "4.1, Eq. 16"),
    ("B", "term B", ">", "<", "4.1, Eq. 19"),
    ("C", "term C", ">", "<", "4.1, Eq. 19"),
    ("rho", "ρ", ">", ">", "4.1, Eq. 20"),
    ("E", "term E", ">", ">", "4.2, Eq. 27"),
    ("F", "term F", ">", ">", "4.2, Eq. 27"),
)


def _rows(bench: Bench, *, scale: float) -> pd.DataFrame:
    from heedful.understanding import WatchSettings

    return trainings.on_corpus(
        bench,
        "sst",
        trainings.WATCHED,
        scales=(scale,),
        seeds=trainings.seeds(bench, quick=trainings.QUICK_SEEDS),
        watch=WatchSettings(records=50),
    )


def measure(bench: Bench) -> Tables:
    """SST, dp, watched, at three scales."""
    bench.chosen("corpora", ("sst",))
    panels = {f"λ = {scale:g}": partial(_rows, scale=scale) for scale in SCALES}
    course = courses.moments(bench, panels, QUANTITIES)
    return {"moments": course, "summary": _summary(course)}


def _summary(course: pd.DataFrame) -> pd.DataFrame:
    """Leans and sizes, means over seeds."""
    sums = course[course["step"] > 0].groupby(["panel", "seed", "quantity", "group"], sort=False)
    found = sums[["mean", "size"]].sum()
    found["lean"] = found["mean"] / found["size"]
    found["mean size"] = sums["size"].mean()
    groups = found.drop("alignment", level="quantity").groupby(["panel", "quantity", "group"], sort=False)
    return groups[["lean", "mean size"]].mean().reset_index()


def lean(rows: pd.DataFrame, quantity: str, group: str) -> pd.Series:
    """One number per seed, from −1 to 1."""
    own = rows[(rows["quantity"] == quantity) & (rows["group"] == group) & (rows["step"] > 0)]
    sums = own.groupby("seed")[["mean", "size"]].sum()
    return sums["mean"] / sums["size"]


def claims(tables: Tables) -> Iterator[Claim]:
    """Signs at λ = 10, and which terms count at which λ."""
    panels = dict(courses.panels_of(tables["moments"]))
    middle = panels["λ = 10"]
    for quantity, name, *signs, section in SIGNS:
        for kind, sign in zip(("positive", "negative"), signs, strict=True):
            side = {">": "above", "<": "below"}[sign]
            yield _claim(
                f"For {kind} words {name} lies {side} 0 (SST, dp, λ = 10)",
                section,
                lean(middle, quantity, kind),
                f"lean of {name} of {kind} words",
                sign,
            )
    for panel, rows in panels.items():
        for kind, way, sign in (("positive", "with", ">"), ("negative", "against", "<")):
            yield _claim(
                f"Term D moves {kind} words {way} the sign of VᵀW (SST, dp, {panel})",
                "4.2, Eq. 27",
                _turned(rows, kind),
                f"lean of term D of {kind} words × sign of VᵀW",
                sign,
            )
    for panel in ("λ = 10", "λ = 100"):
        yield _claim(
            f"Term A is negligible: under {NEGLIGIBLE:.0%} of the polarity terms (SST, dp, {panel})",
            "4.1, after Eq. 20",
            _part(panels[panel], "A", "ABC"),
            "mean size of A over the sum of those of A, B and C, of polar words",
            "<",
            NEGLIGIBLE,
            within=(0, 1),
        )
    yield _claim(
        "Term A is the less negligible the smaller λ is (SST, dp, λ = 1 and 100)",
        "4.1, after Eq. 20",
        _part(panels["λ = 1"], "A", "ABC") - _part(panels["λ = 100"], "A", "ABC"),
        "share of A in the polarity terms at λ 1 − at λ 100",
        ">",
    )
    yield _claim(
        "Term D becomes significant when λ is large (SST, dp, λ = 1 and 100)",
        "4.2, after Eq. 27",
        _part(panels["λ = 100"], "D", "DEF") - _part(panels["λ = 1"], "D", "DEF"),
        "share of D in the attention terms at λ 100 − at λ 1",
        ">",
    )


def _claim(
    statement: str,
    section: str,
    values: pd.Series,
    name: str,
    comparison: str,
    threshold: float = 0,
    *,
    within: tuple[float, float] = (-1, 1),
) -> Claim:
    return Claim.decided(
        statement,
        f"Sun & Lu (2020), §{section}",
        effect=effect_of_runs(
            name,
            list(values),
            measured="From the watch over training, on a sample of training texts; lean is mean over size.",
            count=len(values),
            within=within,
        ),
        comparison=comparison,
        threshold=threshold,
    )


def _turned(rows: pd.DataFrame, kind: str) -> pd.Series:
    """The lean of D, each moment turned by the sign that VᵀW has then."""
    after = rows[rows["step"] > 0]
    sign = after[after["quantity"] == "alignment"].set_index(["seed", "step"])["mean"].gt(0) * 2 - 1
    own = after[(after["quantity"] == "D") & (after["group"] == kind)].set_index(["seed", "step"])
    sums = own.assign(mean=own["mean"] * sign).groupby("seed")[["mean", "size"]].sum()
    return sums["mean"] / sums["size"]


def _part(rows: pd.DataFrame, letter: str, letters: str) -> pd.Series:
    """One number per seed: the share of one term's size in all of them, of polar words."""
    own = rows[
        rows["group"].isin(["positive", "negative"])
        & rows["quantity"].isin(list(letters))
        & (rows["step"] > 0)
    ]
    sizes = own.pivot_table(index="seed", columns="quantity", values="size")
    return sizes[letter] / sizes.sum(axis=1)


def draw_terms(tables: Tables) -> "Figure":
    """Terms A to F at λ = 10, by type."""
    course = tables["moments"]
    course = course[course["panel"] == "λ = 10"]
    figure = new_figure(8.2, 4.8)
    grid = figure.subplots(2, 3)
    for axes, letter in zip(grid.flat, "ABCDEF", strict=True):
        # The beginning is left out: vectors are drawn by chance there, and the terms are not yet about words.
        courses.draw_lines(axes, course[(course["quantity"] == letter) & (course["step"] > 0)])
        axes.set_title(f"term {letter} {'of ds/dτ' if letter in 'ABC' else 'of da/dτ'}")
        axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 2))
    grid[0][0].set_ylabel("mean over words")
    grid[1][0].set_ylabel("mean over words")
    courses.label_grid(figure, grid)
    return figure


EXPERIMENT = Experiment(
    "sun-lu-terms",
    "Terms of the scores' movement by type, on SST",
    SOURCE,
    measure,
    claims,
    figures={"sun-lu-terms": draw_terms},
)
