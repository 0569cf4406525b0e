"""Sanity checks of attention as an explanation: what must change it, and what must not.

- Parameter randomisation (after Adebayo et al., 2018): with layers of the trained model put back to a random
  start, its attention should no longer be what it was. (The head comes after attention: nothing to check.)
- Label permutation: a model trained on shuffled labels should attend to other words.
- Noise that keeps the meaning: capitals, spaces at the end, the text written twice. It should change nothing.
  A word of a text that is written twice has the weight of both its places together.

Each is measured on the same test texts against the run's own attention: divergence, Kendall's τ, overlap of
the top item, and whether the decision is the same. The first two are done several times, from other seeds.
`sanity` judges the rows. Axes: B texts, T words.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace

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
from heedful.papers.debate.sanity import ALL, NOISE, PERMUTED, RANDOMISED, STARTS, TRAININGS
from heedful.training.attended import Flat, attention_over, padded
from heedful.training.evaluation import EVALUATION_TOKENS, encode_for, logits_of
from heedful.training.from_corpus import train_run
from heedful.training.run import Run
from heedful.trials.agreement.ranks import kendall, top_overlap
from heedful.trials.rankings.chance import chance
from heedful.trials.stream import sample_rows
from heedful.trials.weights.divergence import js_divergence

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
    limit: int | None = None,
    starts: int = STARTS,
    trainings: int = TRAININGS,
) -> pd.DataFrame:
    """A measure: one row for each check, draw and text.

    `starts` is how often parameters are drawn anew, `trainings` how often labels are; 0 leaves that check
    out. `draw` numbers them, and is 0 for noise.
    """
    part = corpus.split("test")
    rows = sample_rows(len(part), limit)
    texts = part.take(rows)
    encoded = encode_for(run.model, texts)
    own = attention_over(run.model, encoded), decisions(logits_of(run.model, encoded))
    frames = []
    # Never the run's own seed, which would put back the very parameters that its training began with.
    others = run.recipe.training.seed + 1
    for draw in range(starts):
        for name, model in _randomised(run, seed=others + draw):
            frames.append(_compare(own, model, encoded).assign(check=RANDOMISED, what=name, draw=draw))
    for draw in range(trainings):
        permuted = train_permuted(run, corpus, seed=others + draw)
        compared = _compare(own, permuted.model, encoded)
        frames.append(compared.assign(check=PERMUTED, what="train and dev labels", draw=draw))
    for name, change in VARIANTS.items():
        noisy = encode_for(run.model, replace(texts, texts=[change(text) for text in texts.texts]))
        frames.append(_under_noise(own, run.model, encoded, noisy).assign(check=NOISE, what=name, draw=0))
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
    """A run on a corpus whose train and dev labels are shuffled among their texts, trained from this seed.

    It must not be the run's own: from the same start two trainings have attention in common before either
    has seen a label.
    """
    recipe = run.recipe
    if seed == recipe.training.seed:
        raise UserError(f"The run itself was trained from seed {seed}: permuted labels need another.")
    labels = np.array(corpus.labels)
    generator = np.random.default_rng(seed)
    for name in ("train", "dev"):
        places = np.flatnonzero(corpus.splits == name)
        labels[places] = labels[generator.permutation(places)]
    shuffled = replace(corpus, labels=labels, name=f"{corpus.name}, labels permuted")
    training = replace(recipe.training, seed=seed)
    return train_run(shuffled, model=recipe.model, training=training, rules=recipe.words)


def _randomised(run: Run, *, seed: int) -> list[tuple[str, Classifier]]:
    there = [part for part in PARTS if run.model.parts()[part]]
    if not there:
        raise UserError("This model has no parameters before its head, so there is nothing to randomise.")
    found = [(part, randomise(run, [part], seed=seed)) for part in there]
    return [*found, (ALL, randomise(run, there, seed=seed))]


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
    random = torch.from_numpy(chance(0, (len(lengths), int(lengths.max()))))
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
                    "random_tau": kendall(one, random[rows, : mask.shape[1]], mask).tau.numpy(),
                    "overlap": top_overlap(one, other, mask, k=1).numpy(),
                    "random_overlap": torch.where(counts > 1, 1 / counts, torch.nan).numpy(),
                }
            )
        )
    return pd.concat(frames).sort_values("instance", ignore_index=True)
