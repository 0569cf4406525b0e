"""How faithful a ranking of words is: ERASER's measures, infidelity and sensitivity, as numbers and findings.

Comprehensiveness and sufficiency are the mean fall of the decided class's probability without the top words,
and with them only; AOPC is their mean over several shares (DeYoung et al., 2020). Infidelity and sensitivity
are those of Yeh et al. (2019), for words: what is disturbed is which words are there.

`coordinates` (corpus, model, …) are handed on to every finding; `seed` is the bootstrap's.
Axes: M random deletions, B instances, T words, C shares.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from heedful.data.batches import Batch
from heedful.errors import UserError, choose_from
from heedful.models.subject import Subject
from heedful.records import Finding
from heedful.trials.erasure.comparisons import Coordinates
from heedful.trials.erasure.deletion import replace_words
from heedful.trials.erasure.linear_votes import Floats
from heedful.trials.erasure.rereading import Reader
from heedful.trials.groups import mean_findings
from heedful.trials.rankings.chance import chance_of
from heedful.trials.rankings.ranking import Ranking
from heedful.trials.rankings.regressions import random_subsets
from heedful.trials.rankings.word_gradients import Doubted
from heedful.trials.rankings.word_rankings import word_scores

if TYPE_CHECKING:
    from heedful.trials.erasure.word_erasures import WordErasures

NULLS = ("random", "shuffled")
NOISE = 0.05  # the share of words that sensitivity replaces
# name -> (table, what it is called, which direction is better, how it is measured)
MEASURES: dict[str, tuple[str, Literal["higher", "lower"], str]] = {
    "comprehensiveness": ("without", "higher", "fall of the decided class's probability without the top"),
    "sufficiency": ("only", "lower", "fall of the decided class's probability with only the top left of"),
    "decision flips": ("flips", "higher", "share of instances where another class decides without the top"),
}


def infidelity(
    subject: Subject,
    batch: Batch,
    scores: "Tensor | ArrayLike",
    *,
    samples: int = 32,
    how: str = "delete",
    seed: int = 0,
) -> Tensor:
    """How badly sums of scores tell what random deletions do (B,): 0 they tell all of it, 1 nothing.

    Scores have no unit, so each instance's are given the best one (not below 0) first.
    """
    found = torch.as_tensor(scores).to(batch.mask.device, torch.float64)
    reader = Reader(subject, batch, how=how)
    removed = random_subsets(batch, samples=samples, seed=seed)
    fall = reader.chance(reader.logits) - reader.chance(reader.without(removed))
    return infidelity_of(found, removed, fall)


def infidelity_of(scores: Tensor, removed: Tensor, fall: Tensor) -> Tensor:
    """Infidelity (B,) of scores (B,T), given which words were removed (M,B,T) and what that did (M,B).

    Σ (unit · Σ_{i removed} score_i − fall)² ÷ Σ fall²; NaN where nothing that was removed did anything.
    """
    told = (scores.double() * removed).sum(-1)  # (M,B)
    size = told.square().sum(0)
    unit = ((told * fall).sum(0) / size.where(size > 0, 1)).clamp(min=0)
    spread = fall.square().sum(0)
    return (unit * told - fall).square().sum(0) / spread.where(spread > 0, torch.nan)


def sensitivity(
    subject: Subject,
    batch: Batch,
    ranking: "str | Ranking",
    *,
    draws: int = 5,
    share: float = NOISE,
    how: str = "delete",
    seed: int = 0,
) -> Tensor:
    """How far the scores of other words move at most when a few words become the unknown word (B,).

    The largest over the draws of ‖scores' − scores‖ ÷ ‖scores‖ over the words that were not replaced. A share
    of the words is replaced at once, at least one, and one is always left.
    """
    if draws < 1:
        raise UserError(f"Sensitivity needs at least one draw, better 5, and got {draws}.")

    def scores(noisy: Batch) -> Tensor:
        found = word_scores(ranking, subject, noisy, seed=seed, how=how)
        return (found.scores if isinstance(found, Doubted) else found).double()

    before = scores(batch)
    counts = batch.mask.sum(1)
    many = torch.minimum((share * counts).ceil().long(), counts - 1)
    worst = before.new_zeros(len(batch))
    for draw in range(draws):
        lot = torch.from_numpy(chance_of(batch, seed, sample=-(2**23) - draw)).to(before)
        rank = lot.masked_fill(~batch.mask, 2).argsort(1).argsort(1)
        hit = rank < many[:, None]
        stay = batch.mask & ~hit
        moved = ((scores(replace_words(batch, hit)) - before) * stay).norm(dim=1)
        size = (before * stay).norm(dim=1)
        worst = torch.maximum(worst, moved / size.where(size > 0, torch.nan))
    return worst


def faithfulness(
    erasures: "WordErasures",
    measure: str = "comprehensiveness",
    rankings: Sequence[str] | None = None,
    *,
    shares: Sequence[float] | None = None,
    coordinates: Coordinates | None = None,
    seed: int = 0,
) -> list[Finding]:
    """One finding for each ranking: the measure's mean over shares (AOPC), or at a share if there is one.

    `measure` is "comprehensiveness", "sufficiency" or "decision flips".
    """
    table, better, words = MEASURES[choose_from("measure", measure, MEASURES)]
    shares = erasures.shares if shares is None else shares
    columns = [erasures.at(share) for share in shares]
    listed = ", ".join(f"{100 * share:g}" for share in shares)
    averaged = measure if len(shares) == 1 else f"{measure} (AOPC)"
    by_name: Mapping[str, Floats] = getattr(erasures, table)
    means = {name: by_name[name][:, columns].mean(1) for name in by_name}
    return by_ranking(
        means,
        rankings,
        name=averaged,
        measured=f"{words} {listed} % of the words in the order of the ranking"
        + (", averaged over these shares" if len(shares) > 1 else ""),
        better=better,
        coordinates=coordinates,
        seed=seed,
    )


def other_findings(
    erasures: "WordErasures",
    rankings: Sequence[str] | None = None,
    *,
    coordinates: Coordinates | None = None,
    seed: int = 0,
) -> list[Finding]:
    """Infidelity and sensitivity, words until the first flip, and the methods' own doubt, if measured."""
    again: dict[str, tuple[Mapping[str, ArrayLike], str]] = {
        "infidelity": (
            erasures.infidelity,
            "share of what random deletions do that sums of the scores, in their best unit, do not tell",
        ),
        "sensitivity": (
            erasures.sensitivity,
            f"largest relative move of other words' scores when {NOISE:.0%} of the words become unknown",
        ),
        "words until flip": (
            {
                name: np.where(sizes < 0, 1.0, sizes / np.maximum(erasures.words, 1))
                for name, sizes in erasures.until_flip.items()
            },
            "mean share of the words gone when the decision first flips; 1 where it never does",
        ),
        "own error": (
            erasures.doubt,
            "how far the method misses its own rule: completeness of integrated gradients, fit of LIME",
        ),
    }
    found = []
    for name, (columns, measured) in again.items():
        chosen = [ranking for ranking in columns if rankings is None or ranking in rankings]
        found += by_ranking(
            columns, chosen, name=name, measured=measured, better="lower", coordinates=coordinates, seed=seed
        )
    return found


def by_ranking(
    columns: Mapping[str, ArrayLike],
    rankings: Sequence[str] | None,
    *,
    name: str,
    measured: str,
    better: Literal["higher", "lower"],
    coordinates: Coordinates | None,
    seed: int,
) -> list[Finding]:
    """The mean of each ranking's column (B,), beside the random ranking's and the shuffled weights'."""
    chosen = list(columns) if rankings is None else [choose_from("ranking", r, columns) for r in rankings]
    found: list[Finding] = []
    for ranking in chosen:
        found += mean_findings(
            columns[ranking],
            name=name,
            measured=measured,
            baselines={null: columns[null] for null in NULLS if null in columns and null != ranking},
            better=better,
            coordinates={**(coordinates or {}), "ranking": ranking},
            seed=seed,
        )
    return found
