"""Does attention agree with other measures of importance? (Jain & Wallace, 2019, section 4.1.)

Kendall's τ-b, text by text, between attention, |gradient × input| with the attention held constant, and the
total variation distance of the output when a word is left out; gradients against leave-one-out is the
yardstick, and a random ranking stands beside each. Axes: N texts, T words, K classes.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from heedful.data.batches import batches
from heedful.data.corpus import Corpus
from heedful.models.trace import decisions, probabilities
from heedful.records import Claim, Finding
from heedful.study.experiment import Tables
from heedful.study.ground import Ground, main_model
from heedful.study.pooling import (
    cells,
    defined,
    groups,
    lead_over_texts,
    mean_over_texts,
    say_undefined,
    share_of_texts,
    shown,
)
from heedful.study.workbench import Bench, Measure
from heedful.training.reopening import encode_for
from heedful.training.run import Run
from heedful.trials.agreement import agreement
from heedful.trials.divergence import total_variation
from heedful.trials.rereading import Reader
from heedful.trials.stream import sample_rows
from heedful.trials.word_rankings import attention, jain_wallace

PAIRS = (
    ("attention", "gradient"),
    ("attention", "leave-one-out"),
    ("gradient", "leave-one-out"),
)
PLACE = "Jain & Wallace (2019), 4.1"
WEAK = 0.5  # they call the agreement weak; a τ below this leaves a quarter of all pairs of words turned round
COLUMNS = ("tau", "significant", "spearman", "overlap")
NAMES = {"tau": "Kendall's τ-b", "spearman": "Spearman's ρ", "overlap": "overlap of the top 5"}


def agreement_rows(
    run: Run, corpus: Corpus, *, split: str = "test", limit: int | None = None, seed: int = 0
) -> pd.DataFrame:
    """A measure: one row for each text and pair of scores, with τ, ρ, overlap and the random ranking's."""
    part = corpus.split(split)
    rows = sample_rows(len(part), limit, seed=seed)
    encoded = encode_for(run.model, part.take(rows))
    longest = int(encoded.lengths.max())
    scores = {name: torch.zeros(len(rows), longest, dtype=torch.float64) for pair in PAIRS for name in pair}
    mask = torch.zeros(len(rows), longest, dtype=torch.bool)
    decided = torch.zeros(len(rows), dtype=torch.long)
    for batch in batches(encoded, token_budget=4096):
        reader = Reader(run.model, batch)
        places, width = torch.from_numpy(batch.rows), batch.mask.shape[1]
        scores["attention"][places, :width] = attention(reader).cpu()
        scores["gradient"][places, :width] = jain_wallace(reader).cpu()
        scores["leave-one-out"][places, :width] = left_out_change(reader).cpu()
        mask[places, :width] = (batch.mask & reader.attention[1]).cpu()
        decided[places] = decisions(reader.logits).cpu()
    frames = []
    for first, second in PAIRS:
        found = agreement(scores[first], scores[second], mask, names=(first, second), seed=seed)
        own = {name: getattr(found, name).numpy() for name in COLUMNS}
        beside = {f"random_{name}": getattr(found, f"random_{name}").numpy() for name in COLUMNS}
        about = {"instance": rows, "words": mask.sum(1).numpy(), "decided": decided.numpy()}
        about["decided_class"] = np.array(run.recipe.classes)[decided.numpy()]
        frames.append(pd.DataFrame({"first": first, "second": second, **about, **own, **beside}))
    return pd.concat(frames, ignore_index=True)


def left_out_change(reader: Reader) -> Tensor:
    """The total variation distance (B,T) of the output without each single word; 0 on padding."""
    whole = probabilities(reader.logits)
    return total_variation(probabilities(reader.each_out()), whole[:, None]).masked_fill(
        ~reader.batch.mask, 0
    )


def measure_agreement(bench: Bench, ground: Ground) -> Tables:
    """Agreement on every cell of the ground."""
    path = f"{__name__}:agreement_rows"
    table = bench.measured(ground.study("agreement"), Measure(path, {"limit": ground.limit}))
    say_undefined(bench, table, "tau", "no text has a rank correlation (one word each, or constant scores)")
    return {"agreement": table, "summary": summary(table)}


def means(rows: pd.DataFrame, column: str = "tau", **coordinates: str) -> list[Finding]:
    """Mean τ (or ρ, or overlap) of each pair of scores over a cell's rows, beside a random ranking."""
    found = []
    for first, second in PAIRS:
        own = rows[(rows["first"] == first) & (rows["second"] == second)]
        finding = mean_over_texts(
            own,
            column,
            name=f"{NAMES[column]}, {first} and {second}",
            measured=f"mean over texts between {first} and {second}",
            baselines={"random": f"random_{column}"},
            within=(0.0 if column == "overlap" else -1.0, 1.0),
            better="higher",
            coordinates=coordinates,
        )
        if finding is not None:
            found.append(finding)
    return found


def significant(rows: pd.DataFrame, first: str, second: str, **coordinates: str) -> Finding | None:
    """The share of texts with a significant τ, the false-discovery rate controlled over all of a run's.

    Beside it stands the share that a random ranking reaches against the first of the two scores, its own
    false-discovery rate controlled over the same texts.
    """
    return share_of_texts(
        rows[(rows["first"] == first) & (rows["second"] == second)],
        "significant",
        name=f"share of significant τ, {first} and {second}",
        measured="share of texts whose τ-b differs from 0, false-discovery rate 0.05 over all texts of a run",
        baselines={"random": "random_significant"},
        better="higher",
        coordinates=coordinates,
    )


def agreement_findings(tables: Tables) -> list[Finding]:
    """All findings of the table, cell by cell."""
    found = []
    for where, rows in cells(tables["agreement"]):
        found += means(rows, "tau", **where)
        found += defined(*(significant(rows, first, second, **where) for first, second in PAIRS))
        found += means(rows, "spearman", **where) + means(rows, "overlap", **where)
        for group, own in groups(rows):
            found += means(own, "tau", **where, **group) if group else []
    return found


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mean τ and share of significant ones, a line a pair of scores, a random ranking beside both."""
    lines = []
    for where, rows in cells(table):
        for tau in means(rows):
            pair = tau.name.partition(", ")[2]
            first, _, second = pair.partition(" and ")
            share = significant(rows, first, second)
            lines.append(
                {
                    **where,
                    "pair": pair,
                    "mean τ-b": shown(tau),
                    "random τ-b": _random(tau),
                    "significant": shown(share),
                    "significant, random": _random(share),
                    "texts": rows["instance"].nunique(),
                    "seeds": rows["seed"].nunique(),
                }
            )
    return pd.DataFrame(lines)


def _random(finding: Finding | None) -> str:
    random = finding.baselines.get("random") if finding is not None else None
    return "–" if random is None else f"{random.value:.3f}"


def agreement_claims(tables: Tables) -> Sequence[Claim]:
    """Weak agreement, the yardstick, and encoders compared, corpus by corpus."""
    claims = []
    table = tables["agreement"]
    for corpus, own in table.groupby("corpus", sort=False):
        model = main_model(own["model"])
        rows = own[own["model"] == model]
        where = {"corpus": str(corpus), "model": model}
        for finding in means(rows, **where):
            if " gradient and " in finding.name:
                continue  # the yardstick
            second = finding.name.rpartition(" and ")[2]
            claims.append(
                Claim.decided(
                    f"On {corpus}, attention agrees only weakly with {second} (mean τ below {WEAK:g})",
                    PLACE,
                    effect=finding,
                    comparison="<",
                    threshold=WEAK,
                )
            )
        yardstick = lead(rows, ("gradient", "leave-one-out"), ("attention", "leave-one-out"), **where)
        if yardstick is not None:
            statement = f"On {corpus}, gradients agree better with leave-one-out than attention does"
            claims.append(Claim.decided(statement, PLACE, effect=yardstick, comparison=">", threshold=0))
        simple = model.replace("bilstm", "average")
        if simple != model and simple in set(own["model"]):
            gain = between_models(own, simple, model, corpus=str(corpus))
            if gain is not None:
                statement = f"On {corpus}, attention agrees better with gradients without a recurrent encoder"
                claims.append(Claim.decided(statement, PLACE, effect=gain, comparison=">", threshold=0))
    return claims


def lead(rows: pd.DataFrame, one: tuple[str, str], other: tuple[str, str], **where: str) -> Finding | None:
    """How much further one pair of scores agrees than another on the same texts."""
    return lead_over_texts(
        rows[(rows["first"] == one[0]) & (rows["second"] == one[1])],
        rows[(rows["first"] == other[0]) & (rows["second"] == other[1])],
        "tau",
        name=f"lead of τ({one[0]}, {one[1]}) over τ({other[0]}, {other[1]})",
        measured="difference of the two τ-b, mean over texts, paired",
        within=(-2.0, 2.0),
        coordinates=where,
    )


def between_models(table: pd.DataFrame, one: str, other: str, **where: str) -> Finding | None:
    """How much further attention and gradients agree in one model than in another, on the same texts."""
    chosen = table[(table["first"] == "attention") & (table["second"] == "gradient")]
    return lead_over_texts(
        chosen[chosen["model"] == one],
        chosen[chosen["model"] == other],
        "tau",
        name=f"τ(attention, gradient) of {one} above that of {other}",
        measured="difference of the mean τ-b of two models, paired over texts",
        within=(-2.0, 2.0),
        coordinates=where,
    )
