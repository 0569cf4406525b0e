"""One model of the truth bench: made, audited, and everything measured of it that is published."""

import math
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from heedful.auditing.maps import Maps, map_rows, paint, read_only
from heedful.auditing.names import shown_names
from heedful.auditing.reading import ReadSettings, ReadSubject, maps_of, read_subject
from heedful.auditing.rule import judge
from heedful.auditing.skill import Scored
from heedful.bench.truth.catalogue import BUILT, Recipe
from heedful.bench.truth.labels import aim_of
from heedful.bench.truth.making import CHEAP, Made, make
from heedful.files import write_atomically
from heedful.records import Finding

ROWS = "rows"  # folder of the audited texts' rows
RANKED_TEXTS, DEAR_RANKED_TEXTS = 100, 40  # texts on which maps are compared with the planted words
COVERED_AUDITS, COVERED_LENGTH = 5, 30  # audits of a cheap model whose texts have no more words
COVERED_OF = 3  # every so many of them
TIMES = 10  # as many deletions for what an interval should cover


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
    if published and job.covered and _is_covered(recipe):
        row |= _coverage(made, settings)
    return row


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


def _is_covered(recipe: Recipe) -> bool:
    cheap = recipe.architecture in CHEAP and recipe.kind == BUILT and recipe.way != "place"
    return cheap and recipe.task.length[1] <= COVERED_LENGTH and recipe.seed % COVERED_OF == 0


def _coverage(made: Made, settings: ReadSettings) -> dict[str, int]:
    """How many of several audits cover what all texts say with ten times the deletions."""
    truth = _of_all(made, settings)
    row = {"covered_audits": 0} | {f"covered_{name}": 0 for name in truth}
    for number in range(COVERED_AUDITS):
        seed = made.recipe.seed + 2 + number
        verdict = read_subject(made.subject, made.planted.texts, settings=settings, seed=seed).verdict
        numbers = {"skill": verdict.skill, "paint": verdict.paint, "strongest": verdict.first}
        if any(one is None or one.interval is None for one in numbers.values()):
            continue
        row["covered_audits"] += 1
        for name, one in numbers.items():
            assert one is not None
            assert one.interval is not None
            row[f"covered_{name}"] += int(one.interval.low <= truth[name] <= one.interval.high)
    return row


def _of_all(made: Made, settings: ReadSettings) -> dict[str, float]:
    """Skill, paint and strongest word over all texts, with ten times the deletions."""
    maps = maps_of(made.subject, settings=settings)
    maps = Maps(("attention",), per_word=TIMES * maps.per_word, most=TIMES * maps.most, sample=1)
    texts = made.planted.texts
    parts = []
    for rows in np.array_split(np.arange(len(texts)), max(1, len(texts) // 50)):
        reader, _ = read_only(made.subject, made.subject.encode([texts[row] for row in rows]))
        parts.append(map_rows(reader, maps, seed=made.recipe.seed))
    rows = pd.concat(parts, ignore_index=True).assign(weight=1.0)
    rows = rows.assign(cluster=np.arange(len(rows)))
    verdict = judge(rows, "attention", [f"class {k}" for k in range(made.recipe.task.classes)])
    defaults = [k for k, one in enumerate(verdict.classes) if one.default]
    scored = Scored(rows[~rows["decided"].isin(defaults)])
    found = {"skill": scored.skill("attention"), "paint": scored.paint("attention")}
    found["strongest"] = scored.first("attention")
    return {name: math.nan if one is None else one.value for name, one in found.items()}
