"""Sanity checks of attention as an explanation: what must change it, and what must not.

- Parameter randomisation (after Adebayo et al., 2018): with layers of the trained model put back to a random
  start, its attention should no longer be what it was. (The head comes after attention: nothing to check.)
- Label permutation: a model trained on shuffled labels should attend to other words.
- Noise that keeps the meaning: capitals, spaces at the end, the text said twice. It should change nothing. A
  word of a text that is said twice has the weight of both its places together.

Each is measured on the same test texts against the run's own attention: divergence, Kendall's τ, overlap of
the top item, and whether the decision is the same. Axes: B texts, T words.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from heedful.data.batches import plan_batches
from heedful.data.corpus import Corpus
from heedful.data.encoded import EncodedTexts
from heedful.errors import UserError
from heedful.models.building import Classifier, build_model
from heedful.models.trace import decisions
from heedful.records import Finding
from heedful.study.pooling import defined, mean_over_texts, share_of_texts
from heedful.training.attended import Flat, attention_over, padded
from heedful.training.evaluation import EVALUATION_TOKENS, logits_of
from heedful.training.from_corpus import train_run
from heedful.training.reopening import encode_for
from heedful.training.run import Run
from heedful.trials.divergence import js_divergence
from heedful.trials.kendall import kendall
from heedful.trials.overlap import top_overlap
from heedful.trials.stream import sample_rows

RANDOMISED, PERMUTED, NOISE = "random parameters", "permuted labels", "noise"
PARTS = ("attention", "encoder", "embedding")
VARIANTS: dict[str, Callable[[str], str]] = {
    "capitals": str.upper,
    "spaces": lambda text: f"{text}   ",
    "twice": lambda text: f"{text} {text}",
}


def sanity_rows(
    run: Run,
    corpus: Corpus,
    *,
    split: str = "test",
    limit: int | None = None,
    permute: bool = True,
    seed: int = 0,
) -> pd.DataFrame:
    """A measure: one row for each check and text; `permute` False leaves out the training that one needs."""
    part = corpus.split(split)
    rows = sample_rows(len(part), limit, seed=seed)
    texts = part.take(rows)
    encoded = encode_for(run.model, texts)
    own = attention_over(run.model, encoded), decisions(logits_of(run.model, encoded))
    frames = []
    # Never the run's own seed, which would put back the very parameters that its training began with.
    other = run.recipe.training.seed + 1 + seed
    for name, model in _randomised(run, seed=other):
        frames.append(_compare(own, model, encoded).assign(check=RANDOMISED, what=name))
    if permute:
        permuted = train_permuted(run, corpus, seed=seed + 1)
        compared = _compare(own, permuted.model, encoded)
        frames.append(compared.assign(check=PERMUTED, what="train and dev labels"))
    for name, change in VARIANTS.items():
        noisy = encode_for(run.model, replace(texts, texts=[change(text) for text in texts.texts]))
        frames.append(_under_noise(own, run.model, encoded, noisy).assign(check=NOISE, what=name))
    table = pd.concat(frames, ignore_index=True)
    return table.assign(instance=rows[table["instance"]])


def randomise(run: Run, parts: Sequence[str], *, seed: int) -> Classifier:
    """The run's model with the parameters of these parts as another seed starts them; the run stays."""
    fresh = build_model(
        run.recipe.model, run.vocabulary, run.recipe.classes, rules=run.recipe.words, seed=seed
    )
    model = copy.deepcopy(run.model)
    with torch.no_grad():
        for part in parts:
            for old, new in zip(model.parts()[part], fresh.parts()[part], strict=True):
                old.copy_(new)
    return model.eval()


def train_permuted(run: Run, corpus: Corpus, *, seed: int) -> Run:
    """A run of the same recipe on a corpus whose train and dev labels are shuffled among their texts."""
    labels = np.array(corpus.labels)
    generator = np.random.default_rng(seed)
    for name in ("train", "dev"):
        places = np.flatnonzero(corpus.splits == name)
        labels[places] = labels[generator.permutation(places)]
    shuffled = replace(corpus, labels=labels, name=f"{corpus.name}, labels permuted")
    return train_run(shuffled, model=run.recipe.model, training=run.recipe.training, rules=run.recipe.words)


def sanity_findings(rows: pd.DataFrame, **coordinates: str) -> list[Finding]:
    """Of each check the mean divergence, τ and top overlap with the run's attention, and the decisions."""
    found = []
    for (check, what), own in rows.groupby(["check", "what"], sort=False):
        where = {**coordinates, "check": str(check), "what": str(what)}
        better: Literal["lower", "higher"] = "lower" if check == NOISE else "higher"
        for column, name, unit in (
            ("divergence", "divergence from the run's attention", "nats"),
            ("tau", "Kendall's τ with the run's attention", ""),
            ("overlap", "overlap of the top item with the run's", ""),
        ):
            finding = mean_over_texts(
                own,
                column,
                name=name,
                measured=f"mean over texts, {check}: {what}",
                unit=unit,
                better=better if column == "divergence" else None,
                baselines={"random": "random_overlap"} if column == "overlap" else None,
                coordinates=where,
            )
            if finding is not None:
                found.append(finding)
        first = own[own["seed"] == own["seed"].min()]
        share = share_of_texts(
            first["same"],
            name="share of texts with the run's decision",
            measured=f"share of texts, {check}: {what}; the first seed's",
            coordinates=where,
        )
        found += defined(share)
    return found


def _randomised(run: Run, *, seed: int) -> list[tuple[str, Classifier]]:
    there = [part for part in PARTS if run.model.parts()[part]]
    if not there:
        raise UserError("This model has no parameters before its head, so there is nothing to randomise.")
    found = [(part, randomise(run, [part], seed=seed)) for part in there]
    return [*found, ("all before the head", randomise(run, there, seed=seed))]


def _compare(own: tuple[Flat, Tensor], model: Classifier, encoded: EncodedTexts) -> pd.DataFrame:
    return _rows(own[0], attention_over(model, encoded), encoded).assign(
        same=(decisions(logits_of(model, encoded)) == own[1]).numpy()
    )


def _under_noise(
    own: tuple[Flat, Tensor], model: Classifier, encoded: EncodedTexts, noisy: EncodedTexts
) -> pd.DataFrame:
    """The attention to noisy texts, folded onto the words of the texts; NaN where they do not fit."""
    flat = attention_over(model, noisy)
    lengths, others = np.asarray(encoded.lengths), np.asarray(noisy.lengths)
    fits = (others % lengths == 0) & (np.asarray(noisy.unread) == np.asarray(encoded.unread))
    folded = np.zeros_like(own[0])
    for row in np.flatnonzero(fits):
        span = flat[noisy.offsets[row] : noisy.offsets[row + 1]]
        folded[encoded.offsets[row] : encoded.offsets[row + 1]] = span.reshape(-1, lengths[row]).sum(0)
    table = _rows(own[0], folded, encoded)
    table.loc[~fits, ["divergence", "tau", "overlap"]] = np.nan
    return table.assign(same=(decisions(logits_of(model, noisy)) == own[1]).numpy())


def _rows(first: Flat, second: Flat, encoded: EncodedTexts) -> pd.DataFrame:
    frames = []
    lengths = np.asarray(encoded.lengths)
    for rows in plan_batches(lengths, token_budget=EVALUATION_TOKENS):
        one, other = (padded(flat, encoded, rows).double() for flat in (first, second))
        mask = torch.arange(one.shape[1]) < torch.from_numpy(lengths[rows])[:, None]
        counts = mask.sum(1)
        frames.append(
            pd.DataFrame(
                {
                    "instance": rows,
                    "divergence": js_divergence(one, other).masked_fill(counts <= 1, torch.nan).numpy(),
                    "tau": kendall(one, other, mask).tau.numpy(),
                    "overlap": top_overlap(one, other, mask, k=1).numpy(),
                    "random_overlap": torch.where(counts > 1, 1 / counts, torch.nan).numpy(),
                }
            )
        )
    return pd.concat(frames).sort_values("instance", ignore_index=True)
