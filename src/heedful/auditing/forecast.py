"""About how long an audit takes, said before it begins, from a trial of a few texts."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from heedful.auditing.asking import RUNS, Asking, other_seeds
from heedful.auditing.browsing import MOST, MOST_WORDS, entries_of
from heedful.auditing.maps import Maps, maps_trial, paint, read_only
from heedful.auditing.plan import AuditSettings, Plan, begun_in
from heedful.auditing.questions import QUESTIONS, NotAsked
from heedful.auditing.reading import DEAR_TEXTS, ReadSubject, evenly, hidden_maps
from heedful.auditing.result import PAGE
from heedful.auditing.rule import Thresholds
from heedful.data.corpus import Corpus
from heedful.drawing import new_figure, save_figure, styled
from heedful.models.building import Classifier
from heedful.records.wording import lasting
from heedful.study.forecast import one_training
from heedful.training.presets import prepare
from heedful.training.run import RESULT
from heedful.trials.erasure.random_deletions import LONGEST, counts_of
from heedful.trials.stream import Trial, batch_of, lengths_of, planned

TRIED, TRIED_CLOSED = 3, 24  # texts that are read many times to see how long it takes
TRIED_STEPS = 15  # of a question that goes by steps: they take about as long for few texts as for all
TRIED_OTHERS = 64  # texts of our own models that the other questions are tried on
FIGURES = 25  # times one figure: what does not hang on the texts takes about so long
ANNOUNCED = "announced, at most"  # beside the stages' seconds


def promise(
    corpus: Corpus, asked: AuditSettings, *, model: str, folder: Path, out: Path | None, **changes: Any
) -> list[str]:
    """What training and audit will do, and about how long the trainings take; before either begins."""
    begun_in(folder, asdict(asked))
    texts, audited = (len(corpus.split(name)) for name in ("train", asked.split))
    steps = f"train {model} on {texts:,} texts, audit it on {audited:,} {asked.split} texts"
    line = f"{corpus.name}: {steps}, write "
    if out is not None and (out / RESULT).exists():
        return [f"{line}{folder / PAGE}. It is trained already: {out}."]
    settings, training = prepare(model, {"seed": asked.seed, **changes})
    seconds = one_training(corpus, settings, training, threads=None)
    again = len(_trainings(folder, asked, training.seed, settings.control))
    more = (
        f", and {again} more trainings for questions about it about {lasting(again * seconds)}"
        if again
        else ""
    )
    lines = [
        f"{line}{folder / PAGE}.",
        f"Training takes about {lasting(seconds)}{more} (tried on a few texts).",
    ]
    if out is None:
        lines.append(
            "The trained model holds words of the texts, so it is not kept: a restart trains it again."
        )
    return lines


def announce(asking: Asking) -> list[str]:
    """What the audit will do beyond what its folder holds already, and about how long that takes."""
    plan = asking.plan
    audited, settings = plan.audited, plan.settings
    of = len(plan.texts)
    taken = f"all {of:,}" if len(plan.pool) == of else f"{len(plan.pool):,} of {of:,} (drawn by the seed)"
    lines = [f"Auditing {audited.name} on {audited.corpus.name}: {taken} {settings.split} texts."]
    lines += [*too_few(plan), *too_long(plan), *plan.unseen]
    if asking.records.value("seconds"):
        return [*lines, "What was measured before is taken from the folder."]
    parts = {
        "reading": reading_seconds(asking),
        "other questions": question_seconds(asking),
        "texts to browse": browsing_seconds(asking),
        "intervals, figures and page": drawing_seconds(),
    }
    run = audited.run
    if run is not None and audited.can_train:
        left = _trainings(asking.folder, settings, run.recipe.training.seed, run.recipe.model.control)
        parts["training again"] = len(left) * float(run.result.get("seconds", 0.0))
    asking.seconds[ANNOUNCED] = sum(parts.values())
    told = ", ".join(f"{name} {lasting(value)}" for name, value in parts.items() if value >= 1)
    total = lasting(asking.seconds[ANNOUNCED])
    return [*lines, f"At most about {total} ({told}): it stops as soon as the reading is settled."]


def too_few(plan: Plan) -> list[str]:
    """What is said of fewer texts than any reading needs; nothing where there are enough."""
    least = Thresholds().texts
    if len(plan.pool) >= least:
        return []
    return [f"These are too few for a reading, which needs {least}: the verdict will be that it cannot say."]


def too_long(plan: Plan) -> list[str]:
    """What is said of texts of too many words for random deletions; nothing where there are none."""
    count = int((lengths_of(plan.texts)[plan.pool] > LONGEST).sum())
    more = f"{count:,} text{'s have' if count > 1 else ' has'} more than {LONGEST:,} words"
    return [f"{more}, too many for random deletions: no reading rests on such texts."] if count else []


def reading_seconds(asking: Asking) -> float:
    """Of reading all texts that may be read many times: a few of middle length are tried.

    Time goes by the words that are read: of each text as often as it has deletions, half of them being gone;
    of some texts again with words hidden, none of which is gone; and dear maps of some texts.
    """
    plan, maps = asking.plan, asking.plan.maps
    subject, closed, seed = plan.audited.subject, plan.audited.closed, plan.settings.seed
    few = _few(plan)
    lengths = lengths_of(plan.texts)
    own, every = lengths[few], lengths[plan.pool]
    batch = batch_of(subject, plan.texts, few)
    asked = min(plan.reading.texts or len(every), len(every))

    def tried(some: Maps) -> float:
        return _seconds(partial(maps_trial(subject, some, seed=seed), batch, 0), warm=closed)

    deleting = tried(maps) / _words_read(own, maps).sum()
    hidden = hidden_maps(maps)
    hiding = tried(hidden) / _words_read(own, hidden).sum() if closed else deleting
    found = deleting * _words_read(every, maps).mean() * asked
    found += hiding * _words_read(every, hidden).mean() * min(maps.hidden, asked)
    dear = tuple(name for name in maps.names if name in maps.dear)
    if dear:  # those that take long read a text once for each of its words
        painting = partial(paint, read_only(subject, batch)[0], replace(maps, names=dear, dear=frozenset()))
        share = np.square(every).mean() / np.square(own).sum()
        found += _seconds(partial(painting, seed=seed), warm=closed) * share * min(DEAR_TEXTS, asked)
    return float(found)


def browsing_seconds(asking: Asking) -> float:
    """Of what the page shows of single texts: a few of middle length are tried."""
    plan = asking.plan
    if not plan.settings.keep_texts:
        return 0.0
    subject, few, lengths = plan.audited.subject, _few(plan), lengths_of(plan.texts)
    batch = batch_of(subject, plan.audited.corpus.split(plan.settings.split).texts, few)
    painted = {plan.shown: torch.zeros(batch.mask.shape, dtype=torch.float64)}  # it is known by then
    taken = _seconds(lambda: list(entries_of(subject, batch, painted=painted)), warm=plan.audited.closed)
    shown = min(MOST, plan.reading.texts or MOST, len(plan.pool))
    words = min(MOST_WORDS, shown * lengths[plan.pool].mean())
    return float(taken * words / max(1, lengths[few].sum()))


def drawing_seconds() -> float:
    """Of intervals, figures and the page, which hardly hang on the texts: one figure is tried."""
    with TemporaryDirectory() as folder, styled():
        figure = new_figure()  # imports what draws, which is not timed
        figure.subplots().hist(range(40))
        return FIGURES * _seconds(lambda: save_figure(figure, Path(folder) / "tried"), warm=False)


def question_seconds(asking: Asking) -> float:
    """Of all questions but those that train again: each is tried on a few texts."""
    trying = Trying(asking.plan, asking.folder)
    trying.label_words = asking.label_words  # of the training texts: found once
    ours = asking.plan.audited.run is not None
    for question in QUESTIONS:
        with suppress(NotAsked):
            if not (ours and question.of_others):
                question.measure(trying)
    return sum(trying.seconds.values())


class Trying(Asking):
    """An asking that reads a few texts of each question, and keeps how long all of them would take."""

    longer = 1.0  # than the steps that are tried are all of them

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """As many texts as will be asked about."""
        pool, asked = self.plan.pool, self.plan.reading.texts
        return pool if self.plan.audited.run is not None else self.plan.looked_at(pool[:asked])

    @cached_property
    def read(self) -> ReadSubject:
        raise NotAsked("This is timed by itself.")

    def train_again(self, name: str, **change: Any) -> Classifier:
        raise NotAsked("This is timed by itself.")

    def steps(self, count: int) -> int:
        """A few of the steps, but of all texts: what they cost hardly hangs on how many texts go together."""
        self.longer = count / TRIED_STEPS
        return TRIED_STEPS

    def stream(self, name: str, trial: Trial, rows: NDArray[np.int64]) -> pd.DataFrame:
        """Nothing: the trial is timed on a few of the texts, or in a few of its steps."""
        lengths = lengths_of(self.texts)
        ours = self.plan.audited.run is not None
        stepwise, longer, self.longer = self.longer > 1, self.longer, 1.0
        few = rows if stepwise else evenly(rows, TRIED_OTHERS if ours else TRIED)
        batches = [batch_of(self.plan.audited.subject, self.texts, part) for part in planned(self.texts, few)]
        taken = sum(_seconds(partial(trial, batch, 0), warm=ours or stepwise) for batch in batches)
        self.seconds[name] = taken * longer * float(lengths[rows].sum() / max(1, lengths[few].sum()))
        raise NotAsked("It was tried.")

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        yield  # what is tried is no part of the audit's own times


def _trainings(folder: Path, settings: AuditSettings, seed: int, control: str) -> list[str]:
    """The models that must still be trained again, as their runs are named."""
    names = ["uniform"] if settings.uniform and control == "none" else []
    if settings.seeds > 2:
        names += [f"seed-{other}" for other in other_seeds(seed, settings.seeds)]
    return [name for name in names if not (folder / RUNS / name / RESULT).exists()]


def _few(plan: Plan) -> NDArray[np.int64]:
    """A few texts of the pool, of middle length."""
    lengths = lengths_of(plan.texts)[plan.pool]
    nearest = np.argsort(np.abs(lengths - np.median(lengths)), kind="stable")
    return plan.pool[nearest[: TRIED_CLOSED if plan.audited.closed else TRIED]]


def _seconds(work: Callable[[], object], *, warm: bool) -> float:
    """How long this takes; `warm` does it once before, for what compiles and allocates at first."""
    if warm:
        work()
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _words_read(lengths: NDArray[np.int64], maps: Maps) -> NDArray[np.float64]:
    """About how many words of texts of such lengths are read by their deletions."""
    reads = counts_of(lengths, per_word=maps.per_word, most=maps.most).astype(np.float64)
    return lengths * reads * (0.5 if maps.how == "delete" else 1.0)
