"""The synthetic data's figures: supplement B, C, D, E and F, Figs. 1 to 12 (Sun & Lu, 2020).

Plain SGD from scratch, watched; every figure is about the course of a training or its end.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from heedful.data.synthetic import Synthetic, make_synthetic
from heedful.drawing import BLACK, BLUE, GREEN, ORANGE, PURPLE, new_figure
from heedful.papers.sun_lu import courses, trainings
from heedful.papers.sun_lu.courses import (
    about,
    at_end,
    attention_claims,
    draw_courses,
    gain,
    omega_claims,
    pair_colours,
    pairs_in_order,
    polarity_claims,
)
from heedful.records import Claim
from heedful.study.experiment import Draw, Experiment, Tables
from heedful.study.workbench import Bench

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLES = ((BLUE, ":"), (PURPLE, "--"), (BLACK, "-"), (GREEN, "--"), (ORANGE, ":"))
PENALTY = 0.001  # on |VᵀW|, as in the authors' experiments on synthetic data
RATIOS = (0.25, 0.5, 1.0, 2.0, 4.0)  # positive to negative texts; the paper has five, and does not say which
CLASSES = ("0", "1", "2")


def _rows(bench: Bench, *, corpus: str = "data-1", model: str = "dp", **settings: Any) -> pd.DataFrame:
    seeds = trainings.seeds(bench, quick=trainings.QUICK_SEEDS)
    return trainings.on_synthetic(bench, corpus, model=model, seeds=seeds, **settings)


ONE, TWO = {"Data I": partial(_rows)}, {"Data II": partial(_rows, corpus="data-2")}
RANGES = {
    "vectors start in (−0.1, 0.1)": partial(_rows),
    "vectors start in (−1, 1)": partial(_rows, embedding_range=1.0),
}
PENALISED = {
    "Data I, no penalty": partial(_rows),
    "Data I, penalty on |VᵀW|": partial(_rows, penalty=PENALTY),
}
AFFINE = {"Data I, affine layer": partial(_rows, model="dp-a", penalty=PENALTY)}
ADDITIVE = {"Data I, additive attention": partial(_rows, model="ad")}
THREE = {"three classes": partial(_rows, corpus="data-k")}


def trends(course: pd.DataFrame, source: str) -> Iterator[Claim]:
    """Fig. 1: pairs of one class rise, pairs of two fall; and a small start gets there sooner."""
    for panel, rows in courses.panels_of(course):
        for pair, sign, word in (
            ("positive-positive", ">", "rises"),
            ("negative-negative", ">", "rises"),
            ("negative-positive", "<", "falls"),
        ):
            yield about(
                f"The dot-product of {pair} pairs {word} ({panel})",
                source,
                gain(rows, "omega", pair),
                name=f"gain of the mean dot-product of {pair} pairs",
                comparison=sign,
            )
    half = [_half_way(rows) for _, rows in courses.panels_of(course)]
    yield about(
        "A smaller start brings the dot-products apart more quickly",
        source,
        half[0] - half[1],
        name="share of training until half the final distance, small start − large start",
        comparison="<",
    )


def _half_way(course: pd.DataFrame) -> pd.Series:
    """One number per seed: when pairs of one class and of two have come half their final distance apart."""
    table = course.pivot_table(index=["seed", "step"], columns="group", values="mean")
    same = (table["positive-positive"] + table["negative-negative"]) / 2
    found = {}
    for seed, own in (same - table["negative-positive"]).groupby("seed"):
        steps = own.index.get_level_values("step")
        found[seed] = steps[(own > own.iloc[-1] / 2).to_numpy()][0] / steps[-1]
    return pd.Series(found)


def sizes(course: pd.DataFrame, source: str) -> Iterator[Claim]:
    """Fig. 2: the signs, and pairs of one class larger than pairs of two."""
    yield from omega_claims(course, source)
    across = at_end(course, "omega", "negative-positive")
    for kind in ("positive", "negative"):
        yield about(
            f"Dot-products of {kind} pairs are larger in size than those of positive-negative pairs",
            source,
            at_end(course, "omega", f"{kind}-{kind}") + across,
            name=f"mean dot-product of {kind}-{kind} pairs + of positive-negative pairs",
            comparison=">",
        )


def penalty_closes(course: pd.DataFrame, source: str) -> Iterator[Claim]:
    """Fig. 5: the gap, its sign, and the penalty."""
    panels = dict(courses.panels_of(course))
    free, held = (panels[name] for name in PENALISED)
    distance = [
        at_end(rows, "attention", "positive") - at_end(rows, "attention", "negative") for rows in (free, held)
    ]
    along = at_end(free, "alignment", "").apply(lambda value: 1.0 if value > 0 else -1.0)
    yield about(
        "Attention of positive and negative words parts with the sign of VᵀW (Data I)",
        source,
        along * distance[0],
        name="sign of VᵀW × (mean attention of positive − of negative words) at the end",
        comparison=">",
    )
    yield about(
        "A penalty on |VᵀW| almost closes the gap: to under a quarter (Data I)",
        source,
        np.log2(distance[1].abs() / distance[0].abs()),
        name="log₂ of |gap| with the penalty over |gap| without",
        comparison="<",
        threshold=-2,
    )


def pairs(course: pd.DataFrame, source: str) -> Iterator[Claim]:
    """Fig. 6: one word pair of each kind, drawn by chance."""
    for pair, sign, word in (
        ("positive-positive", ">", "above"),
        ("negative-negative", ">", "above"),
        ("negative-positive", "<", "below"),
    ):
        yield about(
            f"The dot-product of one {pair} pair ends {word} 0 (Data II)",
            source,
            at_end(course, "omega of one pair", pair),
            name=f"dot-product of one {pair} pair at the end",
            comparison=sign,
        )
    same = [at_end(course, "omega of one pair", f"{kind}-{kind}") for kind in ("positive", "negative")]
    across = at_end(course, "omega of one pair", "negative-positive")
    plain = [
        at_end(course, "omega of one pair", pair).abs()
        for pair in ("negative-neutral", "positive-neutral", "neutral-neutral")
    ]
    yield about(
        "The dot-products of pairs with a neutral word are small: under a tenth of the others (Data II)",
        source,
        sum(plain) / sum(values.abs() for values in (*same, across)),
        name="mean |dot-product| of three pairs with a neutral word over that of the three others",
        comparison="<",
        threshold=0.1,
        least=0,
    )
    yield about(
        "Pairs of one class have larger dot-products than the pair of two classes has in size (Data II)",
        source,
        sum(same) / 2 + across,
        name="mean dot-product of the two pairs of one class + of the pair of two classes",
        comparison=">",
    )


def both(course: pd.DataFrame, source: str) -> Iterator[Claim]:
    """Figs. 9 and 10: polarity and attention."""
    yield from polarity_claims(course, source)
    yield from attention_claims(course, source)


def affine(course: pd.DataFrame, source: str) -> Iterator[Claim]:
    """Fig. 8: embeddings and the states that the affine layer makes of them."""
    for quantity in ("omega", "states"):
        yield from omega_claims(course[course["quantity"] == quantity], source, quantity=quantity)


def groups(course: pd.DataFrame, source: str) -> Iterator[Claim]:
    """Fig. 11: three classes' dot-products."""
    for kind in CLASSES:
        others = [pair for pair in ("0-1", "0-2", "1-2") if kind in pair.split("-")]
        between = sum(at_end(course, "omega", pair) for pair in others) / len(others)
        yield about(
            f"Dot-products of two words of class {kind} are larger than those with other classes' words",
            source,
            at_end(course, "omega", f"{kind}-{kind}") - between,
            name=f"mean dot-product within class {kind} − with the other classes",
            comparison=">",
        )


def rising(course: pd.DataFrame, source: str) -> Iterator[Claim]:
    """Fig. 12: three classes' attention."""
    for kind in CLASSES:
        yield about(
            f"Attention of class {kind}'s words rises during training",
            source,
            gain(course, "attention", kind),
            name=f"gain of the mean attention of class {kind}'s words",
            comparison=">",
        )
    yield from attention_claims(course, source, classes=CLASSES)


def measure_skew(bench: Bench) -> Tables:
    """Fig. 7: VᵀW on five ratios of positive to negative texts, from four initialisations."""
    frames = []
    for ratio in RATIOS:
        corpus = f"ratio-{ratio:g}", make_synthetic(Synthetic(ratio=ratio))
        seeds = trainings.seeds(bench, (0, 1, 2, 3), quick=trainings.QUICK_SEEDS)
        found = trainings.on_synthetic(bench, corpus, seeds=seeds)
        frames.append(found[found["quantity"] == "alignment"].assign(ratio=ratio, panel=f"{ratio:g}"))
    course = pd.concat(frames, ignore_index=True)[["ratio", *courses.COLUMNS, "mean"]]
    return {"moments": course, "summary": courses.summary(course)}


def skewed(course: pd.DataFrame, source: str) -> Iterator[Claim]:
    """The ratio has an impact on VᵀW, which is small on balanced data compared to skewed."""
    ends = {panel: at_end(rows, "alignment", "") for panel, rows in courses.panels_of(course)}
    yield about(
        "The ratio of positive to negative texts has an impact on VᵀW: it grows with the ratio",
        source,
        ends["4"] - ends["0.25"],
        name="VᵀW at the end at ratio 4 − at ratio 1/4, from the same start",
        comparison=">",
    )
    size = {panel: values.abs() for panel, values in ends.items()}
    balanced = size.pop("1")
    yield about(
        "|VᵀW| is smaller on balanced data than on skewed data",
        source,
        sum(size.values()) / len(size) - balanced,
        name="mean |VᵀW| at the end over four skewed ratios − on balanced data",
        comparison=">",
    )


def draw_boxes(tables: Tables) -> "Figure":
    """A box a pair of types, from the watch's last moment; means over seeds."""
    from matplotlib.patches import Rectangle

    course = tables["moments"]
    means = courses.ends(course).groupby("group")[["mean", "low", "middle", "high", "count"]].mean()
    order, paint = pairs_in_order(means.index), pair_colours(means.index)
    figure = new_figure(max(4.0, 0.85 * len(order) + 0.8), 3.2)
    axes = figure.subplots()
    for place, pair in enumerate(order):
        row = means.loc[pair]
        box = Rectangle(
            (place - 0.3, row["low"]),
            0.6,
            row["high"] - row["low"],
            facecolor=paint[pair],
            edgecolor=BLACK,
            alpha=0.75,
        )
        axes.add_patch(box)
        axes.plot([place - 0.3, place + 0.3], [row["middle"]] * 2, color=BLACK, linewidth=1.6)
        axes.plot(place, row["mean"], marker="D", markersize=4, color=BLACK, markerfacecolor="white")
    axes.axhline(0, color=BLACK, linewidth=0.6, zorder=0)
    axes.set_xlim(-0.6, len(order) - 0.4)
    axes.set_xticks(range(len(order)), [pair.replace("-", "-\n" if len(pair) > 8 else "-") for pair in order])
    axes.set_ylabel("dot-product eᵀe' at the end")
    axes.set_title(f"quartiles, median and mean (◇) of {int(means['count'].min()):,} pairs or more")
    axes.grid(axis="x", visible=False)
    return figure


def draw_skew(tables: Tables) -> "Figure":
    """Two panels: VᵀW and |VᵀW|, each the mean over initialisations."""
    course = tables["moments"].assign(size=tables["moments"]["mean"].abs())
    seeds = course["seed"].nunique()
    figure = new_figure(7.0, 3.2)
    left, right = figure.subplots(1, 2)
    for (ratio, own), (colour, line) in zip(course.groupby("ratio"), STYLES, strict=True):
        over = own.groupby("step")[["mean", "size"]].mean()
        for axes, column in ((left, "mean"), (right, "size")):
            axes.plot(over.index, over[column], color=colour, linestyle=line, label=f"{ratio:g}")
    for axes, name in ((left, "VᵀW"), (right, "|VᵀW|")):
        axes.set_xlabel("training step")
        axes.locator_params(axis="x", nbins=4)  # steps have five digits
        axes.set_ylabel(f"{name}, mean of {seeds} starts")
        axes.axhline(0, color=BLACK, linewidth=0.6, zorder=0)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(
        handles, labels, title="positive texts to one negative", loc="outside lower center", ncols=5
    )
    return figure


Judge = Callable[[pd.DataFrame, str], Iterator[Claim]]


def _experiment(
    number: int,
    title: str,
    section: str,
    judge: Judge,
    panels: Mapping[str, courses.Rows],
    quantities: Sequence[str],
    draw: Draw = draw_courses,
) -> Experiment:
    source = f"Sun & Lu (2020), supplement {section}, Fig. {number}"

    def measure(bench: Bench) -> Tables:
        course = courses.moments(bench, panels, quantities)
        return {"moments": course, "summary": courses.summary(course)}

    name = f"sun-lu-s-fig{number}"
    return Experiment(
        name,
        title,
        source,
        measure if panels else measure_skew,
        lambda tables: judge(tables["moments"], source),
        {name: draw},
    )


EXPERIMENTS = {
    one.name: one
    for one in (
        _experiment(1, "Dot-products of vectors during training", "B.1", trends, RANGES, ["omega"]),
        _experiment(2, "Dot-products by pair of types", "B.2", sizes, ONE, ["omega"], draw_boxes),
        _experiment(3, "Polarity during training", "C.1", polarity_claims, {**ONE, **TWO}, ["polarity"]),
        _experiment(4, "Attention during training", "C.1", attention_claims, {**ONE, **TWO}, ["attention"]),
        _experiment(5, "A penalty on VᵀW", "C.3", penalty_closes, PENALISED, ["attention", "alignment"]),
        _experiment(6, "Dot-products of six word pairs", "C.2", pairs, TWO, ["omega of one pair"]),
        _experiment(7, "VᵀW on skewed data", "C.3", skewed, {}, ["alignment"], draw_skew),
        _experiment(8, "Dot-products, affine model", "D", affine, AFFINE, ["omega", "states"]),
        _experiment(9, "Scores, affine model", "D", both, AFFINE, ["polarity", "attention"]),
        _experiment(10, "Scores, additive attention", "E", both, ADDITIVE, ["polarity", "attention"]),
        _experiment(11, "Dot-products, three classes", "F", groups, THREE, ["omega"], draw_boxes),
        _experiment(12, "Attention, three classes", "F", rising, THREE, ["attention"]),
    )
}
