"""About how long a debate takes, said before it begins: from one short training, and counts of words.

The unit is one training of the model. A run that is there knows what it took; otherwise it is tried
(`study.forecast`), and so are the diagnostic's classifiers of single words. A pass over words without
learning is taken to cost a third of one with it.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heedful.auditing.audited import Audited
from heedful.models.building import build_model
from heedful.papers.debate.preparing import Debate
from heedful.papers.debate.sanity import TRAININGS
from heedful.papers.debate.stage import SOME, Stage
from heedful.papers.debate.trainings import QUICK_SETTINGS
from heedful.papers.jain_wallace.adversary import PUBLISHED
from heedful.papers.wiegreffe_pinter.adversarial import QUICK_STRENGTHS, STRENGTHS
from heedful.papers.wiegreffe_pinter.diagnostic import GUIDES, STRENGTH
from heedful.study.diagnostic import DIAGNOSTIC
from heedful.study.forecast import Probe
from heedful.training.presets import prepare
from heedful.trials.erasure.rereading import Reader
from heedful.trials.stream import batch_of, lengths_of, sample_rows
from heedful.trials.weights.adversary import is_exact

START = 6.0  # seconds until a stage's processes have started and read the corpus
PERMUTED = 100  # permutations of a text's weights
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
    if debate.audited is not None:
        return Estimate(0.0, _reading(debate.audited, debate.trainings.limit, names), 0, 0, 0.0)
    todo, trainings = work(debate, names, quick=quick), debate.trainings
    model, training = prepare(trainings.models[0], trainings.settings)
    probe = Probe(debate.corpus, model, training)
    own = probe.seconds(model, training) if debate.run is None else float(debate.run.result["seconds"])
    single = prepare(DIAGNOSTIC, QUICK_SETTINGS if quick else {})
    guided = probe.seconds(*single) if "diagnostic" in names else 0.0
    seconds = sum(one.turns(workers) * (guided if one.guided else own) for one in todo)
    lengths = probe.lengths["test"].astype(float)
    lengths = lengths[sample_rows(len(lengths), trainings.limit)]  # of the texts that are tried
    known = None if debate.run is None else debate.run.model
    read = known or build_model(model, probe.vocabulary, debate.corpus.label_names)
    if "agreement" in names and read.mixes_tokens:  # every word left out once, and the text read again
        seconds += float((lengths**2).sum()) * own / (3 * training.epochs * probe.words)
    if "adversary" in names and len(debate.corpus.label_names) > 2:
        seconds += float(lengths.sum()) * PUBLISHED["restarts"] * PUBLISHED["steps"] * CLIMB
    return Estimate(
        own,
        seconds + START * len(names),
        sum(one.cells * one.trainings for one in todo if not one.guided),
        sum(one.cells * one.trainings for one in todo if one.guided),
        guided,
    )


def _reading(audited: Audited, limit: int | None, names: Sequence[str]) -> float:
    """Seconds of a model in hand, from one text of middle length read with each of its words left out."""
    texts = audited.texts("test")
    rows = sample_rows(len(texts), limit)
    lengths = lengths_of(texts)[rows].astype(float)
    middle = rows[np.argsort(lengths)[len(rows) // 2 :][:1]]
    reader = Reader(audited.subject, batch_of(audited.subject, texts, middle))
    begun = time.perf_counter()
    reader.each_out()
    each = (time.perf_counter() - begun) / float(lengths[np.argsort(lengths)[len(rows) // 2]]) ** 2
    seconds = START
    if "agreement" in names:
        seconds += each * float((lengths**2).sum())
    if "permutation" in names:
        seconds += each * PERMUTED * float(lengths.sum())
    if "adversary" in names and not is_exact(reader.trace):
        climbs = PUBLISHED["restarts"] * PUBLISHED["steps"]
        seconds += climbs * float(lengths.sum()) * (CLIMB if reader.trace.linear is not None else each)
    return seconds


def work(debate: Debate, names: Sequence[str], *, quick: bool) -> list[Work]:
    """The trainings that these stages need, those that several of them share counted once."""
    seeds = len(debate.trainings.seeds)
    ladders = min(SOME, seeds)
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
