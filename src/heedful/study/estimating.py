"""About how long a debate takes, said before it begins: from one short training, and counts of words.

The unit is one training of the model. A run that is there knows what it took; otherwise a few hundred texts
are trained on for two epochs, and the time of the second is scaled to all words and epochs. The diagnostic's
classifiers of single words are timed in the same way. A pass over words without learning is taken to cost a
third of one with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from heedful.data.encoded import EncodedTexts, encode_texts
from heedful.data.words import WordRules
from heedful.models.building import build_model
from heedful.study.debate import LADDERS, Debate, Stage
from heedful.study.diagnostic import DIAGNOSTIC, GUIDES
from heedful.study.ground import QUICK_SETTINGS
from heedful.study.jain_wallace.adversary import RESTARTS, STEPS
from heedful.study.sanity import TRAININGS
from heedful.study.strengths import STRENGTHS
from heedful.study.wiegreffe_pinter.curve import QUICK_STRENGTHS
from heedful.study.wiegreffe_pinter.ladder import STRENGTH
from heedful.training.from_corpus import encode_splits
from heedful.training.loop import fit
from heedful.training.presets import prepare
from heedful.training.run import Recipe
from heedful.trials.stream import sample_rows

PROBE = 256  # texts of the short training
START = 6.0  # seconds until a stage's processes have started and read the corpus
CLIMB = 7e-8  # seconds of the ascent a weight, start and step; only where there are more than two classes


@dataclass(frozen=True)
class Work:
    """So many cells, done side by side, with so many trainings one after another in each."""

    cells: int
    trainings: int
    guided: bool = False  # trainings of the diagnostic, which reads single words

    def turns(self, workers: int) -> int:
        """Trainings that must follow each other."""
        return -(-self.cells // workers) * self.trainings


@dataclass(frozen=True)
class Estimate:
    """Seconds of one training, and of everything that was asked; and how many trainings that is."""

    training: float
    total: float
    trainings: int  # of the debated model
    guided: int  # of the diagnostic's classifiers
    guided_training: float


def estimate(debate: Debate, stages: Sequence[Stage], *, quick: bool, workers: int) -> Estimate:
    """About how long these stages take with `workers` processes, if nothing of them is there yet."""
    names = [stage.name for stage in stages]
    todo = work(debate, names, quick=quick)
    probe = _Probe(debate)
    own = (
        probe.seconds(debate.ground.models[0], debate.ground.settings)
        if debate.run is None
        else float(debate.run.result["seconds"])
    )
    guided = probe.seconds(DIAGNOSTIC, QUICK_SETTINGS if quick else {}) if "diagnostic" in names else 0.0
    seconds = sum(one.turns(workers) * (guided if one.guided else own) for one in todo)
    if "agreement" in names and probe.mixes_tokens:  # every word left out once, and the text read again
        epochs = prepare(debate.ground.models[0], debate.ground.settings)[1].epochs
        seconds += float((probe.lengths.astype(float) ** 2).sum()) * own / (3 * epochs * probe.words)
    if "adversary" in names and len(debate.corpus.label_names) > 2:
        seconds += float(probe.lengths.sum()) * RESTARTS * STEPS * CLIMB
    return Estimate(
        own,
        seconds + START * len(names),
        sum(one.cells * one.trainings for one in todo if not one.guided),
        sum(one.cells * one.trainings for one in todo if one.guided),
        guided,
    )


def work(debate: Debate, names: Sequence[str], *, quick: bool) -> list[Work]:
    """The trainings that these stages need, those that several of them share counted once."""
    seeds = len(debate.ground.seeds)
    ladders = min(LADDERS, seeds)
    strengths = QUICK_STRENGTHS if quick else STRENGTHS
    trained = seeds if {"uniform", "seeds", "adversarial"} & set(names) else 1
    if "diagnostic" in names:
        trained = max(trained, ladders)
    found = [Work(trained - (debate.run is not None), 1)]
    if "uniform" in names:
        found.append(Work(seeds, 1))
        if debate.frozen:
            found.append(Work(seeds, 1))
    if "diagnostic" in names:
        exact = len(debate.corpus.label_names) <= 2
        found += [Work(ladders, 1), Work(ladders, len(GUIDES) - (not exact), guided=True)]
    if "adversarial" in names:
        shared = "diagnostic" in names and STRENGTH in strengths  # the first ladder has trained that one
        found.append(Work(1, len(strengths) - shared))
        if "uniform" not in names:
            found.append(Work(1, 1))
    if "sanity" in names:
        found.append(Work(1, TRAININGS))
    return [one for one in found if one.cells and one.trainings]


class _Probe:
    """A few hundred training texts of a debate's corpus, on which models are timed."""

    def __init__(self, debate: Debate) -> None:
        ground, self.corpus = debate.ground, debate.corpus
        self.settings, training = prepare(ground.models[0], ground.settings)
        recipe = Recipe(self.settings, training, WordRules(), {}, self.corpus.label_names)
        self.vocabulary, sets = encode_splits(self.corpus, recipe)
        lengths = np.asarray(sets["test"].lengths)
        self.lengths = lengths[sample_rows(len(lengths), ground.limit)]  # of the test texts that are tried
        self.words = len(sets["train"].ids)
        known = debate.run.model if debate.run is not None else None
        model = known or build_model(self.settings, self.vocabulary, self.corpus.label_names)
        self.mixes_tokens = model.mixes_tokens

    def texts(self) -> EncodedTexts:
        part = self.corpus.split("train")
        few = part.take(sample_rows(len(part), PROBE))
        return encode_texts(
            few.texts,
            few.labels,
            self.vocabulary,
            sentences=self.settings.hierarchical,
            max_length=self.settings.max_length,
        )

    def seconds(self, name: str, changes: Mapping[str, object]) -> float:
        """About what one training takes on the whole corpus."""
        model, training = prepare(name, changes)
        built, texts = build_model(model, self.vocabulary, self.corpus.label_names), self.texts()
        # The first epoch warms up: memory is fetched, and a kernel perhaps compiled.
        history = fit(built, texts, texts, settings=replace(training, epochs=2, patience=None))
        return float(history[-1]["seconds"]) * self.words / len(texts.ids) * training.epochs
