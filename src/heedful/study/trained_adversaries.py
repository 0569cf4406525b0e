"""Adversaries over a grid of strengths: how far attention can go while decisions stay (W&P, 2019, section 4).

For each λ a model is trained against the run (`training.adversarial`); on the same test texts the total
variation distance of the two outputs and the divergence of their attention are measured. Seeds and the
uniform control are put on the same axes by `beside`. Axes: N texts.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

from heedful.data.batches import plan_batches
from heedful.data.corpus import Corpus
from heedful.models.trace import decisions, probabilities
from heedful.training.adversarial import train_adversary
from heedful.training.attended import attention_over, padded
from heedful.training.evaluation import EVALUATION_TOKENS, encode_for, logits_of
from heedful.training.run import Run
from heedful.trials.stream import sample_rows
from heedful.trials.weights.divergence import js_divergence, total_variation

ADVERSARIES = "adversaries"


def adversaries(
    run: Run,
    corpus: Corpus,
    *,
    strengths: Sequence[float],
    split: str = "test",
    limit: int | None = None,
    seed: int = 0,
    **changes: Any,
) -> pd.DataFrame:
    """A measure: one row for each strength and text: the adversary's change of output and its divergence.

    Adversaries are kept in the run's folder, so another measure, or a restart, does not train them again.
    """
    frames = []
    for strength in strengths:
        other = kept_adversary(run, corpus, strength=strength, **changes)
        rows = beside(run, other, corpus, split=split, limit=limit, seed=seed)
        frames.append(rows.assign(strength=strength, accuracy=other.result["test_accuracy"]))
    return pd.concat(frames, ignore_index=True)


def beside(
    run: Run, other: Run, corpus: Corpus, *, split: str = "test", limit: int | None = None, seed: int = 0
) -> pd.DataFrame:
    """Two runs of one vocabulary on the same texts: change of output, divergence of attention, agreement.

    A text of one word has all its weight there, so its divergence is NaN.
    """
    part = corpus.split(split)
    rows = sample_rows(len(part), limit, seed=seed)
    encoded = encode_for(run.model, part.take(rows))
    logits = [logits_of(one.model, encoded) for one in (run, other)]
    flats = [attention_over(one.model, encoded) for one in (run, other)]
    divergence = torch.zeros(len(rows), dtype=torch.float64)
    for places in plan_batches(np.asarray(encoded.lengths), token_budget=EVALUATION_TOKENS):
        own, theirs = (padded(flat, encoded, places).double() for flat in flats)
        divergence[torch.from_numpy(places)] = js_divergence(own, theirs)
    divergence[torch.from_numpy(np.asarray(encoded.lengths) <= 1)] = torch.nan
    shares = [probabilities(one.double()) for one in logits]
    return pd.DataFrame(
        {
            "instance": rows,
            "change": total_variation(*shares).numpy(),
            "divergence": divergence.numpy(),
            "same": (decisions(logits[0]) == decisions(logits[1])).numpy(),
        }
    )


def kept_adversary(run: Run, corpus: Corpus, *, strength: float, **changes: Any) -> Run:
    """The run's adversary of this strength, kept in the run's folder; `changes` are training settings."""
    if run.folder is None:
        return train_adversary(run, corpus, strength=strength, **changes)
    name = "-".join([f"{strength:g}", *(f"{key}-{value}" for key, value in sorted(changes.items()))])
    return train_adversary(run, corpus, strength=strength, out=run.folder / ADVERSARIES / name, **changes)
