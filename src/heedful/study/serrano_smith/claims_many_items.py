"""What the paper says of sets of items (section 5, A.3), as statements that the tables can decide.

Where the paper has a word instead of a number, the number taken for it is in the statement.
"""

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from heedful.records import Claim, Estimate, Finding, Interval, wilson_interval
from heedful.study.experiment import Tables
from heedful.study.serrano_smith.claims_one_item import PAIR, paper
from heedful.study.serrano_smith.over_models import (
    differences,
    highest,
    lowest,
    mean_over_models,
    nothing,
    pick,
    share_of_models,
)

ENCODED = ("han-rnn", "flan-rnn", "han-conv", "flan-conv")
BARE = ("han-noenc", "flan-noenc")
NEAR_OPTIMAL = (
    1.25  # items taken ÷ items of the smallest set: never below 1, so more than 1 would say nothing
)
GRADIENT_WINS = "gradient needs fewer items than attention"
# Fig. 6: the share of Amazon's test texts of which the FLANnoenc lost more than half, by ranking.
TAILS = {"random": 0.124, "attention": 0.028, "gradient": 0.009, "product": 0.005}


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
    if not rows["cases"].sum():
        return nothing(f"violations ({name})")
    return Finding(
        f"violations ({name})",
        float(rows["violations"].sum()),
        count=int(rows["cases"].sum()),
        measured="cases where it is not so, near-ties of rounding left out and counted",
        kind="exact",
        coordinates={"near_ties": int(rows["near_ties"].sum())},
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
