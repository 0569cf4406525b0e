"""What permuting the weights does to the output (Jain & Wallace, 2019, section 4.2.1)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from heedful.data.corpus import Corpus
from heedful.records import Claim, Finding
from heedful.study.experiment import Tables
from heedful.study.ground import Ground, main_model
from heedful.study.jain_wallace.traces import trace_batches
from heedful.study.pooling import (
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
from heedful.trials.permutation import permute_weights

PLACE = "Jain & Wallace (2019), 4.2.1"
SMALL = 0.1  # a change of the output below this is called small here; the paper shows figures
FEWEST = 20  # texts that a claim needs
CONCENTRATED = 0.5  # a largest weight above this is called concentrated


def permutation_rows(
    run: Run,
    corpus: Corpus,
    *,
    split: str = "test",
    limit: int | None = None,
    permutations: int = 100,
    seed: int = 0,
) -> pd.DataFrame:
    """A measure: the median output change of each text over permutations of its weights."""
    frames = []
    for rows, trace, first in trace_batches(run, corpus, split=split, limit=limit, seed=seed):
        found = permute_weights(trace, permutations=permutations, seed=seed, first=first)
        frames.append(
            pd.DataFrame(
                {
                    "instance": rows,
                    "decided": found.decided.numpy(),
                    "decided_class": np.array(run.recipe.classes)[found.decided.numpy()],
                    "largest": found.largest.numpy(),
                    "change": found.change.numpy(),
                }
            )
        )
    return pd.concat(frames).sort_values("instance", ignore_index=True)


def measure_permutation(bench: Bench, ground: Ground) -> Tables:
    """Permutations on every cell of the ground."""
    path = f"{__name__}:permutation_rows"
    table = bench.measured(ground.study("permutation"), Measure(path, {"limit": ground.limit}))
    say_undefined(bench, table, "change", "no text has two items, and no weights can be permuted")
    return {"permutation": table, "summary": summary(table)}


def changes(rows: pd.DataFrame, **where: str) -> tuple[Finding | None, Finding | None]:
    """The mean of a cell's medians, and the share of texts whose median is small."""
    mean = mean_over_texts(
        rows,
        "change",
        name="output change under permuted weights",
        measured="median TVD of a text's output over permutations of its weights; mean over texts",
        within=(0.0, 1.0),
        coordinates=where,
    )
    share = share_of_texts(
        rows.assign(small=(rows["change"] < SMALL).where(rows["change"].notna())),
        "small",
        name="share of texts whose output hardly changes",
        measured=f"share of texts whose median change under permuted weights is below {SMALL:g}",
        coordinates=where,
    )
    return mean, share


def permutation_findings(tables: Tables) -> list[Finding]:
    """All findings of the table, cell by cell."""
    return [
        finding
        for where, rows in cells(tables["permutation"])
        for group, own in groups(rows)
        for finding in defined(*changes(own, **where, **group))
    ]


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mean change and share of small ones, by corpus and model."""
    lines = []
    for where, rows in cells(table):
        mean, small = changes(rows, **where)
        lines.append(
            {
                **where,
                "median TVD, mean": shown(mean),
                f"share below {SMALL:g}": shown(small),
                "texts": rows["instance"].nunique(),
                "seeds": rows["seed"].nunique(),
            }
        )
    return pd.DataFrame(lines)


def permutation_claims(tables: Tables) -> Sequence[Claim]:
    """That permuting often changes little, over all texts and where attention is concentrated."""
    claims = []
    for corpus, own in tables["permutation"].groupby("corpus", sort=False):
        model = main_model(own["model"])
        rows = own[own["model"] == model]
        sharp = rows[rows["largest"] >= CONCENTRATED]
        asked = {
            f"On {corpus}, permuted weights leave the output of most texts as it was (median change below "
            f"{SMALL:g})": rows,
            f"On {corpus}, that is so even where the largest weight is at least a half": sharp,
        }
        for statement, chosen in asked.items():
            effect = changes(chosen, corpus=str(corpus), model=model)[1]
            if effect is not None and effect.count >= FEWEST:
                claims.append(Claim.decided(statement, PLACE, effect=effect, comparison=">", threshold=0.5))
    return claims
