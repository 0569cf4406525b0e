"""The course of a training as the watch saw it, and claims about its end and its gain, over seeds.

The rows are those of `understanding.watch`, with the panel of a figure they belong to. Figures over training
need these: the weights that a run keeps are of its best dev epoch, which on synthetic data comes early. A
figure has a line a type of words (or pair of types), with quartiles shaded.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from heedful.drawing import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, new_figure
from heedful.papers.sun_lu.effects import effect_of_runs
from heedful.papers.sun_lu.words import NEUTRAL, colours, types_in_order
from heedful.records import Claim
from heedful.study.experiment import Tables
from heedful.study.workbench import Bench

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = ("panel", "corpus", "model", "scale", "seed", "epoch", "step", "quantity", "group")
NUMBERS = ("mean", "size", "low", "middle", "high", "count", "words")
AXES = {
    "polarity": "mean polarity score s",
    "attention": "mean attention score a",
    "alignment": "VᵀW",
    "omega": "mean dot-product eᵀe'",
    "omega of one pair": "dot-product eᵀe'",
    "states": "mean dot-product hᵀh'",
}
PANEL = 3.1, 2.7  # inches
STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
# Pairs of types: two of one class, two of different classes, and those with a neutral word.
PAIRS = {
    "positive-positive": ORANGE,
    "negative-negative": BLUE,
    "negative-positive": PURPLE,
    "positive-neutral": SKY,
    "negative-neutral": GREEN,
    "neutral-neutral": GREY,
}
Rows = Callable[[Bench], pd.DataFrame]


def moments(bench: Bench, panels: Mapping[str, Rows], quantities: Sequence[str]) -> pd.DataFrame:
    """The watched rows of some quantities, for each panel."""
    frames = []
    for panel, rows in panels.items():
        found = rows(bench).assign(panel=panel)
        found = found[found["quantity"].isin(quantities)]
        frames.append(found.reindex(columns=[*COLUMNS, *NUMBERS]))
    return pd.concat(frames, ignore_index=True)


def ends(course: pd.DataFrame) -> pd.DataFrame:
    """The rows of each training's last moment."""
    last = course.groupby(["panel", "seed"])["step"].transform("max")
    return course[course["step"] == last]


def summary(course: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds of every quantity and group at the beginning and at the end."""
    where = ["panel", "quantity", "group"]
    first = course[course["step"] == 0].groupby(where, sort=False)["mean"].mean()
    last = ends(course).groupby(where, sort=False)
    return pd.DataFrame(
        {"beginning": first, "end": last["mean"].mean(), "seeds": last["seed"].nunique()}
    ).reset_index()


def at_end(course: pd.DataFrame, quantity: str, group: str) -> pd.Series:
    """One number per seed: the mean of a group at the last moment."""
    return _by_seed(ends(course), quantity, group)


def gain(course: pd.DataFrame, quantity: str, group: str) -> pd.Series:
    """One number per seed: what that mean gained over the training."""
    return at_end(course, quantity, group) - _by_seed(course[course["step"] == 0], quantity, group)


def about(
    statement: str,
    source: str,
    values: pd.Series,
    *,
    name: str,
    comparison: str,
    threshold: float = 0,
    least: float = -math.inf,
) -> Claim:
    """A claim about one number per seed, which is never below `least`."""
    return Claim.decided(
        statement,
        source,
        effect=effect_of_runs(
            name,
            list(values),
            measured="From the watch over training; means over the words (or pairs) of a type.",
            count=len(values),
            within=(least, math.inf),
        ),
        comparison=comparison,
        threshold=threshold,
    )


def panels_of(course: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each panel's rows, in the order of the table."""
    for panel, rows in course.groupby("panel", sort=False):
        yield str(panel), rows


def polarity_claims(course: pd.DataFrame, source: str) -> Iterator[Claim]:
    """Polarity of positive words ends above 0, of negative below, and of neutral words near 0."""
    for panel, rows in panels_of(course):
        up, down, none = (at_end(rows, "polarity", kind) for kind in ("positive", "negative", "neutral"))
        yield about(
            f"Polarity of positive words ends above 0 ({panel})",
            source,
            up,
            name="mean polarity of positive words at the end",
            comparison=">",
        )
        yield about(
            f"Polarity of negative words ends below 0 ({panel})",
            source,
            down,
            name="mean polarity of negative words at the end",
            comparison="<",
        )
        yield about(
            f"Polarity of neutral words stays near 0: under a tenth of polar words' ({panel})",
            source,
            none.abs() / ((up - down).abs() / 2),
            name="|mean polarity of neutral words| over that of polar words",
            comparison="<",
            threshold=0.1,
            least=0,
        )


def attention_claims(course: pd.DataFrame, source: str, *, classes: Sequence[str] = ()) -> Iterator[Claim]:
    """Attention of every class's words ends above that of neutral words."""
    for panel, rows in panels_of(course):
        none = at_end(rows, "attention", "neutral")
        for kind in classes or ("positive", "negative"):
            named = kind.capitalize() if not classes else f"Class {kind}'s"
            yield about(
                f"{named} words end with more attention than neutral words ({panel})",
                source,
                at_end(rows, "attention", kind) - none,
                name=f"mean attention of {kind} words − of neutral words at the end",
                comparison=">",
            )


def omega_claims(course: pd.DataFrame, source: str, *, quantity: str = "omega") -> Iterator[Claim]:
    """Dot-products: above 0 within a class, below 0 between classes, small with neutral words."""
    what = "Dot-products" if quantity == "omega" else "Dot-products of affine states"
    for panel, rows in panels_of(course):
        same = [at_end(rows, quantity, pair) for pair in ("positive-positive", "negative-negative")]
        across = at_end(rows, quantity, "negative-positive")
        plain = [
            at_end(rows, quantity, pair).abs()
            for pair in ("negative-neutral", "positive-neutral", "neutral-neutral")
            if pair in set(rows["group"])
        ]
        for values, kind in zip(same, ("positive", "negative"), strict=True):
            yield about(
                f"{what} of two {kind} words end above 0 ({panel})",
                source,
                values,
                name=f"mean dot-product of {kind}-{kind} pairs at the end",
                comparison=">",
            )
        yield about(
            f"{what} of a positive and a negative word end below 0 ({panel})",
            source,
            across,
            name="mean dot-product of positive-negative pairs at the end",
            comparison="<",
        )
        if plain:
            sizes = np.mean([values.abs() for values in (*same, across)], axis=0)
            yield about(
                f"{what} with a neutral word are small: under a tenth of the others ({panel})",
                source,
                pd.Series(np.mean(plain, axis=0) / sizes),
                name="mean |dot-product| of pairs with a neutral word over that of the others",
                comparison="<",
                threshold=0.1,
                least=0,
            )


def _by_seed(rows: pd.DataFrame, quantity: str, group: str) -> pd.Series:
    own = rows[(rows["quantity"] == quantity) & (rows["group"] == group)]
    assert len(own), f"the watch has no {quantity} of {group!r}"
    return own.set_index("seed")["mean"].sort_index()


def draw_courses(tables: Tables) -> "Figure":
    """A column for each panel of the table and a row for each quantity; lines are means over seeds."""
    course = tables["moments"]
    panels = list(dict.fromkeys(course["panel"]))
    quantities = [name for name in dict.fromkeys(course["quantity"]) if name != "alignment"]
    stacked = len(panels) > 1 or len(quantities) == 1
    rows, columns = (len(quantities), len(panels)) if stacked else (1, len(quantities))
    figure = new_figure(max(columns * PANEL[0], 4.4) + 0.2, rows * PANEL[1] + 0.4)
    grid = figure.subplots(rows, columns, squeeze=False)
    for place, (quantity, panel) in enumerate((q, p) for q in quantities for p in panels):
        axes = grid.flat[place]
        own = course[(course["panel"] == panel) & (course["quantity"] == quantity)]
        draw_lines(axes, own)
        axes.set_title(panel)
        axes.set_ylabel(AXES.get(quantity, f"mean term {quantity}"))
    label_grid(figure, grid)
    return figure


def draw_lines(axes: "Axes", course: pd.DataFrame) -> None:
    """A line for each group: the mean over seeds of a mean over words, and of the quartiles if there are."""
    groups = set(course["group"])
    paired = any("-" in name for name in groups)
    order = pairs_in_order(groups) if paired else types_in_order(groups)
    paint = pair_colours(groups) if paired else colours(groups)
    for place, group in enumerate(order):
        over = course[course["group"] == group].groupby("step")[["mean", "low", "high"]].mean()
        colour = paint.get(group, BLACK) if group else BLACK
        axes.plot(over.index, over["mean"], color=colour, linestyle=STYLES[place % len(STYLES)], label=group)
        # Quartiles of dot-products tell how the vectors were drawn, and would hide the lines.
        if not paired and over["low"].notna().all():
            axes.fill_between(over.index, over["low"], over["high"], color=colour, alpha=0.12, linewidth=0)
    axes.axhline(0, color=BLACK, linewidth=0.6, zorder=0)


def label_grid(figure: "Figure", grid: "object") -> None:
    """Steps below, and one legend for all panels."""
    for axes in figure.axes[-grid.shape[1] :]:  # type: ignore[attr-defined]  # an array of axes
        axes.set_xlabel("training step")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3 if len(labels) > 4 else len(labels))


def pairs_in_order(pairs: Iterable[str]) -> list[str]:
    """Pairs of one class, pairs of two, then those with a neutral word."""
    known = list(PAIRS)

    def rank(pair: str) -> tuple[int, int, str]:
        first, second = pair.split("-")
        kind = 2 if NEUTRAL in (first, second) else int(first != second)
        return kind, known.index(pair) if pair in known else len(known), pair

    return sorted(set(pairs), key=rank)


def pair_colours(pairs: Iterable[str]) -> dict[str, str]:
    """A colour for each pair: known ones have their own; of K classes, one colour a kind of pair."""
    found = {}
    for pair in pairs:
        first, second = pair.split("-")
        kind = GREY if NEUTRAL in (first, second) else ORANGE if first == second else BLUE
        found[pair] = PAIRS.get(pair, kind)
    return found
