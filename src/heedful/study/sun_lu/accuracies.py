"""Table 2: test accuracy by corpus, model and scale, ours beside the printed one (Sun & Lu, 2020, §5)."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from heedful.records import Claim, Finding
from heedful.records.closed_form import seeds_interval
from heedful.study.experiment import Experiment, Tables
from heedful.study.sun_lu import trainings
from heedful.study.sun_lu.effects import effect_of_runs
from heedful.study.sun_lu.patterns import NAMES
from heedful.study.sun_lu.printed import CORPORA, MODELS, SCALES, printed_accuracies
from heedful.study.workbench import Bench

SOURCE = "Sun & Lu (2020), §5, Table 2"
QUICK_SCALES = (0.001, 1.0, 10.0, 10000.0)
NEAR = 2.0  # points: what counts as the printed accuracy
SIMILAR = 3.0  # points: what counts as no significant impact (the paper's own λ 10 and 10,000 differ by 2.6)


def measure(bench: Bench) -> Tables:
    """Train every cell and put the means over seeds beside the printed accuracies."""
    corpora = trainings.some(bench, "corpora", CORPORA, quick=("sst",))
    models = trainings.some(bench, "models", MODELS, quick=("dp",))
    seeds = trainings.seeds(bench, quick=trainings.QUICK_SEEDS)
    runs = pd.concat(
        [
            trainings.on_corpus(
                bench,
                corpus,
                trainings.RESULT,
                models=models,
                scales=QUICK_SCALES if bench.quick else SCALES,
                seeds=seeds,
            )
            for corpus in corpora
        ],
        ignore_index=True,
    )
    kept = ["corpus", "model", "scale", "seed", "epoch", "epochs", "dev_accuracy", "test_accuracy", "seconds"]
    return {"summary": compared(runs), "runs": runs[kept]}


def compared(runs: pd.DataFrame) -> pd.DataFrame:
    """One row a setting, in %: our mean with its interval over seeds, the printed number, the difference."""
    rows = []
    for (corpus, model, scale), own in runs.groupby(["corpus", "model", "scale"], sort=False):
        values = 100 * own["test_accuracy"].to_numpy()
        span = seeds_interval(values)
        ends = {"low": span.low, "high": span.high} if span.bounded else {"low": np.nan, "high": np.nan}
        rows.append(
            {
                "corpus": corpus,
                "model": model,
                "scale": scale,
                "accuracy": values.mean(),
                **ends,
                "seeds": len(values),
            }
        )
    table = pd.DataFrame(rows).merge(printed_accuracies(), on=["corpus", "model", "scale"], how="left")
    return table.assign(difference=table["accuracy"] - table["printed"])


def claims(tables: Tables) -> Iterator[Claim]:
    """What §5 reads from the table, and whether the numbers themselves are had again."""
    for (corpus, model), runs in tables["runs"].groupby(["corpus", "model"], sort=False):
        where = f"{NAMES[corpus]}, {model}"
        table = 100 * runs.pivot(index="seed", columns="scale", values="test_accuracy")
        for small in (0.001, 1.0):
            if {small, 10.0} <= set(table):
                yield Claim.decided(
                    f"λ = {small:g} makes accuracy worse than λ = 10 ({where})",
                    SOURCE,
                    effect=_difference(
                        table[10.0] - table[small], f"accuracy at λ 10 − at λ {small:g}", runs
                    ),
                    comparison=">",
                    threshold=0,
                )
        if {10.0, 10000.0} <= set(table):
            yield Claim.decided(
                f"A very large λ has no significant impact on accuracy: within {SIMILAR:g} points ({where})",
                SOURCE,
                effect=_difference(table[10000.0] - table[10.0], "accuracy at λ 10,000 − at λ 10", runs),
                comparison="within",
                threshold=SIMILAR,
            )
        large = [scale for scale in table if scale >= 10]
        printed = printed_accuracies().query("corpus == @corpus and model == @model").set_index("scale")
        differences = table[large] - printed.loc[large, "printed"]
        worst = differences.mean().abs().idxmax()
        yield Claim.decided(
            f"Accuracy at every λ ≥ 10 is that of Table 2, within {NEAR:g} points ({where})",
            SOURCE,
            effect=_difference(
                differences[worst], f"accuracy − printed at λ {worst:g}, where they differ most", runs
            ),
            comparison="within",
            threshold=NEAR,
        )


def _difference(values: pd.Series, name: str, runs: pd.DataFrame) -> Finding:
    return effect_of_runs(
        name,
        list(values),
        measured="Test accuracy of the epoch that dev chose, the same seeds on both sides.",
        count=len(runs),
        unit="points",
    )


TABLE_TWO = Experiment(
    "sun-lu-table2",
    "Test accuracy by corpus, model and λ",
    SOURCE,
    measure,
    lambda tables: tuple(claims(tables)),
    figures=("sun-lu-table2",),
    minutes=(1, 3500),
)
