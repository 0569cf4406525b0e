"""How much does attention vary by itself? (Wiegreffe & Pinter, 2019, section 3.2.)

Runs that differ in their seed alone attend differently. For each text: the Jensen–Shannon divergence of the
attention of two seeds, averaged over all pairs, against the largest weight and the decided class; and how
often two seeds have their top item in common. Beside both the same weights shuffled among the words of the
text: what two seeds would reach that had nothing in common but how concentrated they are. This is the
yardstick that an adversary must beat. Axes: S seeds, B texts, T words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

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
from heedful.records import Finding, paired_difference
from heedful.records.finding import Scalar
from heedful.training.attended import Flat, attention_over, padded
from heedful.training.evaluation import EVALUATION_TOKENS, logits_of
from heedful.training.reopening import encode_for
from heedful.training.run import Run
from heedful.trials.divergence import js_divergence
from heedful.trials.groups import mean_findings
from heedful.trials.overlap import random_overlap, top_overlap
from heedful.trials.stream import sample_rows
from heedful.trials.word_chance import chance_of


@dataclass(frozen=True, eq=False)
class SeedsVariance:
    """One row a text in `table`, measured over `seeds` runs.

    Columns: instance (its number in the split), words, label, decided and largest (of the first run),
    divergence and overlap (means over pairs of runs), shuffled_divergence and shuffled_overlap,
    random_overlap; NaN where a text has only one word (or no more than k).
    """

    table: pd.DataFrame
    seeds: int
    k: int = 1
    classes: tuple[str, ...] = ()

    def findings(self, *, coordinates: Mapping[str, Scalar] | None = None, seed: int = 0) -> list[Finding]:
        """Mean divergence (all, by class, by largest weight), top overlap, and its lead over shuffled."""
        return seeds_findings(
            self.table,
            seeds=self.seeds,
            k=self.k,
            classes=self.classes,
            coordinates=coordinates,
            seed=seed,
        )


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
    """The pairwise divergence and top overlap of several attentions over the same texts, a row a text.

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
    moved = [shuffle_rows(own, mask, seed=seed, rows=rows, sample=s) for s, own in enumerate(weights)]
    return {
        **_pairs(weights, mask, k, prefix=""),
        **_pairs(moved, mask, k, prefix="shuffled_"),
        "random_overlap": random_overlap(mask, k=k).numpy(),
    }


def shuffle_rows(weights: Tensor, mask: Tensor, *, seed: int, rows: NDArray[np.int64], sample: int) -> Tensor:
    """The weights (B,T) dealt out anew among the real slots of each text, by chance that belongs to it."""
    texts = Batch(ids=mask.long(), mask=mask, labels=None, rows=rows)
    drawn = chance_of(texts, seed, sample=2**23 + sample)  # samples of their own: no trial's random ranking
    order = torch.from_numpy(np.where(mask.numpy(), drawn, 2.0)).argsort(1)
    return torch.zeros_like(weights).scatter_(1, order, weights)


def seeds_findings(
    table: pd.DataFrame,
    *,
    seeds: int,
    k: int = 1,
    classes: Sequence[str] = (),
    coordinates: Mapping[str, Scalar] | None = None,
    seed: int = 0,
) -> list[Finding]:
    """The findings of a table of `seeds_variance`, as it was or read again."""
    which = "the top item" if k == 1 else f"the top {k} items"
    found = mean_findings(
        table["divergence"],
        name="divergence between seeds",
        measured=f"JSD of a text's attention between two of {seeds} seeds, mean over pairs and texts; the "
        "interval is over texts",
        decided=table["decided"],
        classes=list(classes) or None,
        largest=table["largest"],
        baselines={"shuffled": table["shuffled_divergence"]},
        unit="nats",
        better="lower",
        coordinates=coordinates,
        seed=seed,
    )
    found += mean_findings(
        table["overlap"],
        name="overlap of the top between seeds",
        measured=f"share of {which} that two of {seeds} seeds have in common, mean over pairs and texts; the "
        "interval is over texts",
        baselines={"shuffled": table["shuffled_overlap"], "random": table["random_overlap"]},
        better="higher",
        coordinates=coordinates,
        seed=seed,
    )
    both = table.dropna(subset=["overlap", "shuffled_overlap"])
    if len(both):
        lead = paired_difference(both["overlap"], both["shuffled_overlap"], seed=seed)
        found.append(
            Finding(
                "overlap of the top between seeds, above shuffled",
                lead.value,
                interval=lead.interval,
                count=len(both),
                measured=f"overlap of {which} between seeds minus that of their shuffled weights, "
                "paired over texts",
                better="higher",
                coordinates=coordinates or {},
            )
        )
    return [replace(finding, seeds=seeds) for finding in found]


def _pairs(weights: Sequence[Tensor], mask: Tensor, k: int, *, prefix: str) -> dict[str, np.ndarray]:
    pairs = list(combinations(weights, 2))
    apart = torch.stack([js_divergence(a, b) for a, b in pairs]).mean(0)
    apart = apart.masked_fill(mask.sum(1) <= 1, torch.nan)  # one word has all the weight, whatever the seed
    shared = torch.stack([top_overlap(a, b, mask, k=k) for a, b in pairs]).mean(0)
    return {f"{prefix}divergence": apart.numpy(), f"{prefix}overlap": shared.numpy()}
