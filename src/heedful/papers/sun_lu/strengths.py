"""What rests on the strength of L2: trainings at several, and whether they say the same.

Sun & Lu (2020) put L2 on the affine layer, the LSTM and `ad`, and do not say how strongly; accuracy on dev
hardly tells strengths apart (docs/benchmarks.md). Figures that the strength may decide are therefore run at
several: the preset's, which dev accuracy chose, comes first, then weaker ones, down to none. That the paper
leaves the strength out says that it does not matter, which is judged too.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from heedful.papers.sun_lu import trainings
from heedful.papers.sun_lu.effects import above_neutral, effect_of_runs
from heedful.papers.sun_lu.words import l2_told, setting_of
from heedful.records import Claim
from heedful.study.workbench import Bench, Measure

AFFINE = (0.001, 0.0001, 0.0)  # dp-a
LSTM = (0.01, 0.0001, 0.0)  # dp-l
TWO = 0.001, 0.0  # dp-a and ad on IMDB, where trainings are long
LIES_ON = {"dp-a": "l2_encoder", "dp-l": "l2_encoder", "ad": "l2_attention"}
ALIKE = 0.1  # shares of pairs that differ by no more count as the same


def at_strengths(
    bench: Bench, corpus: str, measure: Measure, strengths: Sequence[float], *, model: str, **more: Any
) -> pd.DataFrame:
    """What `on_corpus` finds at each strength, told in the column `l2`; a quick look takes the first."""
    part = LIES_ON[model]
    found = [
        trainings.on_corpus(bench, corpus, measure, models=(model,), **{**more, part: strength})
        for strength in (strengths[:1] if bench.quick else strengths)
    ]
    return pd.concat(found, ignore_index=True).rename(columns={part: "l2"})


def alike(words: pd.DataFrame, column: str, what: str, source: str) -> Iterator[Claim]:
    """That how polar words compare with neutral ones does not depend on the strength; of one setting."""
    weakest, strongest = words["l2"].min(), words["l2"].max()
    if weakest == strongest:
        return
    weak, strong = (above_neutral(words[words["l2"] == end], column) for end in (weakest, strongest))
    ends = f"{l2_told(weakest)} and {l2_told(strongest)}"
    yield Claim.decided(
        f"How the {what} of polar and neutral words compares does not depend on the strength of L2 "
        f"({setting_of(words.drop(columns='l2'))}, {ends})",
        source,
        effect=effect_of_runs(
            f"share of pairs in which the polar word has the larger {what}, weak − strong L2",
            list(weak - strong),
            measured="All pairs of a polar and a neutral word; the same seeds at both strengths.",
            count=words["word"].nunique(),
            within=(-1, 1),
        ),
        comparison="within",
        threshold=ALIKE,
    )
