"""How far a map and a decision stay when a text is read again in a way that should not matter.

Two questions share this: noise that keeps the meaning, and the model's own dropout. Both are for models that
cannot be trained again. Few texts suffice: each is read several times more.

Axes: B texts, T words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from heedful.auditing.maps import paint, read_only
from heedful.auditing.names import HEAD, LAYER
from heedful.auditing.own_rankings import RowScores
from heedful.auditing.questions.answer import Answer, NotAsked, Question, mean_finding, outcome_of, scale_of
from heedful.data.batches import Batch
from heedful.models.subject import Subject
from heedful.records import Finding
from heedful.records.wording import in_percent
from heedful.trials.agreement.ranks import kendall_tau

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heedful.auditing.asking import Asking

TEXTS, DEAR_TEXTS = 24, 6  # that are read again; fewer where each map takes a pass for every word
DEAR = frozenset(("leave-one-out", "integrated", "value-zeroing", "flow", "lime"))
STEADY = 0.8  # of texts, whose strongest word must stay the same


@dataclass(frozen=True, eq=False)
class Painted:
    """A batch as it was read once: the map, where its words are, and what was decided."""

    scores: Tensor  # (B,T)
    mask: Tensor  # (B,T)
    decided: Tensor  # (B,)


def some_texts(asking: "Asking") -> "NDArray[np.int64]":
    """The texts to read again; a map that came with its texts cannot be made of others."""
    shown = asking.plan.shown
    if isinstance(asking.plan.own.get(shown), RowScores):
        raise NotAsked("Its scores came with the texts: other texts cannot be painted by it.")
    cheap = LAYER.fullmatch(shown) or HEAD.fullmatch(shown)
    dear = shown in DEAR or (shown in asking.plan.own and not cheap)
    return asking.some(DEAR_TEXTS if dear else TEXTS)


def painted(asking: "Asking", subject: Subject, batch: Batch) -> Painted:
    """The map that is judged, of these texts."""
    reader, _ = read_only(subject, batch)
    shown = asking.plan.shown
    maps = replace(asking.plan.maps, names=(shown,), dear=frozenset(), keep=False)
    scores = paint(reader, maps, seed=asking.seed)[shown]
    return Painted(scores, reader.batch.mask.cpu(), reader.decided.cpu())


def compared(own: Painted, other: Painted, name: str) -> dict[str, "NDArray"]:
    """Whether strongest word and decision are the same, and Kendall's τ; unknown where words are not."""
    told = [~(one.scores.isnan() & one.mask).any(1) for one in (own, other)]  # not of too long a text
    alike = ((own.mask.sum(1) == other.mask.sum(1)) & told[0] & told[1]).numpy()
    width = min(own.mask.shape[1], other.mask.shape[1])
    mask = own.mask[:, :width] & torch.from_numpy(alike)[:, None]
    first, second = (one.scores[:, :width].abs().masked_fill(~mask, -1) for one in (own, other))
    known = alike & (mask.sum(1) > 1).numpy()
    same = (first.argmax(1) == second.argmax(1)).numpy().astype(float)
    tau = kendall_tau(first.double(), second.double(), mask).numpy()
    kept = (own.decided == other.decided).numpy().astype(float)
    return {
        f"top_{name}": np.where(known, same, np.nan),
        f"tau_{name}": np.where(known, tau, np.nan),
        f"kept_{name}": kept,
    }


def steady_answer(
    question: Question,
    rows: pd.DataFrame,
    ways: Mapping[str, str],
    asking: "Asking",
    *,
    changed: str,
    how: str,
) -> Answer:
    """The answer from columns top_, tau_ and kept_ of each way, by its name for people.

    `changed` says in a sentence what was changed, `how` in full how it was measured.
    """
    top = rows[[f"top_{way}" for way in ways]]
    there = top.notna().any(axis=1) & (rows["words"] > 1)
    if there.sum() < 2:
        raise NotAsked("No text kept its words through this, so there is nothing to compare.")
    same = top[there].mean(axis=1).to_numpy()
    shared = mean_finding(
        "strongest word that stays",
        same,
        f"mean over texts, and over what was changed, of whether the strongest word is the same: {changed}",
        seed=asking.seed,
        unit="of texts",
        better="higher",
        baselines={"random": 1 / rows.loc[there, "words"].to_numpy()},
        coordinates={**asking.about, "ranking": asking.plan.shown},
    )
    decisions = mean_finding(
        "decision that stays",
        rows[[f"kept_{way}" for way in ways]].mean(axis=1).to_numpy(),
        "mean of whether the decision is the same",
        seed=asking.seed,
        unit="of texts",
        better="higher",
    )
    outcome = outcome_of(shared, ">=", STEADY)
    return question.plainly(
        outcome,
        f"Its strongest word stays in {in_percent(shared.value)} of cases {changed}, and the decision "
        f"in {in_percent(decisions.value)}.",
        f"{how} It is steady if the strongest word surely stays in {in_percent(STEADY)} of cases.",
        finding=shared,
        scale=scale_of(shared, low_end=0.0, high_end=1.0, best=1.0, best_name="the same word always"),
        evidence=(decisions, *_by_way(rows[there], ways, asking)),
    )


def _by_way(rows: pd.DataFrame, ways: Mapping[str, str], asking: "Asking") -> Sequence[Finding]:
    """Each way by itself: the strongest word, and Kendall's τ of the whole map."""
    found = []
    for way, called in ways.items():
        for column, name in (("top", "strongest word that stays"), ("tau", "τ of the map and itself")):
            values = rows[f"{column}_{way}"].dropna().to_numpy()
            if len(values):
                found.append(
                    mean_finding(
                        name, values, called, seed=asking.seed, better="higher", coordinates={"changed": way}
                    )
                )
    return found
