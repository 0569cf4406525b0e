"""About how long a debate takes, said before it begins: from one short training, and counts of words.

The unit is one training of the model. A run that is there knows what it took; otherwise a few hundred texts
are trained on for two epochs, and the time of the second is scaled to all words and epochs. A pass over words
without learning is taken to cost a third of one with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heedful.data.encoded import encode_texts
from heedful.data.words import WordRules
from heedful.models.building import build_model
from heedful.study.debate import LADDERS, Debate, Stage
from heedful.study.strengths import STRENGTHS
from heedful.study.wiegreffe_pinter.curve import QUICK_STRENGTHS
from heedful.training.from_corpus import encode_splits
from heedful.training.loop import fit
from heedful.training.presets import prepare
from heedful.training.run import Recipe
from heedful.trials.stream import sample_rows

PROBE = 256  # texts of the short training


@dataclass(frozen=True)
class Estimate:
    """Seconds of one training, and of everything that was asked, with `workers` processes."""

    training: float
    total: float
    trainings: int


def estimate(debate: Debate, stages: Sequence[Stage], *, quick: bool, workers: int) -> Estimate:
    """About how long these stages take, if nothing of them is there yet."""
    one, words, epochs, lengths = _one_training(debate)
    seeds = len(debate.ground.seeds)
    names = {stage.name for stage in stages}
    whole = {"uniform", "seeds", "adversarial"} & names
    trained = seeds if whole else min(LADDERS, seeds) if "diagnostic" in names else 1
    counts = trained - (debate.run is not None)
    counts += 2 * seeds if "uniform" in names else int("adversarial" in names)  # uniform and frozen ones
    counts += 6 * min(LADDERS, seeds) if "diagnostic" in names else 0
    counts += len(QUICK_STRENGTHS if quick else STRENGTHS) if "adversarial" in names else 0
    counts += int("sanity" in names)
    seconds = counts * one / max(1, min(workers, seeds))
    if "agreement" in names:  # every word left out once
        seconds += float((lengths.astype(float) ** 2).sum()) * one / (3 * epochs * words)
    return Estimate(one, seconds + 5 * len(names), counts)


def _one_training(debate: Debate) -> tuple[float, int, int, np.ndarray]:
    ground = debate.ground
    model, training = prepare(ground.models[0], ground.settings)
    recipe = Recipe(model, training, WordRules(), {}, debate.corpus.label_names)
    vocabulary, sets = encode_splits(debate.corpus, recipe)
    lengths = np.asarray(sets["test"].lengths)
    lengths = lengths[sample_rows(len(lengths), ground.limit)]
    words = len(sets["train"].ids)
    if debate.run is not None:
        return float(debate.run.result["seconds"]), words, training.epochs, lengths
    part = debate.corpus.split("train")
    few = part.take(sample_rows(len(part), PROBE))
    probe = encode_texts(
        few.texts, few.labels, vocabulary, sentences=model.hierarchical, max_length=model.max_length
    )
    built = build_model(model, vocabulary, debate.corpus.label_names)
    # The first epoch warms up: memory is fetched, and a kernel perhaps compiled.
    history = fit(built, probe, probe, settings=replace(training, epochs=2, patience=None))
    took = float(history[-1]["seconds"])
    return took * words / len(probe.ids) * training.epochs, words, training.epochs, lengths
