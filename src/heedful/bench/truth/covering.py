"""What is measured of some models only: do intervals cover, and do regressions find the planted words?

Coverage: how many of several audits have an interval that covers what a whole pool of texts says with ten
times the deletions. Counted with the intervals that the audits used, whose looks have higher levels, and with
those of 95 % from the same texts.

Regressions: φ itself, LIME and Shapley values from one set of deletions, as an audit has them. They foretell
those deletions too well. So all maps of these models are compared by where they aim, and by a second
operator: words that are hidden instead of deleted.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from heedful.auditing.maps import Maps, map_rows, paint, read_only
from heedful.auditing.reading import ReadSettings, hidden_maps, maps_of, read_subject
from heedful.auditing.rule import Verdict, judge
from heedful.auditing.skill import Scored
from heedful.bench.truth.catalogue import BUILT, Recipe
from heedful.bench.truth.labels import aim_of
from heedful.bench.truth.making import CHEAP, Made, seed_of
from heedful.bench.truth.planting import plant
from heedful.records import Finding
from heedful.trials.erasure.heat_map import effects_of
from heedful.trials.erasure.random_deletions import read_deletions
from heedful.trials.erasure.rereading import Reader
from heedful.trials.rankings.ranking import Ranking
from heedful.trials.rankings.regressions import lime_of, said_at_ends, shapley_of

AUDITS = 5  # of a model
TIMES = 10  # as many deletions for what an interval should cover
LEVEL = 0.95  # of intervals that are not those of a look
OF = 3  # every so many of the models whose deletions are products,
LENGTH = 30  # if their texts have no more words
READ_AGAIN = ("conv", "lstm", "bilstm", "bert")  # trained; each deletion is a text that is read
READ_LENGTH, READ_POOL = 20, 800  # words of their texts, and texts of which all is asked
REGRESSED = ("effects", "lime", "shapley")
REGRESSED_TEXTS = 60
MEASURED = "at_95_skill"  # a column of rows of which all this was measured


def is_covered(recipe: Recipe) -> bool:
    """Whether coverage is measured of this model: it must be read very often."""
    longest = recipe.task.length[1]
    if recipe.kind == BUILT:
        products = recipe.architecture in CHEAP and recipe.way != "place"
        return products and longest <= LENGTH and recipe.seed % OF == 0
    return recipe.architecture in READ_AGAIN and longest <= READ_LENGTH


def beside(made: Made, settings: ReadSettings) -> dict[str, Any]:
    """All that is measured of such a model."""
    return {**_coverage(made, settings), **_regressions(made, settings)}


def _coverage(made: Made, settings: ReadSettings) -> dict[str, int]:
    """How many of several audits cover what all texts say with ten times the deletions."""
    if made.recipe.kind != BUILT:
        texts = plant(made.recipe.task, READ_POOL, seed=seed_of(made.recipe, made.tries))
        made = replace(made, planted=texts)
    truth = _of_all(made, settings)
    row = {"covered_audits": 0}
    row |= {f"{kind}_{name}": 0 for kind in ("covered", "at_95") for name in truth}
    for number in range(AUDITS):
        seed = made.recipe.seed + 2 + number
        found = read_subject(made.subject, made.planted.texts, settings=settings, seed=seed)
        if any(one is None or one.interval is None for one in _numbers(found.verdict).values()):
            continue
        row["covered_audits"] += 1
        plain = judge(found.rows, found.shown, found.classes, level=LEVEL, seed=seed)
        for kind, verdict in (("covered", found.verdict), ("at_95", plain)):
            for name, one in _numbers(verdict).items():
                if one is not None and one.interval is not None:
                    row[f"{kind}_{name}"] += int(one.interval.low <= truth[name] <= one.interval.high)
    return row


def _numbers(verdict: Verdict) -> dict[str, Finding | None]:
    return {"skill": verdict.skill, "paint": verdict.paint, "strongest": verdict.first}


def _of_all(made: Made, settings: ReadSettings) -> dict[str, float]:
    """Skill, paint and strongest word over all texts, with ten times the deletions."""
    maps = maps_of(made.subject, settings=settings)
    maps = Maps(("attention",), per_word=TIMES * maps.per_word, most=TIMES * maps.most, sample=1)
    texts = made.planted.texts
    parts = []
    for rows in np.array_split(np.arange(len(texts)), max(1, len(texts) // 50)):
        reader, _ = read_only(made.subject, made.subject.encode([texts[row] for row in rows]))
        parts.append(map_rows(reader, maps, seed=made.recipe.seed))
    rows = _alike(pd.concat(parts, ignore_index=True))
    verdict = judge(rows, "attention", [f"class {k}" for k in range(made.recipe.task.classes)])
    defaults = [k for k, one in enumerate(verdict.classes) if one.default]
    scored = Scored(rows[~rows["decided"].isin(defaults)])
    found = {"skill": scored.skill("attention"), "paint": scored.paint("attention")}
    found["strongest"] = scored.first("attention")
    return {name: math.nan if one is None else one.value for name, one in found.items()}


def _regressions(made: Made, settings: ReadSettings) -> dict[str, float]:
    """Where regressions aim, and what every map foretells of words that are hidden instead of deleted."""
    places = np.flatnonzero(made.deciding.any(1))[:REGRESSED_TEXTS]
    planted, seed = made.planted.take(places), made.recipe.seed
    maps = replace(maps_of(made.subject, settings=settings), dear=frozenset())
    reader, _ = read_only(made.subject, made.subject.encode(planted.texts))
    regressed = _regressed(reader, maps, seed=seed)
    row: dict[str, float] = {}
    for name, scores in regressed.items():
        aim = aim_of(scores.abs().numpy(), planted, made.deciding[places], seed=seed)
        row |= {f"first_{name}": aim.first, f"k_{name}": aim.k}
    painted = {**paint(reader, maps, seed=seed), **regressed}
    hidden = replace(
        hidden_maps(maps), names=tuple(painted), own={name: _given(one) for name, one in painted.items()}
    )
    second = Reader(made.subject, reader.batch, how=hidden.how)
    scored = Scored(_alike(map_rows(second, hidden, seed=seed)))
    for name in painted:
        skill = scored.skill(name)
        row[f"hiding_{name}"] = math.nan if skill is None else skill.value
    return row


def _regressed(reader: Reader, maps: Maps, *, seed: int) -> dict[str, Tensor]:
    """The words' effects, LIME and Shapley values (B,T), from as many deletions as an audit has."""
    mask = reader.batch.mask.cpu()
    ends = said_at_ends(reader)
    scores = {name: torch.zeros(mask.shape, dtype=torch.float64) for name in REGRESSED}
    for found in read_deletions(reader, per_word=maps.per_word, most=maps.most, seed=seed):
        rows = torch.from_numpy(found.rows)
        here = {name: value[rows] for name, value in ends.items()}
        scores["effects"][rows] = effects_of(found, mask[rows]).mean
        scores["lime"][rows] = lime_of(found, mask[rows]).scores
        scores["shapley"][rows] = shapley_of(found, mask[rows], **here).scores
    return scores


def _given(scores: Tensor) -> Ranking:
    """A ranking that is known already."""

    def known(reader: Reader, /, *, seed: int = 0) -> Tensor:
        return scores

    return known


def _alike(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of different texts that count alike."""
    return rows.assign(weight=1.0, cluster=np.arange(len(rows)))
