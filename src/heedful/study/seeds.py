"""How much does attention vary by itself? (Wiegreffe & Pinter, 2019, section 3.2.)

Runs that differ in their seed alone attend differently. For each text: the Jensen–Shannon divergence of the
attention of two seeds, averaged over all pairs, against the largest weight and the decided class; and how
often two seeds have their top item in common. Beside both the same weights shuffled among the words of the
text: what two seeds would reach that had nothing in common but how concentrated they are. This is the
yardstick that an adversary must beat. Pairs are kept, because seeds vary: three trainings are a small sample
of all, and intervals are over seeds, crossed with texts. Axes: S seeds, B texts, T words, P pairs of seeds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.batches import Batch, plan_batches
from heedful.data.corpus import Corpus
from heedful.data.encoded import EncodedTexts
from heedful.errors import UserError
from heedful.models.trace import decisions
from heedful.records import Estimate, Finding
from heedful.records.crossed import pairs_mean
from heedful.records.finding import Scalar
from heedful.study.pooling import MOST_APART, groups
from heedful.training.attended import Flat, attention_over, padded
from heedful.training.evaluation import EVALUATION_TOKENS, encode_for, logits_of
from heedful.training.run import Run
from heedful.trials.agreement.ranks import random_overlap, top_overlap
from heedful.trials.rankings.chance import chance_of
from heedful.trials.stream import sample_rows
from heedful.trials.weights.divergence import js_divergence

SHUFFLES = 20  # draws of shuffled pairs of a text


@dataclass(frozen=True, eq=False)
class SeedsVariance:
    """One row per text in `table`, measured over `seeds` runs.

    Columns: instance (its number in the split), words, label, decided and largest (of the first run),
    divergence and overlap (means over pairs of runs), divergence_0_1, overlap_0_1 … (of each pair),
    shuffled_divergence and shuffled_overlap, random_overlap; NaN where a text has only one word (or no more
    than k). Shuffled weights have any word on top alike, so their overlap is known: k of its words.
    """

    table: pd.DataFrame
    seeds: int
    k: int = 1
    classes: tuple[str, ...] = ()

    def findings(self, *, coordinates: Mapping[str, Scalar] | None = None) -> list[Finding]:
        """Mean divergence (all, by class, by largest weight), top overlap, and its lead over shuffled."""
        named = dict(enumerate(self.classes))
        table = self.table.assign(decided_class=self.table["decided"].map(lambda own: named.get(own, own)))
        return seeds_findings(table, seeds=self.seeds, k=self.k, coordinates=coordinates)


def seeds_variance(
    runs: Sequence[Run],
    corpus: Corpus,
    *,
    split: str = "test",
    k: int = 1,
    limit: int | None = None,
    seed: int = 0,
) -> SeedsVariance:
    """Compare the attention of runs over seeds on a split of their corpus, or on `limit` texts of it."""
    if len(runs) < 2:
        raise UserError(f"How attention varies over seeds needs at least two runs, and got {len(runs)}.")
    part = corpus.split(split)
    if not len(part):
        raise UserError(f"The corpus {corpus.name} has no {split} split: choose another.")
    rows = sample_rows(len(part), limit, seed=seed)
    part = part.take(rows)
    encoded = encode_for(runs[0].model, part)
    flats = []
    for run in runs:
        if run.vocabulary.words != runs[0].vocabulary.words or run.recipe.words != runs[0].recipe.words:
            raise UserError(
                "Runs over seeds have one vocabulary, and these differ: train them on one corpus."
            )
        flats.append(attention_over(run.model, encoded))
    table = compare_attention(flats, encoded, k=k, seed=seed, instances=rows)
    table["label"] = np.asarray(part.labels)
    table["decided"] = decisions(logits_of(runs[0].model, encoded)).numpy()
    return SeedsVariance(table, len(runs), k, runs[0].recipe.classes)


def compare_attention(
    flats: Sequence[Flat],
    encoded: EncodedTexts,
    *,
    k: int = 1,
    seed: int = 0,
    instances: NDArray[np.int64] | None = None,
) -> pd.DataFrame:
    """The pairwise divergence and top overlap of several attentions over the same texts, a row per text.

    `instances` are the numbers of these texts in their split; without them they are counted from 0.
    """
    numbers = np.arange(len(encoded)) if instances is None else instances
    parts = []
    for rows in plan_batches(np.asarray(encoded.lengths), token_budget=EVALUATION_TOKENS):
        weights = [padded(flat, encoded, rows).double() for flat in flats]
        mask = torch.arange(weights[0].shape[1]) < torch.as_tensor(np.asarray(encoded.lengths)[rows])[:, None]
        parts.append(
            pd.DataFrame(
                {
                    "instance": numbers[rows],
                    "words": mask.sum(1).numpy(),
                    "largest": weights[0].amax(1).numpy(),
                    **compare_weights(weights, mask, k=k, seed=seed, rows=numbers[rows]),
                }
            )
        )
    return pd.concat(parts).sort_values("instance", ignore_index=True)


def compare_weights(
    weights: Sequence[Tensor], mask: Tensor, *, rows: NDArray[np.int64], k: int = 1, seed: int = 0
) -> dict[str, NDArray[np.float64]]:
    """What several weights (B,T) of the texts called `rows` have in common: columns (B,) by their names."""
    by_chance = random_overlap(mask, k=k).numpy()
    return {
        **_pairs(weights, mask, k),
        "shuffled_divergence": _shuffled_divergence(weights, mask, seed=seed, rows=rows),
        "shuffled_overlap": by_chance,
        "random_overlap": by_chance,
    }


def shuffle_rows(weights: Tensor, mask: Tensor, *, seed: int, rows: NDArray[np.int64], sample: int) -> Tensor:
    """The weights (B,T) permuted among the real slots of each text, at random but the same in every call."""
    texts = Batch(ids=mask.long(), mask=mask, labels=None, rows=rows)
    drawn = chance_of(texts, seed, sample=2**23 + sample)  # samples of their own: no trial's random ranking
    order = torch.from_numpy(np.where(mask.numpy(), drawn, 2.0)).argsort(1)
    return torch.zeros_like(weights).scatter_(1, order, weights)


def seeds_findings(
    table: pd.DataFrame,
    *,
    seeds: int,
    k: int = 1,
    coordinates: Mapping[str, Scalar] | None = None,
) -> list[Finding]:
    """The findings of a table of `seeds_variance`, as it was or read again, with `decided_class`."""
    which = "the top item" if k == 1 else f"the top {k} items"
    where = coordinates or {}
    pairs = f"two of {seeds} seeds"
    found = [
        pairs_finding(
            own,
            "divergence",
            seeds=seeds,
            name="divergence between seeds",
            measured=f"JSD of a text's attention between {pairs}, mean over pairs and texts",
            baselines=("shuffled",),
            within=(0.0, MOST_APART),
            unit="nats",
            better="lower",
            coordinates={**where, **group},
        )
        for group, own in groups(table)
    ]
    found += [
        pairs_finding(
            table,
            "overlap",
            seeds=seeds,
            name="overlap of the top between seeds",
            measured=f"share of {which} that {pairs} have in common, mean over pairs and texts",
            baselines=("shuffled", "random"),
            within=(0.0, 1.0),
            better="higher",
            coordinates=where,
        ),
        pairs_finding(
            table,
            "overlap",
            than="shuffled_overlap",
            seeds=seeds,
            name="overlap of the top between seeds, above shuffled",
            measured=f"share of {which} that {pairs} have in common, minus that of their shuffled weights on "
            "average, mean over pairs and texts",
            within=(-1.0, 1.0),
            better="higher",
            coordinates=where,
        ),
    ]
    return [finding for finding in found if finding is not None]


def pairs_finding(
    table: pd.DataFrame,
    column: str,
    *,
    seeds: int,
    measured: str,
    within: tuple[float, float],
    name: str,
    than: str | None = None,
    baselines: Sequence[str] = (),
    **about: Any,
) -> Finding | None:
    """The mean over texts and pairs of seeds of one of their columns, less another; None without a text.

    The interval leaves one seed out at a time, and is crossed with texts (`records.crossed`).
    """
    wanted = pair_columns(column, seeds)
    if not set(wanted) <= set(table.columns):
        raise UserError(
            f"These rows do not tell pairs of {seeds} seeds apart, as those of an earlier version: remove "
            "them (of an audit, the folder rows/seeds), and they are made again."
        )
    own = table.dropna(subset=wanted)
    if not len(own):
        return None
    values = own[wanted].to_numpy(dtype=np.float64)
    if than is not None:
        values = values - own[[than]].to_numpy()
    mean = pairs_mean(values, within=within)
    left_out = len(table) - len(own)
    return Finding.of(
        name,
        mean,
        count=len(own),
        seeds=seeds,
        measured=f"{measured}; a seed is left out at a time, crossed with texts"
        + (f"; {left_out} texts of too few words left out" if left_out else ""),
        baselines={other: Estimate(float(own[f"{other}_{column}"].mean())) for other in baselines},
        **about,
    )


def pair_columns(name: str, seeds: int) -> list[str]:
    """What the columns of each two of so many seeds are called."""
    return [f"{name}_{first}_{second}" for first, second in combinations(range(seeds), 2)]


def _pairs(weights: Sequence[Tensor], mask: Tensor, k: int) -> dict[str, np.ndarray]:
    found = {}
    for name, of in (
        ("divergence", lambda one, other: _apart(one, other, mask)),
        ("overlap", lambda one, other: top_overlap(one, other, mask, k=k)),
    ):
        pairs = [of(one, other).numpy() for one, other in combinations(weights, 2)]
        found[name] = np.mean(pairs, axis=0)
        found |= dict(zip(pair_columns(name, len(weights)), pairs, strict=True))
    return found


def _shuffled_divergence(
    weights: Sequence[Tensor], mask: Tensor, *, seed: int, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The mean divergence (B,) of pairs whose weights are shuffled: of `SHUFFLES` draws or more."""
    pairs = list(combinations(range(len(weights)), 2))
    total, draws = torch.zeros(len(mask), dtype=torch.float64), -(-SHUFFLES // len(pairs))
    for draw in range(draws):
        moved = [
            shuffle_rows(own, mask, seed=seed, rows=rows, sample=draw * len(weights) + number)
            for number, own in enumerate(weights)
        ]
        for first, second in pairs:
            total += _apart(moved[first], moved[second], mask)
    return (total / (draws * len(pairs))).numpy()


def _apart(one: Tensor, other: Tensor, mask: Tensor) -> Tensor:
    """The divergence (B,); NaN for one word, which has all the weight whatever the seed."""
    return js_divergence(one, other).masked_fill(mask.sum(1) <= 1, torch.nan)
