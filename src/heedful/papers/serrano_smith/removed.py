"""What must go before the decision flips, by ranking (section 5, A.3: Figs. 5, 6, 10, 11).

The smallest set stands beside the rankings as one more box ("exact", ours). The exclusions are the paper's:
instances with one item, and those that none of the four rankings ever flips; both are counted. Where the
paper has a word instead of a number, the number taken for it is in the statement.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from heedful.drawing import BLACK
from heedful.errors import UserError
from heedful.papers.serrano_smith.layout import COLOUR, LABELS, of_panel, panels, say_empty
from heedful.papers.serrano_smith.over_models import (
    PAIR,
    differences,
    lowest,
    mean_over_models,
    paper,
    pick,
    share_of_models,
)
from heedful.papers.serrano_smith.rows import COORDINATES, MODELS, CellRows, each_cell, rows_of
from heedful.records import (
    Claim,
    Estimate,
    Finding,
    Interval,
    bootstrap_interval,
    paired_difference,
    wilson_interval,
)
from heedful.study.experiment import Experiment, Tables
from heedful.study.workbench import Bench

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Quantity = Literal["fraction", "mass"]
QUANTITIES: tuple[Quantity, ...] = ("fraction", "mass")
EXACT = "exact"
# Whose savings over whom the claims ask for: (faster, slower).
PAIRS = (
    ("attention", "random"),
    ("gradient", "attention"),
    ("product", "attention"),
    ("product", "gradient"),
)
ENCODED = ("han-rnn", "flan-rnn", "han-conv", "flan-conv")
BARE = ("han-noenc", "flan-noenc")
GRADIENT_WINS = "gradient needs fewer items than attention"
# Fig. 6: the share of Amazon's test texts of which the FLANnoenc lost more than half, by ranking.
TAILS = {"random": 0.124, "attention": 0.028, "gradient": 0.009, "product": 0.005}


def boxes(rows: pd.DataFrame, quantity: Quantity = "fraction") -> pd.DataFrame:
    """Quartiles, ends of the whiskers (1.5 IQR) and mean of each ranking's distribution, by model.

    All samples of the random ranking are in its distribution. The mass of the smallest set is left out: there
    may be several smallest sets, of different mass.
    """
    from heedful.trials import compare

    found = []
    for cell in each_cell(rows):
        comparison = compare(cell.erasures, cell.rankings)
        if not comparison.kept.any():
            continue
        about = {"excluded_one_item": comparison.alone, "excluded_never": comparison.never}
        for ranking in cell.rankings:
            values = _values(cell, ranking, quantity)[comparison.kept]
            partly = {"fully_removed": comparison.partly[ranking]}
            found.append({**cell.coordinates, "ranking": ranking, **about, **partly, **_box(values)})
        if quantity == "fraction" and cell.erasures.smallest is not None:
            least = (cell.erasures.smallest / cell.erasures.items)[comparison.kept]
            found.append({**cell.coordinates, "ranking": EXACT, **about, "fully_removed": 0, **_box(least)})
    return pd.DataFrame(found)


def multi_table(rows: pd.DataFrame) -> pd.DataFrame:
    """The findings of section 5 and A.3 for every model, and those of the smallest sets."""
    found = list(chain.from_iterable(_findings(cell) for cell in each_cell(rows)))
    if not found:
        raise UserError("No decision of these models ever flips, so there is nothing to compare.")
    return pd.DataFrame([finding.to_row() for finding in found])


def measure(bench: Bench, *, models: tuple[str, ...] = MODELS, quantity: Quantity = "fraction") -> Tables:
    """What must go before the first flip: Figs. 5, 6, 10, 11."""
    rows = rows_of(bench, models)
    findings, drawn = multi_table(rows), boxes(rows, quantity)
    return {"summary": means(drawn), "boxes": drawn, "findings": findings}


def means(drawn: pd.DataFrame) -> pd.DataFrame:
    """What each ranking removes on average, a model a row, and the texts that are left out."""
    told = {"instances": "texts", "excluded_one_item": "one item", "excluded_never": "never flips"}
    table = drawn.pivot_table(index=[*COORDINATES, *told], columns="ranking", values="mean", sort=False)
    return table.round(3).reset_index().rename(columns=told).rename_axis(columns=None)


def _findings(cell: CellRows) -> Iterator[Finding]:
    from heedful.trials import beats, compare, fraction_removed, mass_removed, tail_share

    erasures, about, rankings = cell.erasures, cell.coordinates, cell.rankings
    kept = compare(erasures, rankings).kept
    if not kept.any():
        return
    yield from fraction_removed(erasures, rankings, coordinates=about)
    yield from mass_removed(erasures, rankings, coordinates=about)
    yield from tail_share(erasures, rankings, coordinates=about)
    yield from beats(erasures, "gradient", "attention", coordinates=about)
    for ranking in rankings:
        for quantity in QUANTITIES:
            values = _values(cell, ranking, quantity)[kept].mean(1)
            middle = Estimate(float(np.median(values)), bootstrap_interval(values, "median"))
            yield _finding(
                f"median {quantity} removed",
                middle,
                len(values),
                f"median {quantity} gone when the decision first flips, in the order of the ranking",
                {**about, "ranking": ranking},
            )
    for faster, slower in PAIRS:
        for quantity in QUANTITIES:
            few, many = (_values(cell, name, quantity)[kept].mean(1) for name in (faster, slower))
            yield _finding(
                f"{quantity} saved",
                paired_difference(many, few),
                len(few),
                f"mean {quantity} removed by the slower ranking − by the faster, at the first flip",
                {**about, "faster": faster, "slower": slower},
            )


def _values(cell: CellRows, ranking: str, quantity: Quantity) -> Floats:
    """The fraction of the items, or the mass of the attention, (B,S) gone at the first flip; 1 for never."""
    from heedful.trials.erasure.comparisons import sizes_of

    erasures = cell.erasures
    if quantity == "fraction":
        return sizes_of(erasures, ranking) / np.maximum(erasures.items, 1)[:, None]
    return np.where(erasures.sizes[ranking] < 0, 1.0, erasures.masses[ranking])


def _box(values: Floats) -> dict[str, float]:
    lower, middle, upper = np.quantile(values, [0.25, 0.5, 0.75])
    reach = 1.5 * (upper - lower)
    return {
        "instances": len(values),
        "low": float(values[values >= lower - reach].min()),
        "lower_quartile": float(lower),
        "median": float(middle),
        "upper_quartile": float(upper),
        "high": float(values[values <= upper + reach].max()),
        "mean": float(values.mean()),
        "above_half": float((values > 0.5).mean()),
    }


def _finding(name: str, found: Estimate, count: int, measured: str, about: dict) -> Finding:
    return Finding.of(name, found, count=count, measured=measured, coordinates=about)


def encoder_claims(tables: Tables) -> Iterator[Claim]:
    """Section 5.4, of models with an encoder: Figs. 5 and 10."""
    findings = tables["findings"]
    yield Claim.decided(
        "Attention often needs fewer items than a random order: it saves items on average in most models "
        "with an encoder",
        paper("section 5.4"),
        effect=share_of_models(
            _saved(findings, "attention", "random", ENCODED), "attention saves items", above=0
        ),
        comparison=">",
        threshold=0.5,
    )
    for faster, place in (("gradient", "gradient"), ("product", "gradient × attention")):
        yield Claim.decided(
            f"Attention clearly falls short of {place}: it removes more of the items on average, "
            "in most models with an encoder",
            paper("section 5.4"),
            effect=share_of_models(
                _saved(findings, faster, "attention", ENCODED), f"{faster} saves items", above=0
            ),
            comparison=">",
            threshold=0.5,
        )
    yield Claim.decided(
        "Gradient finds a smaller flipping set than attention for over half of the instances in at least 10 "
        "of 16 models with an encoder",
        paper("section 5.4"),
        effect=share_of_models(
            pick(findings, GRADIENT_WINS, model=ENCODED),
            "gradient needs fewer items for over half",
            above=0.5,
        ),
        comparison=">=",
        threshold=10 / 16,
    )
    yield Claim.decided(
        "Gradient flips the decision with fewer items than attention at least 1.6 times as often as vice "
        "versa, in every model with an encoder (1.6 to 1 is 61.5 % of the instances that are no tie)",
        paper("section 5.4"),
        effect=lowest(_won(pick(findings, GRADIENT_WINS, model=ENCODED)), "gradient beats attention"),
        comparison=">=",
        threshold=1.6 / 2.6,
    )
    yield Claim.decided(
        "Gradient × attention needs fewer items than gradient in most models with an encoder",
        paper("section 5.4"),
        effect=share_of_models(
            _saved(findings, "product", "gradient", ENCODED), "product saves items over gradient", above=0
        ),
        comparison=">",
        threshold=0.5,
    )


def late_claims(tables: Tables) -> Iterator[Claim]:
    """Sections 5.5 and 5.6, of FLANs with an encoder: Figs. 5 and 10."""
    findings = tables["findings"]
    name = "median fraction removed"
    yield Claim.decided(
        "Flips come late: half of a FLANrnn's texts lose more than half of their items in attention's order, "
        "on every corpus",
        paper("section 5.5"),
        effect=lowest(pick(findings, name, ranking="attention", model="flan-rnn"), name),
        comparison=">",
        threshold=0.5,
    )
    yield Claim.decided(
        "Decisions of FLANconvs flip sooner than those of FLANrnns: a smaller fraction goes in attention's "
        "order, on every corpus",
        paper("section 5.6"),
        effect=lowest(_sooner(findings, "flan-conv", "flan-rnn"), "fraction removed, rnn − conv"),
        comparison=">",
        threshold=0,
    )


def bare_claims(tables: Tables) -> Iterator[Claim]:
    """Section 5.6, of models without an encoder: Figs. 6 and 10."""
    findings = tables["findings"]
    rows = _saved(findings, "gradient", "attention", BARE)
    yield Claim.decided(
        "Without an encoder attention is on par with gradients or better: gradient saves at most 5 % of the "
        "items, on average over models",
        paper("section 5.6"),
        effect=mean_over_models(rows, "fraction saved by gradient over attention"),
        comparison="<=",
        threshold=0.05,
    )
    yield Claim.decided(
        "Also without an encoder gradient × attention needs fewer items than attention, in every model",
        paper("section 5.6"),
        effect=lowest(_saved(findings, "product", "attention", BARE), "fraction saved by product"),
        comparison=">",
        threshold=0,
    )
    tails = pick(findings, "late flips", model="flan-noenc")
    amazon = tails[tails["corpus"].str.startswith("amazon")]
    for ranking, theirs in TAILS.items():
        rows = amazon[amazon["ranking"] == ranking]
        found = mean_over_models(rows, f"late flips by {ranking}, Amazon FLANnoenc")
        yield Claim.decided(
            f"In the Amazon FLANnoenc {theirs:.1%} of the texts lose more than half of their items in the "
            f"order of {ranking} (ours: within 5 points of that)",
            paper("Fig. 6"),
            effect=_beside(found, theirs),
            comparison="within",
            threshold=0.05,
        )


def context_claims(tables: Tables) -> Iterator[Claim]:
    """Section 5.6 over all architectures: Fig. 10."""
    findings = tables["findings"]
    flat, nested = _sooner(findings, "flan-conv", "flan-rnn"), _sooner(findings, "han-conv", "han-rnn")
    yield Claim.decided(
        "Decisions of HANconvs flip sooner than those of HANrnns: a smaller fraction goes in attention's "
        "order, on average over corpora",
        paper("section 5.6"),
        effect=mean_over_models(nested, "fraction removed by HANs, rnn − conv"),
        comparison=">",
        threshold=0,
    )
    yield Claim.decided(
        "The difference between rnn and conv is weaker in HANs than in FLANs, on average over corpora",
        paper("section 5.6"),
        effect=mean_over_models(differences(flat, nested, by=PAIR), "rnn − conv, FLAN − HAN"),
        comparison=">",
        threshold=0,
    )
    for family in ("han", "flan"):
        for encoder in ("conv", "rnn"):
            rows = _sooner(findings, f"{family}-noenc", f"{family}-{encoder}")
            yield Claim.decided(
                f"Without an encoder the fraction to erase plummets: {family.upper()}noenc loses less than "
                f"{family.upper()}{encoder} in attention's order, on every corpus",
                paper("section 5.6"),
                effect=lowest(rows, f"fraction removed, {encoder} − noenc"),
                comparison=">",
                threshold=0,
            )
    rows = pd.concat(
        [
            _sooner(findings, f"{family}-noenc", f"{family}-{encoder}", "random")
            for family in ("han", "flan")
            for encoder in ("conv", "rnn")
        ]
    )
    yield Claim.decided(
        "Random orders mostly do better without an encoder than with one",
        paper("section 5.6"),
        effect=share_of_models(rows, "random flips sooner without an encoder", above=0),
        comparison=">",
        threshold=0.5,
    )


def mass_claims(tables: Tables) -> Iterator[Claim]:
    """A.3: Fig. 11."""
    findings = tables["findings"]
    yield Claim.decided(
        "The attention mass that must go in attention's order is often quite high: its median is above one "
        "half in most models",
        paper("A.3"),
        effect=share_of_models(
            pick(findings, "median mass removed", ranking="attention"), "high mass", above=0.5
        ),
        comparison=">",
        threshold=0.5,
    )
    for faster in ("gradient", "product"):
        rows = pick(findings, "mass saved", faster=faster, slower="attention")
        yield Claim.decided(
            f"For most models the mass removed in the order of {faster} is lower by 0.25 or more than in "
            "attention's order",
            paper("A.3"),
            effect=share_of_models(rows, f"mass lower by 0.25 with {faster}", above=0.25),
            comparison=">",
            threshold=0.5,
        )


def _won(rows: pd.DataFrame) -> pd.DataFrame:
    """Of the instances that one of two rankings flips with fewer items, the share that the faster one does.

    A share and not a ratio: it is bounded, also where the other ranking never needs fewer.
    """
    contested = rows[rows["fewer"] + rows["more"] > 0] if len(rows) else rows
    found = []
    for row in contested.to_dict("records"):
        fewer, count = int(row["fewer"]), int(row["fewer"] + row["more"])
        ends = wilson_interval(fewer, count)
        measured = "of the instances that one of the two flips with fewer items, the share that gradient does"
        share = {"value": fewer / count, "low": ends.low, "high": ends.high, "count": count}
        found.append({**row, **share, "measured": measured})
    return pd.DataFrame(found)


def _saved(findings: pd.DataFrame, faster: str, slower: str, models: tuple[str, ...]) -> pd.DataFrame:
    return pick(findings, "fraction saved", faster=faster, slower=slower, model=models)


def _sooner(findings: pd.DataFrame, less: str, more: str, ranking: str = "attention") -> pd.DataFrame:
    """The fraction removed in the model with more context − in the one with less, by corpus."""
    many, few = (pick(findings, "fraction removed", ranking=ranking, model=model) for model in (more, less))
    return differences(many, few, by=PAIR)


def _beside(found: Finding, theirs: float) -> Finding:
    """The finding as its distance from the paper's number, which stands beside it."""
    ends = found.interval
    if ends is None or not ends.bounded:
        return found
    shifted = Interval(ends.low - theirs, ends.high - theirs, level=ends.level, method=ends.method)
    return replace(
        found,
        name=f"{found.name}, ours − theirs",
        value=found.value - theirs,
        interval=shifted,
        baselines={"ours": Estimate(found.value, ends), "paper": Estimate(theirs)},
    )


def fractions(tables: Tables) -> "Figure":
    """Boxes of the fraction of items removed; whiskers reach 1.5 IQR, the diamond is the mean."""
    return _boxes(tables["boxes"], "fraction of items removed before the first flip")


def masses(tables: Tables) -> "Figure":
    """Boxes of the attention mass removed."""
    return _boxes(tables["boxes"], "attention mass removed before the first flip")


def _boxes(boxes: pd.DataFrame, label: str) -> "Figure":
    from matplotlib.patches import Patch

    names = [name for name in LABELS if name in set(boxes["ranking"])]
    figure, made = panels(boxes, height=0.26 * len(names) + 0.55, extra=1.0, sharex=True)
    for axis, model, corpus in made:
        _panel(axis, of_panel(boxes, model, corpus), names)
    figure.supxlabel(label, fontsize=9)
    handles = [Patch(color=COLOUR[name], alpha=0.75, label=LABELS[name]) for name in names]
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=3 if boxes["corpus"].nunique() < 3 else 5,
        fontsize=7.5,
    )
    return figure


def _panel(axis: "Axes", rows: pd.DataFrame, names: list[str]) -> None:
    if rows.empty:
        say_empty(axis)
        return
    for place, name in enumerate(names):
        found = rows[rows["ranking"] == name].to_dict("records")
        wide = 0.62 / max(1, len(found))  # seeds stand side by side
        for seed, box in enumerate(found):
            stats = {
                "med": box["median"],
                "q1": box["lower_quartile"],
                "q3": box["upper_quartile"],
                "whislo": box["low"],
                "whishi": box["high"],
                "mean": box["mean"],
            }
            # In white where it lies inside its box; at its end, or in a box without width, it would vanish.
            inside = box["lower_quartile"] + 0.005 < box["median"] < box["upper_quartile"] - 0.005
            axis.bxp(
                [stats],
                positions=[place + (seed - (len(found) - 1) / 2) * wide],
                widths=0.95 * wide,
                orientation="horizontal",
                showfliers=False,
                showmeans=True,
                patch_artist=True,
                boxprops={"facecolor": COLOUR[name], "alpha": 0.75, "linewidth": 0.6},
                medianprops={"color": "white" if inside else BLACK, "linewidth": 1.8},
                whiskerprops={"linewidth": 0.8},
                capprops={"linewidth": 0.8},
                meanprops={
                    "marker": "D",
                    "markersize": 3,
                    "markerfacecolor": "white",
                    "markeredgecolor": "black",
                    "markeredgewidth": 0.6,
                },
                manage_ticks=False,
            )
    axis.set_yticks([])
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.set_xlim(-0.02, 1.02)


def _claims(*parts: Callable[[Tables], Iterable[Claim]]) -> Callable[[Tables], Iterable[Claim]]:
    return lambda tables: chain.from_iterable(part(tables) for part in parts)


EXPERIMENTS = {
    name: Experiment(name, title, paper(place), measured, claims, {name: figure})
    for name, title, place, measured, claims, figure in (
        (
            "serrano-smith-fig5",
            "Items removed before the first flip, three architectures with an encoder",
            "Fig. 5",
            partial(measure, models=("han-rnn", "flan-rnn", "flan-conv")),
            _claims(encoder_claims, late_claims),
            fractions,
        ),
        (
            "serrano-smith-fig6",
            "Items removed before the first flip, without an encoder",
            "Fig. 6",
            partial(measure, models=BARE),
            bare_claims,
            fractions,
        ),
        (
            "serrano-smith-fig10",
            "Items removed before the first flip, all architectures",
            "Fig. 10",
            measure,
            _claims(encoder_claims, late_claims, bare_claims, context_claims),
            fractions,
        ),
        (
            "serrano-smith-fig11",
            "Attention mass removed before the first flip, all architectures",
            "Fig. 11",
            partial(measure, quantity="mass"),
            mass_claims,
            masses,
        ),
    )
}
