"""One model of the truth bench: made, audited, and everything measured of it that is published."""

import math
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from heedful.auditing.maps import paint, read_only
from heedful.auditing.names import shown_names
from heedful.auditing.reading import ReadSettings, ReadSubject, maps_of, read_subject
from heedful.bench.truth.catalogue import Recipe
from heedful.bench.truth.covering import MEASURED, beside, is_covered
from heedful.bench.truth.labels import aim_of
from heedful.bench.truth.making import Made, make
from heedful.files import write_atomically
from heedful.records import Finding

ROWS = "rows"  # folder of the audited texts' rows
RANKED_TEXTS, DEAR_RANKED_TEXTS = 100, 40  # texts on which maps are compared with the planted words


@dataclass(frozen=True)
class Job:
    """Where results go, and how much is measured beside the audit."""

    folder: Path
    texts: int = 200
    again: bool = True  # audit a second time, on other texts with another seed
    covered: bool = True


def measure(recipe: Recipe, job: Job) -> dict[str, Any]:
    """Everything that is published of one model."""
    begun = time.perf_counter()
    made = make(recipe)
    row = {**about(recipe), **_of_making(made), "seconds_made": time.perf_counter() - begun}
    if not row["made"]:
        return row
    begun = time.perf_counter()
    texts, half = made.planted.texts, len(made.planted) // 2
    # Thresholds are fitted on all texts of a model; what is published was allowed to stop.
    settings = ReadSettings(texts=job.texts, looks=recipe.part != "fit")
    found = read_subject(made.subject, texts[:half], settings=settings, seed=recipe.seed)
    row |= {**of_reading(found), "seconds_audited": time.perf_counter() - begun}
    rows = pd.concat(
        [
            found.rows.assign(operator=False),
            found.operator_rows.assign(operator=True),
        ]
    )
    with write_atomically(job.folder / ROWS / f"{recipe.key}.parquet", "wb") as file:
        rows.to_parquet(file, index=False)
    row |= _of_rankings(made, found)
    published = recipe.part != "fit"
    if published and job.again and recipe.architecture != "minilm":
        second = read_subject(made.subject, texts[half:], settings=settings, seed=recipe.seed + 1)
        row["second_reading"] = second.reading
    if published and job.covered and is_covered(recipe):
        row |= beside(made, settings)
    return row


def lacks(recipe: Recipe, job: Job, row: dict[str, Any]) -> bool:
    """Whether a row of an earlier run is of a model of which more is measured now."""
    asked = job.covered and recipe.part != "fit" and is_covered(recipe)
    return asked and bool(row["made"]) and MEASURED not in row


def add(recipe: Recipe, job: Job, row: dict[str, Any]) -> dict[str, Any]:
    """This row with what it lacks, of the model made again."""
    return {**row, **beside(make(recipe), ReadSettings(texts=job.texts))}


def about(recipe: Recipe) -> dict[str, Any]:
    """What a row says of its recipe."""
    task = recipe.task
    return {
        "key": recipe.key,
        "digest": recipe.digest,
        "part": recipe.part,
        "kind": recipe.kind,
        "architecture": recipe.architecture,
        "corpus": task.corpus,
        "truth": task.truth,
        "way": recipe.way,
        "wanted": recipe.want,
        "classes": task.classes,
        "deciders": task.deciding,
        "decoys": task.decoys,
        "shortest": task.length[0],
        "longest": task.length[1],
        "ratio": task.ratio,
        "noise": task.noise,
        "margin": getattr(recipe.how, "margin", math.nan),
        "seed": recipe.seed,
    }


def _of_making(made: Made) -> dict[str, Any]:
    use, aim = made.use, made.aim
    row = {
        "made": aim is not None,
        "fault": "" if aim else "the use test does not confirm its deciding words",
        "tries": made.tries,
        "accuracy": use.accuracy,
        "without": use.without,
        "undecoyed": use.undecoyed,
        "decided": made.deciding.any(1).mean(),
    }
    return row if aim is None else {**row, **asdict(aim)}


def of_reading(found: ReadSubject) -> dict[str, Any]:
    """What a row says of an audit."""
    verdict = found.verdict
    row: dict[str, Any] = {
        "reading": found.reading,
        "reason": verdict.reasons[0] if verdict.reasons else "",
        "level": found.level,
        "texts": len(found.rows),
        "evaluations": found.evaluations,
        "limit": verdict.limit.value if verdict.limit else math.nan,
        "room": verdict.room.value if verdict.room else math.nan,
        "defaults": sum(one.default for one in verdict.classes),
        "instead": found.instead.ranking if found.instead else "",
    }
    for name, number in (("skill", verdict.skill), ("paint", verdict.paint), ("strongest", verdict.first)):
        row |= _ends(name, number)
    row["hidden_skill"] = verdict.operator.value if verdict.operator else math.nan
    row |= {f"skill_{name}": one.value for name, one in found.rankings.items()}
    return row


def _ends(name: str, found: Finding | None) -> dict[str, float]:
    if found is None or found.interval is None:
        return {name: math.nan if found is None else found.value}
    return {name: found.value, f"{name}_low": found.interval.low, f"{name}_high": found.interval.high}


def _of_rankings(made: Made, found: ReadSubject) -> dict[str, float]:
    """Where every map of the subject aims, against the planted words; and the one that is recommended."""
    dear = made.recipe.architecture == "minilm"
    rows = np.flatnonzero(made.deciding.any(1))[: DEAR_RANKED_TEXTS if dear else RANKED_TEXTS]
    planted = made.planted.take(rows)
    maps = replace(maps_of(made.subject), dear=frozenset())
    reader, _ = read_only(made.subject, made.subject.encode(planted.texts))
    row: dict[str, float] = {}
    for name, scores in paint(reader, maps, seed=made.recipe.seed).items():
        aim = aim_of(scores.abs().numpy(), planted, made.deciding[rows], seed=made.recipe.seed)
        row |= {f"first_{name}": aim.first, f"k_{name}": aim.k}
    row["best_first"] = max(row[f"first_{name}"] for name in shown_names(maps.names))
    if found.instead:
        row["instead_first"] = row[f"first_{found.instead.ranking}"]
    return row
