"""The course of a training as the watch saw it, and claims about its end and its gain, over seeds.

The rows are those of `understanding.watch`, with the panel of a figure they belong to. Figures over training
need these: the weights that a run keeps are of its best dev epoch, which on synthetic data comes early.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from heedful.records import Claim
from heedful.study.sun_lu.effects import effect_of_runs
from heedful.study.workbench import Bench

COLUMNS = ("panel", "corpus", "model", "scale", "seed", "epoch", "step", "quantity", "group")
NUMBERS = ("mean", "size", "low", "middle", "high", "count", "words")
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
    """One number a seed: the mean of a group at the last moment."""
    return _by_seed(ends(course), quantity, group)


def gain(course: pd.DataFrame, quantity: str, group: str) -> pd.Series:
    """One number a seed: what that mean gained over the training."""
    return at_end(course, quantity, group) - _by_seed(course[course["step"] == 0], quantity, group)


def about(
    statement: str, source: str, values: pd.Series, *, name: str, comparison: str, threshold: float = 0
) -> Claim:
    """A claim about one number a seed."""
    return Claim.decided(
        statement,
        source,
        effect=effect_of_runs(
            name,
            list(values),
            measured="From the watch over training; means over the words (or pairs) of a type.",
            count=len(values),
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
            )


def _by_seed(rows: pd.DataFrame, quantity: str, group: str) -> pd.Series:
    own = rows[(rows["quantity"] == quantity) & (rows["group"] == group)]
    assert len(own), f"the watch has no {quantity} of {group!r}"
    return own.set_index("seed")["mean"].sort_index()
