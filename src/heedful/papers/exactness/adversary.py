"""How far the published search for other weights falls short of the farthest there are.

Jain & Wallace (2019, 4.2.2) look for weights that are far from a model's own and leave its output within ε,
by gradient ascent: 5 restarts of 500 steps. For two classes under a linear head the maximum is known
(`trials.weights.adversary`), so what the ascent misses can be said text by text.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from heedful.data.corpus import Corpus
from heedful.drawing import COLOURS, new_figure
from heedful.papers.exactness import trainings
from heedful.papers.jain_wallace.adversary import EPSILON, FAR, PUBLISHED
from heedful.papers.jain_wallace.moved_weights import moved_rows
from heedful.papers.names import corpus_label, model_label
from heedful.records import Claim, Finding
from heedful.study.experiment import Experiment, Tables
from heedful.study.pooling import MOST_APART, cells, mean_over_texts, share_of_texts, shown
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from heedful.models import Trace
    from heedful.training import Run

SOURCE = "Beyond Jain & Wallace (2019), 4.2.2: the exact adversary"
LIMIT = 500  # test texts: the ascent takes a thousand times as long
NOTICED = 0.01  # nats: a smaller shortfall is nothing
# Nats. The ascent climbs in single precision: it may pass the bound on the output by some 1e-7, and its
# weights by that over the output's slope, which is flat where two words say nearly the same.
ROUNDING = 1e-5


def both_rows(run: "Run", corpus: Corpus, *, limit: int | None = None) -> pd.DataFrame:
    """A measure: the farthest weights' divergence of each text, exact and as the ascent finds it, in nats."""
    from heedful.trials.weights.adversary import exact_adversary
    from heedful.trials.weights.ascent import ascent_adversary

    def farthest(trace: "Trace") -> pd.DataFrame:
        exact = exact_adversary(trace, EPSILON)
        restarts, steps = PUBLISHED["restarts"], PUBLISHED["steps"]
        climbed = ascent_adversary(trace, EPSILON, restarts=restarts, steps=steps)
        alone = (trace.item_counts <= 1).numpy()
        return pd.DataFrame(
            {
                "decided": exact.decided.numpy(),
                "items": trace.item_counts.numpy(),
                "exact": np.where(alone, np.nan, exact.divergence.double().numpy()),
                "ascent": np.where(alone, np.nan, climbed.divergence.double().numpy()),
            }
        )

    return moved_rows(run, corpus, limit=limit, measure=farthest)


def measure(bench: Bench) -> Tables:
    """Both adversaries on every cell of two classes."""
    study = trainings.study(bench, "exact adversary", trainings.TWO_CLASSES)
    rows = bench.measured(study, Measure(both_rows, {"limit": trainings.limit(bench, LIMIT)}))
    rows = rows.drop(columns=["cell", "measure", "decided"])
    return {"summary": summary(rows), "adversary": rows}


def shortfall(rows: pd.DataFrame, **where: str) -> Finding | None:
    """What the ascent misses, on average."""
    return mean_over_texts(
        rows.assign(short=rows["exact"] - rows["ascent"]),
        "short",
        name="shortfall of the published ascent",
        measured="JSD of the exact farthest weights − of the best that 5 × 500 steps of ascent found; mean",
        within=(-MOST_APART, MOST_APART),
        unit="nats",
        coordinates=where,
    )


def missed(rows: pd.DataFrame, **where: str) -> Finding | None:
    """Of the texts that have far other weights, the share for which the ascent finds none so far."""
    far = rows[rows["exact"] >= FAR]
    return share_of_texts(
        far.assign(missed=far["ascent"] < FAR),
        "missed",
        name="far weights that the ascent misses",
        measured=f"share of the texts with weights at {FAR:g} nats or more where the ascent stays below",
        unit="of instances",
        better="lower",
        coordinates=where,
    )


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """A line a cell: both means, what is missed, and how often the ascent got farther (rounding aside)."""
    lines = []
    for where, own in cells(rows):
        lines.append(
            {
                **where,
                "texts": own["instance"].nunique(),
                "seeds": own["seed"].nunique(),
                "exact, nats": f"{own['exact'].mean():.3f}",
                "ascent, nats": f"{own['ascent'].mean():.3f}",
                "shortfall, nats": shown(shortfall(own)),
                f"far (≥ {FAR:g}) and missed": shown(missed(own)),
                "ascent farther": int((own["ascent"] > own["exact"] + ROUNDING).sum()),
            }
        )
    return pd.DataFrame(lines)


def claims(tables: Tables) -> Iterator[Claim]:
    """In each model: the ascent never gets farther, and what it misses can be noticed."""
    for where, rows in cells(tables["adversary"]):
        on = f"({corpus_label(where['corpus'])}, {where['model']})"
        known = rows.dropna(subset=["exact"])
        yield Claim.decided(
            f"The published ascent finds no weights farther than the exact ones {on}",
            SOURCE,
            effect=Finding(
                "texts where the ascent got farther",
                float((known["ascent"] > known["exact"] + ROUNDING).sum()),
                count=len(known),
                seeds=known["seed"].nunique(),
                measured=f"texts whose ascent is above the exact maximum by over {ROUNDING:g} nats",
                kind="exact",
                coordinates=where,
            ),
            comparison="<=",
            threshold=0,
        )
        short = shortfall(rows, **where)
        if short is not None:
            yield Claim.decided(
                f"The published ascent falls short of the farthest weights by over {NOTICED:g} nats {on}",
                SOURCE,
                effect=short,
                comparison=">",
                threshold=NOTICED,
            )


def draw_shortfalls(tables: Tables) -> "Figure":
    """For each model, the share of texts whose shortfall is at least so large; a panel a corpus."""
    rows = tables["adversary"].dropna(subset=["exact"])
    corpora, models = list(rows["corpus"].unique()), list(rows["model"].unique())
    figure = new_figure(max(4.6, 3.2 * len(corpora)), 3.0)
    axes = figure.subplots(1, len(corpora), squeeze=False, sharex=True, sharey=True)[0]
    for axis, corpus in zip(axes, corpora, strict=True):
        for place, model in enumerate(models):
            own = rows[(rows["corpus"] == corpus) & (rows["model"] == model)]
            short = np.sort((own["exact"] - own["ascent"]).clip(lower=0).to_numpy())[::-1]
            if len(short):
                share = np.arange(1, len(short) + 1) / len(short)
                axis.step(
                    short, share, where="pre", color=COLOURS[place % len(COLOURS)], label=model_label(model)
                )
        axis.set_title(corpus_label(corpus), fontsize=9)
        axis.set_xlabel("exact − ascent, nats")
        axis.set_xlim(left=0)
        axis.set_ylim(0, 1)
    axes[0].set_ylabel("share of texts, at least so far apart")
    drawn = {str(line.get_label()): line for axis in axes for line in axis.get_lines()}
    figure.legend(handles=drawn.values(), loc="outside upper center", ncols=4, fontsize=8)
    return figure


EXPERIMENT = Experiment(
    "exactness-adversary",
    "How far the published adversary falls short of the exact one",
    SOURCE,
    measure,
    claims,
    {"exactness-adversary": draw_shortfalls},
)
