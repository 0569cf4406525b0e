"""Weights that are far from a model's own and leave its decision as it is (Jain & Wallace, 2019, 4.2.2).

Two classes under a linear head have the exact maximum; more classes the published ascent, a lower bound.

How far weights can be at all depends on the text: JSD is convex, so nothing is farther from α than all weight
on one item, log 2 − ½[(1 + a) log(1 + a) − a log a] for its weight a, hence the item of least weight. From
even weights over two items that is 0.22 nats, over eight 0.497. So "far" is asked only of texts where it can
be, and a text of one item has no other weights at all: NaN.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from heedful.data.corpus import Corpus
from heedful.models.trace import Trace, decisions
from heedful.records import Claim, Finding
from heedful.study.experiment import Tables
from heedful.study.ground import Ground, main_model
from heedful.study.jain_wallace.traces import trace_batches
from heedful.study.pooling import (
    MOST,
    cells,
    defined,
    groups,
    mean_over_texts,
    say_undefined,
    share_of_texts,
    shown,
)
from heedful.study.workbench import Bench, Measure
from heedful.training.run import Run
from heedful.trials.adversary import Adversary, exact_adversary
from heedful.trials.ascent import ascent_adversary

PLACE = "Jain & Wallace (2019), 4.2.2"
EPSILON = 0.01
FAR = 0.5  # nats, of at most log 2 = 0.693
CONCENTRATED = 0.5
FEWEST = 20  # texts that a claim needs
RESTARTS, STEPS = 5, 500  # of the ascent, as published


def adversary_rows(
    run: Run,
    corpus: Corpus,
    *,
    split: str = "test",
    limit: int | None = None,
    epsilon: float = EPSILON,
    restarts: int = RESTARTS,
    steps: int = STEPS,
    seed: int = 0,
) -> pd.DataFrame:
    """A measure: the farthest weights of each text, by the exact way where there is one."""
    frames = []
    for rows, trace, first in trace_batches(run, corpus, split=split, limit=limit, seed=seed):
        found = adversary_of(trace, epsilon, restarts=restarts, steps=steps, seed=seed, first=first)
        # A change of at most ε moves a decision that lies that near to the boundary.
        same = decisions(trace.logits(found.weights.to(trace.weights.dtype))).cpu() == found.decided.cpu()
        several = trace.mask.sum(1).cpu() > 1
        frames.append(
            pd.DataFrame(
                {
                    "instance": rows,
                    "same": same.numpy(),
                    "decided": found.decided.numpy(),
                    "decided_class": np.array(run.recipe.classes)[found.decided.numpy()],
                    "largest": found.largest.double().numpy(),
                    "divergence": found.divergence.double().masked_fill(~several, torch.nan).numpy(),
                    "attainable": attainable(trace.weights, trace.mask)
                    .cpu()
                    .masked_fill(~several, torch.nan)
                    .numpy(),
                    "change": found.change.double().numpy(),
                    "kind": found.kind,
                    "epsilon": epsilon,
                }
            )
        )
    return pd.concat(frames).sort_values("instance", ignore_index=True)


def attainable(weights: Tensor, mask: Tensor) -> Tensor:
    """The largest divergence (B,) that any weights can have from these (B,T), whatever the output."""
    least = weights.double().masked_fill(~mask, torch.inf).amin(1)
    return MOST - (torch.special.xlogy(1 + least, 1 + least) - torch.special.xlogy(least, least)) / 2


def adversary_of(
    trace: Trace,
    epsilon: float = EPSILON,
    *,
    restarts: int = RESTARTS,
    steps: int = STEPS,
    seed: int = 0,
    first: int = 0,
) -> Adversary:
    """The exact adversary where the head is linear with two classes, otherwise the published ascent."""
    linear = trace.linear
    if linear is not None and linear.out_features <= 2:
        return exact_adversary(trace, epsilon)
    return ascent_adversary(trace, epsilon, restarts=restarts, steps=steps, seed=seed, first=first)


def adversary_measure(bench: Bench, ground: Ground) -> Measure:
    """The adversary as both papers' experiments measure it, hence once; by the whole ascent also when quick.

    With a fifth of its steps the ascent finds nothing for half of the texts of agnews, and saves a second.
    """
    options = {"limit": ground.limit, "epsilon": EPSILON, "restarts": RESTARTS, "steps": STEPS}
    return Measure(f"{__name__}:adversary_rows", options)


def measure_adversary(bench: Bench, ground: Ground) -> Tables:
    """The adversary on every cell of the ground."""
    table = bench.measured(ground.study("adversary"), adversary_measure(bench, ground))
    say_undefined(bench, table, "divergence", "no text has two items, and so no other weights")
    return {"adversary": table, "summary": summary(table)}


def divergences(rows: pd.DataFrame, **where: str) -> tuple[Finding | None, Finding | None]:
    """The mean divergence of a cell's adversary, and the share of texts where it is far, of those it can be.

    Beside the mean stands what any weights could reach, whatever the output.
    """
    if not len(rows):
        return None, None
    exact = (rows["kind"] == "exact").all()
    how = "the exact maximum" if exact else "the best that gradient ascent found"
    epsilon = float(rows["epsilon"].iloc[0])
    mean = mean_over_texts(
        rows,
        "divergence",
        name="adversary's divergence",
        measured=f"JSD to the farthest weights that move the output by at most {epsilon:g}, {how}; mean"
        + _left_out(rows, rows["divergence"].notna(), "of a single item"),
        baselines={"attainable": "attainable"},
        unit="nats",
        kind="estimate" if exact else "lower bound",
        within=(0.0, MOST),
        coordinates=where,
    )
    can = rows["attainable"] >= FAR
    far = share_of_texts(
        rows.assign(far=rows["divergence"] >= FAR)[can],
        "far",
        name="share of texts with far other weights",
        measured=f"share of texts with weights at a JSD of at least {FAR:g} nats and an output within "
        f"{epsilon:g}, {how}" + _left_out(rows, can, "where no weights at all are that far"),
        kind="estimate" if exact else "lower bound",
        coordinates=where,
    )
    return mean, far


def _left_out(rows: pd.DataFrame, taken: pd.Series, why: str) -> str:
    """How many texts were not counted, and why, to be added to how something was measured."""
    counts = (~taken).groupby(rows["seed"]).sum()
    if not counts.any():
        return ""
    shown = f"{counts.min()}" if counts.nunique() == 1 else f"{counts.min()} to {counts.max()} a seed"
    return f"; {shown} of {rows['instance'].nunique()} texts left out, {why}"


def adversary_findings(tables: Tables) -> list[Finding]:
    """All findings of the table, cell by cell."""
    return [
        finding
        for where, rows in cells(tables["adversary"])
        for group, own in groups(rows)
        for finding in defined(*divergences(own, **where, **group))
    ]


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mean divergence and share of far ones, by corpus and model."""
    lines = []
    for where, rows in cells(table):
        mean, far = divergences(rows, **where)
        lines.append(
            {
                **where,
                "ε-max JSD, nats": shown(mean),
                f"share ≥ {FAR:g}, where it can be": shown(far),
                "how": rows["kind"].iloc[0],
                "texts": rows["instance"].nunique(),
                "where it can be": far.count if far is not None else 0,
                "seeds": rows["seed"].nunique(),
            }
        )
    return pd.DataFrame(lines)


def adversary_claims(tables: Tables) -> Sequence[Claim]:
    """That most texts have far other weights, also where attention is concentrated."""
    claims = []
    for corpus, own in tables["adversary"].groupby("corpus", sort=False):
        model = main_model(own["model"])
        rows = own[own["model"] == model]
        asked = {
            f"On {corpus}, most texts that can have quite other weights (JSD ≥ {FAR:g}) have them with the "
            "same output": rows,
            f"On {corpus}, that is so even where the largest weight is at least a half": rows[
                rows["largest"] >= CONCENTRATED
            ],
        }
        for statement, chosen in asked.items():
            effect = divergences(chosen, corpus=str(corpus), model=model)[1]
            if effect is not None and effect.count >= FEWEST:
                claims.append(Claim.decided(statement, PLACE, effect=effect, comparison=">", threshold=0.5))
    return claims
