"""What the paper says of single items (section 4, A.2, A.3), as statements that the tables can decide.

Where the paper has a word instead of a number ("vast majority", "close to 0", "many"), the number taken for
it is in the statement. "Models" are all models that were trained here.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from heedful.records import Claim, Finding, Interval
from heedful.study.experiment import Tables
from heedful.study.serrano_smith.one_item import CLOSE, WIDE
from heedful.study.serrano_smith.over_models import (
    LEVEL,
    differences,
    half_of_sum,
    highest,
    lowest,
    mean_over_models,
    nothing,
    pick,
    share_of_models,
)

MODERATE = (0.1, 0.6)  # Δα over which the upswing of two models is compared
FEWEST = 10  # instances that a bin needs to be compared
PAIR = ("corpus", "seed")


def paper(place: str) -> str:
    """Where a statement stands."""
    return f"Serrano & Smith (2019), {place}"


def js_claims(tables: Tables) -> Iterator[Claim]:
    """Figs. 3 and 7."""
    findings = tables["findings"]
    yield Claim.decided(
        "Erasing the top item moves the output more than a random other item in the vast majority (75 %) of "
        "instances of every model",
        paper("section 4.1"),
        effect=lowest(pick(findings, "positive ΔJS"), "positive ΔJS"),
        comparison=">",
        threshold=0.75,
    )
    yield Claim.decided(
        f"Nearly all (90 %) negative ΔJS are close to 0 (less than {CLOSE} nats) in every model",
        paper("section 4.1"),
        effect=lowest(pick(findings, "negative ΔJS close to 0"), "negative ΔJS close to 0"),
        comparison=">",
        threshold=0.9,
    )
    name = "ΔJS close to 0 at a large Δα"
    yield Claim.decided(
        f"Even for Δα like 0.4 ({WIDE[0]} to {WIDE[1]}) many (a quarter) of the positive ΔJS are close to 0 "
        f"(less than {CLOSE} nats), on average over models",
        paper("section 4.1"),
        effect=mean_over_models(pick(findings, name), name),
        comparison=">",
        threshold=0.25,
    )
    yield Claim.decided(
        "ΔJS swings up where Δα is large: its mean is higher above 0.6 than from 0.3 to 0.5, on average over "
        "models",
        paper("section 4.1"),
        effect=mean_over_models(_upswing(tables["bins"]), "upswing of ΔJS"),
        comparison=">",
        threshold=0,
    )


def context_claims(tables: Tables) -> Iterator[Claim]:
    """Fig. 7: A.2's earlier upswing with less context."""
    for more, less in (("rnn", "conv"), ("conv", "noenc"), ("rnn", "noenc")):
        yield Claim.decided(
            f"The upswing of ΔJS comes earlier with less context: at equal Δα ({MODERATE[0]} to "
            f"{MODERATE[1]}) its mean is higher for {less} than for {more}",
            paper("A.2"),
            effect=_earlier(tables["bins"], less, more),
            comparison=">",
            threshold=0,
        )


def negative_claims(tables: Tables) -> Iterator[Claim]:
    """Figs. 4 and 8."""
    rows = pick(tables["findings"], "Δα where ΔJS is negative")
    yield Claim.decided(
        "Where the top item had the smaller effect, the gap in attention tends to be small: mean Δα is lower "
        "there than elsewhere, in every model",
        paper("sections 4.1 and A.2"),
        effect=highest(rows, "Δα where ΔJS is negative"),
        comparison="<",
        threshold=0,
    )
    yield Claim.decided(
        "Negative ΔJS are a small fraction (less than a quarter) of the instances of every model",
        paper("Fig. 4"),
        effect=highest(pick(tables["findings"], "negative ΔJS"), "negative ΔJS"),
        comparison="<",
        threshold=0.25,
    )


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
    encoder = wrong.assign(encoder=_part(wrong, 1))
    flat, nested = (encoder[_part(encoder, 0) == family] for family in ("flan", "han"))
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


def _part(rows: pd.DataFrame, number: int) -> pd.Series:
    """han or flan (0), or the encoder (1), of each row's model."""
    return rows["model"].str.split("-").str[number]


def _brittle(findings: pd.DataFrame) -> pd.DataFrame:
    """noenc − the most brittle encoder, by corpus and family."""
    rows = pick(findings, "either flips")
    rows = rows.assign(family=_part(rows, 0), encoder=_part(rows, 1))
    keys = [*PAIR, "family"]
    without = rows[rows["encoder"] == "noenc"]
    rest = rows[rows["encoder"] != "noenc"]
    ends = {"value": "max", "low": "max", "high": "max", "count": "min", "measured": "first"}
    return differences(without, rest.groupby(keys, as_index=False).agg(ends), by=keys)


def _upswing(bins: pd.DataFrame) -> pd.DataFrame:
    """Mean ΔJS at Δα above 0.6 − from 0.3 to 0.5, for each model that has both."""
    found = []
    for key, rows in bins.groupby(["corpus", "model", "seed"], sort=False):
        steep, middle = _pooled(rows, 0.6, 1.0), _pooled(rows, *WIDE)
        if steep is not None and middle is not None:
            found.append(_normal(steep, middle, dict(zip(("corpus", "model", "seed"), key, strict=True))))
    return pd.DataFrame(found)


def _pooled(rows: pd.DataFrame, low: float, high: float) -> tuple[float, float, int] | None:
    """The mean ΔJS of some bins, its standard error, and the instances in them."""
    middle = (rows["from"] + rows["to"]) / 2
    inside = rows[(middle > low) & (middle < high) & (rows["instances"] >= FEWEST)]
    if inside.empty:
        return None
    part = inside["instances"] / inside["instances"].sum()
    mean = float((part * inside["mean_delta_js"]).sum())
    # Of a mean over all instances: within the bins, and between them.
    within = (inside["standard_error"] ** 2) * inside["instances"]
    spread = float((part * (within + (inside["mean_delta_js"] - mean) ** 2)).sum())
    count = int(inside["instances"].sum())
    return mean, float(np.sqrt(spread / count)), count


def _normal(first: tuple[float, float, int], second: tuple[float, float, int], about: dict) -> dict:
    value, half = first[0] - second[0], 1.96 * float(np.hypot(first[1], second[1]))
    measured = "mean ΔJS (nats) at one range of Δα − at another, normal interval"
    row = {"value": value, "low": value - half, "high": value + half, "measured": measured}
    return {**about, **row, "count": first[2] + second[2]}


def _earlier(bins: pd.DataFrame, less: str, more: str) -> Finding:
    """Mean ΔJS of one encoder − of another, averaged over the bins of Δα, families and corpora they share.

    Bins of one pair of models hold different texts, pairs of one corpus the same (see `over_models`).
    """
    name = f"ΔJS at equal Δα, {less} − {more}"
    rows = bins.assign(family=_part(bins, 0), encoder=_part(bins, 1))
    middle = (rows["from"] + rows["to"]) / 2
    rows = rows[(middle > MODERATE[0]) & (middle < MODERATE[1]) & (rows["instances"] >= FEWEST)]
    keys = [*PAIR, "family", "from"]
    one, other = (rows[rows["encoder"] == encoder] for encoder in (less, more))
    both = one.merge(other, on=keys, suffixes=("", "_2"))
    if both.empty:
        return nothing(name)
    value = float((both["mean_delta_js"] - both["mean_delta_js_2"]).mean())
    both["variance"] = both["standard_error"] ** 2 + both["standard_error_2"] ** 2
    pairs = both.groupby([*PAIR, "family"], as_index=False)["variance"].sum()
    half = 1.96 * half_of_sum(pairs["variance"] ** 0.5, pairs["corpus"]) / len(both)
    method = "normal, bins as strata, added within a corpus, independent over corpora"
    return Finding(
        name,
        value,
        interval=Interval(value - half, value + half, level=LEVEL, method=method),
        count=int(both[["instances", "instances_2"]].sum().sum()),
        unit="nats",
        measured=f"mean difference of the mean ΔJS over {len(both)} bins of Δα with {FEWEST} instances "
        "or more in both models",
    )
