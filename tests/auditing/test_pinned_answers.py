"""Every question's whole answer, from rows made up by hand or drawn: words, findings, scale, digit for digit.

`PYTHONPATH=src:tests:tests/auditing python tests/auditing/test_pinned_answers.py` writes pinned_answers.jsonl
anew; the diff says which answers moved.
"""

import math
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from hand_made import CLASSES, LIMITS, of_map, read, rows_of

from heedful.auditing.instead import instead
from heedful.auditing.plan import AuditSettings
from heedful.auditing.questions import (
    NotAsked,
    adversary,
    agreement,
    foretells,
    head,
    labels,
    needed,
    stable,
    top,
)
from heedful.auditing.questions.head import even
from heedful.auditing.reading import ReadSubject
from heedful.auditing.sampling import LEVELS, Draw
from heedful.auditing.skill import Scored
from heedful.auditing.steady import Painted, compared
from heedful.models.trace import Trace
from heedful.study.seeds import pair_columns
from pinned import check, keep, kept

PINNED = Path(__file__).with_name("pinned_answers.jsonl")
NAN = float("nan")


def asking(seeds=3, **more):
    return SimpleNamespace(about={"corpus": "films"}, seed=0, settings=AuditSettings(seeds=seeds), **more)


def told(question, frame, **more):
    """The answer, or why it is not asked."""
    try:
        return question.answer(frame, asking(**more)).to_dict()
    except NotAsked as why:
        return str(why)


def draw(seed=0):
    return np.random.default_rng(seed)


def drawn_rows(seed=1, **columns):
    """Texts whose maps predict something, drawn."""
    chance = draw(seed)
    numbers = {}
    for name, mean in (("attention", 0.7), ("gradient", 0.9), ("random", 0.1), ("shuffled", 0.3)):
        told_here = chance.normal(mean, 0.3, 64)
        shares = np.clip(chance.normal(mean, 0.2, (2, 64)), 0, 1)
        numbers |= of_map(
            name, told=told_here, signed=told_here - 0.1, paint=shares[0], first=shares[1] > 0.5
        )
        numbers[f"against_{name}"] = 0.1 * shares[1]
    more = {
        "size": chance.uniform(1, 2, 64),
        "blank": 0.2,
        "blank_signed": 0.1,
        "weight": chance.uniform(1, 3, 64),
    }
    more |= {"limit": 1.3, "explained": 0.2, "words": np.where(np.arange(64) % 16, 5, 1)}
    rows = rows_of(maps=("attention", "gradient", "random", "shuffled"), **{**numbers, **more, **columns})
    rows[[name for name in rows if name.startswith("first")]] *= 1.0
    return rows


def skill(rows, operator=None):
    verdict = read(rows, operator=operator)
    scored = Scored(rows[rows["words"] > 1])
    found = ReadSubject("attention", CLASSES, verdict, rows, pd.DataFrame(), None, scored, 0.95, 1)
    return told(foretells, rows, read=found)


def drawn_figure(rows):
    """What the figure of every map shows: names and places, and not those of classes or hidden words."""
    verdict, scored = read(rows, operator=rows_of(16)), Scored(rows[rows["words"] > 1])
    found = ReadSubject("attention", CLASSES, verdict, rows, pd.DataFrame(), None, scored, 0.95, 1)
    answer = foretells.answer(rows, asking(read=found))
    axes = foretells.figure(answer, rows).axes[0]
    return [label.get_text() for label in axes.get_yticklabels()]


def flips(smallest=True, **columns):
    chance = draw(2)
    frame = pd.DataFrame(
        {"items": np.where(np.arange(40) % 10, 7, 1), "single_attention_top_flips": chance.random(40) < 0.6,
         "single_shuffled_top_flips": chance.random(40) < 0.3,
         "single_attention_other_flips": chance.random(40) < 0.1}
    )  # fmt: skip
    if smallest:
        sizes = {
            f"size_{name}": np.resize([-1, 0, 1, 2, 5], 40) for name in ("attention", "random", "shuffled")
        }
        frame = frame.assign(
            smallest=np.resize([1, 2, 0, 1, -1, 3, 1], 40), smallest_shuffled=np.resize([2, 0, 1], 40),
            smallest_kind="exact", **sizes,
        )  # fmt: skip
    return frame.assign(**columns)


def taus(seed, gradient=0.5):
    chance = draw(seed)
    wide = 0.3 * chance.standard_normal((3, 40)) + np.array([[0.3], [0.1], [gradient]])
    frame = pd.DataFrame(dict(zip(("tau_attention", "tau_shuffled", "tau_gradient"), wide, strict=True)))
    frame.loc[3, "tau_gradient"] = NAN
    return frame


def far(kinds="exact", middle=0.35):
    chance = draw(4)
    return pd.DataFrame(
        {"divergence": np.clip(chance.normal(middle, 0.2, 30), 0, math.log(2)), "divergence_random": 0.1,
         "divergence_shuffled": 0.2, "permuted": chance.uniform(size=30), "kind": np.resize(kinds, 30)}
    )  # fmt: skip


def outcomes(own, uniform):
    chance = draw(5)
    label = chance.integers(0, 2, 80)
    wrong = chance.random((2, 80)) > np.array([[own], [uniform]])
    return pd.DataFrame({"label": label, "decided": label ^ wrong[0], "uniform": label ^ wrong[1]})


def overlaps(middle, shuffled=0.3, seeds=3):
    chance = draw(6)
    columns = {"words": 5, "shuffled_overlap": shuffled, "random_overlap": 0.2, "shuffled_divergence": 0.6}
    for name in ("overlap", "divergence"):
        most = 1.0 if name == "overlap" else math.log(2)
        pairs = np.clip(chance.normal(middle, 0.4, (seeds * (seeds - 1) // 2, 20)), 0, most)
        columns |= dict(zip(pair_columns(name, seeds), pairs, strict=True))
    return pd.DataFrame(columns)


def carried(mass, share):
    chance = draw(7)
    words = np.where(np.arange(40) % 8, 6, 1)
    columns = {"label_mass": np.clip(chance.normal(mass, 0.1, 40), 0, 1), "label_shuffled": 0.2}
    return pd.DataFrame({"words": words, **columns, "label_words": np.where(np.arange(40) % 5, share, 0.0)})


def better(**more):
    found = instead(Scored(drawn_rows(**more)), "attention", CLASSES, LIMITS)
    if found is None:
        return None
    ends = found.better_by.interval
    return [
        found.ranking,
        found.skill.value,
        found.better_by.value,
        ends.low,
        ends.high,
        found.reading,
        found.first,
    ]


def verdicts():
    """Readings of drawn rows, with all their numbers and reasons."""
    found = []
    for seed in range(1, 7):
        verdict = read(drawn_rows(seed), operator=drawn_rows(seed + 20)[:32], level=0.9)
        numbers = [verdict.skill, verdict.paint, verdict.first, verdict.limit, verdict.room, verdict.operator]
        ends = [[one.value, one.interval.low, one.interval.high] for one in numbers if one is not None]
        classes = [asdict(one) | {"skill": None, "paint": None, "first": None} for one in verdict.classes]
        found.append([verdict.reading, verdict.reasons, verdict.settled, verdict.linear_share, ends, classes])
    return found


def draws():
    decided = np.resize([0, 0, 0, 0, 1, 1, 2], 150)
    one = Draw(decided, 120, seed=2)
    parts = [
        one.take(share, leave=leave) for share, leave in ((0.25, ()), (0.5, ()), (0.8, (0,)), (1.0, (0,)))
    ]
    rows = np.concatenate(parts)
    others = [Draw(decided, 40, seed=seed).take(0.1).tolist() for seed in (-1, 1000, 2**63 + 5)]
    return [[part.tolist() for part in parts], one.weights(rows[:9]).tolist(), list(LEVELS), others]


def maps():
    mask = torch.tensor([[True] * 3, [True, True, False], [True, False, False], [True] * 3])
    own = Painted(
        torch.tensor([[0.1, -0.7, 0.2], [0.6, 0.4, 0], [1, 0, 0], [0.3, 0.3, 0.1]]),
        mask,
        torch.tensor([0, 1, 0, 1]),
    )
    wider = torch.cat([mask, torch.zeros(4, 1, dtype=torch.bool)], 1)
    other = torch.tensor([[0.2, 0.5, 0.3, 9], [0.1, 0.4, 0, 9], [1, 0, 0, 9], [0.1, 0.2, 0.3, 9]])
    moved = wider.clone()
    moved[0, 3] = True
    pairs = [compared(own, Painted(other, one, torch.tensor([0, 0, 0, 1])), "x") for one in (wider, moved)]
    return [
        {name: [None if np.isnan(one) else float(one) for one in column] for name, column in pair.items()}
        for pair in pairs
    ]


def spread():
    """Even weights of texts with marks, without any item, and with one."""
    rows = [[0.5, 0.3, 0.2], [0.6, 0.4, 0.0], [0.2, 0.3, 0.5], [0.5, 0.3, 0.2]]
    weights = torch.tensor(rows, dtype=torch.float64)
    items = torch.tensor([[-1, 0, 1], [0, 1, -1], [-1, -1, -1], [-1, 0, -1]])
    values, mask = torch.ones(4, 3, 2, dtype=torch.float64), torch.ones(4, 3, dtype=torch.bool)
    whole = even(Trace(weights, values, mask, torch.nn.Linear(2, 2).double(), items=items)).tolist()
    several = SimpleNamespace(weights=weights.view(2, 2, 3), items=items.view(2, 2, 3))  # rows of a text
    return [whole, even(several).tolist()]


CASES = {
    "foretells": lambda: skill(drawn_rows()),
    "foretells, hidden": lambda: skill(drawn_rows(2), operator=drawn_rows(3)[:20]),
    "foretells, its figure": lambda: drawn_figure(drawn_rows()),
    "top": partial(told, top, flips()),
    "top, multiples": lambda: top._times(flips(), "attention", "smallest").tolist(),
    "top, without sets": partial(told, top, flips(smallest=False)),
    "top, searched": partial(told, top, flips(smallest_kind="upper bound")),
    "top, one searched": partial(told, top, flips(smallest_kind=np.resize(["exact", "upper bound"], 40))),
    "top, never": partial(told, top, flips(smallest=0)),
    "top, shuffled never": partial(told, top, flips(smallest_shuffled=0)),
    "top, the best": partial(told, top, flips(size_attention=1, smallest=1)),
    "agreement": partial(told, agreement, taus(3)),
    "agreement, nothing": partial(told, agreement, taus(3) * 0),
    "agreement, below": partial(told, agreement, taus(8, gradient=-0.9) - 0.5),
    "adversary": partial(told, adversary, far()),
    "adversary, far": partial(told, adversary, far(middle=0.6)),
    "adversary, near": partial(told, adversary, far(middle=0.0)),
    "adversary, some searched": partial(told, adversary, far(["exact", "lower bound"])),
    "adversary, searched": partial(told, adversary, far("lower bound", middle=0.1)),
    "adversary, at": partial(told, adversary, far()[:2].assign(divergence=[0.0, adversary.FAR])),
    "adversary, about": partial(told, adversary, far().assign(divergence=np.resize([0.0, 0.7], 30))),
    "needed": partial(told, needed, outcomes(0.9, 0.6)),
    "needed, no": partial(told, needed, outcomes(0.6, 0.9)),
    "needed, unclear": partial(told, needed, outcomes(0.8, 0.78)),
    "stable": partial(told, stable, overlaps(0.6)),
    "stable, no": partial(told, stable, overlaps(0.05, shuffled=0.9)),
    "stable, always": partial(told, stable, overlaps(9.0, shuffled=0.0)),
    "stable, never": partial(told, stable, overlaps(-9.0, shuffled=1.0)),
    "stable, four": partial(told, stable, overlaps(0.3, seeds=4), seeds=4),
    "labels": partial(told, labels, carried(0.6, 0.3)),
    "labels, no": partial(told, labels, carried(0.1, 0.5)),
    "labels, none": partial(told, labels, carried(0.1, 0.0)),
    "head": lambda: told(
        head,
        pd.DataFrame({"decided": np.resize([0, 1, 1], 30), "nothing": np.resize([1.0, 1, 0], 30),
                      "even": np.resize([1.0, 0], 30), "odds": 2.0, "odds_nothing": draw(8).normal(size=30)}),
    ),
    "even weights": spread,
    "instead": better,
    "instead, not": lambda: better(**of_map("gradient", told=0.7)),
    "instead, close": lambda: better(**of_map("gradient", first=0.0)),
    "verdicts": verdicts,
    "draws": draws,
    "maps": maps,
}  # fmt: skip


def test_every_case_is_pinned():
    assert list(kept(PINNED)) == list(CASES)


@pytest.mark.parametrize("case", CASES)
def test_answers_are_what_they_were(case):
    check(PINNED, case, CASES[case]())


def test_of_all_maps_the_figure_shows_those_of_all_texts():
    assert len(drawn_figure(drawn_rows())) == 2  # attention and gradient; neither classes nor hidden words


if __name__ == "__main__":
    keep(PINNED, CASES)
