"""The stages of an audit, one after the other: each leaves its records, and a restart skips what is there.

    plan.json              what is asked; a folder made for something else is refused
    rows/words, rows/layer, rows/weights, rows/seeds    one row a text, as Parquet (see `trials.stream`)
    runs/seed-N, runs/uniform    the models trained again (not with keep_texts=False: a vocabulary is texts)
    records/*.json         what took no stream: decisions of the uniform control, times of stages

`measure` gives what `heedful.verdict` needs, and what a page shows.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from heedful.data.batches import Batch
from heedful.data.encoded import EncodedTexts
from heedful.errors import UserError
from heedful.files import locked, write_atomically
from heedful.models.building import Classifier
from heedful.records import Finding
from heedful.study.auditing.at_hand import RECORDS, ROWS, RUNS, is_kept, other_seeds
from heedful.study.auditing.browsing import choose, instances
from heedful.study.auditing.findings import (
    NULLS,
    accuracy_finding,
    layer_evidence,
    needed_finding,
    stable_evidence,
    weights_evidence,
    word_evidence,
)
from heedful.study.auditing.label_words import label_words
from heedful.study.auditing.plan import Plan, claim_folder
from heedful.study.auditing.retrained import decisions_of, seeds_trial, train_again
from heedful.study.auditing.trial import layer_trial, weights_trial, words_trial
from heedful.study.auditing.word_table import word_table
from heedful.trials.stream import Trial, stream
from heedful.trials.word_rankings import OwnRanking

LOCK = ".lock"
NOT_OURS = "Somebody's model is not ours to train again, so this was not asked."

Advance = Callable[[int], None]
Progress = Callable[[str, int], AbstractContextManager[Advance]]
Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Measured:
    """All that was measured; `evidence` are the fields of `verdict.Evidence` by name."""

    evidence: Mapping[str, Any]
    instances: list[dict[str, Any]]
    words: pd.DataFrame
    rows: pd.DataFrame  # one row a text: what the stages found
    seconds: Mapping[str, float]
    of: int  # texts of the split
    notes: tuple[str, ...] = ()


@dataclass(eq=False)
class _Stages:
    """Runs stages in a folder, and keeps their times."""

    plan: Plan
    folder: Path
    progress: Progress | None
    say: Say
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        taken = time.perf_counter() - begun
        known = self.kept("seconds") or {}
        # A stage that was there from before is not measured anew by reading it.
        self.seconds[name] = max(taken, known.get(name, 0.0))
        self.keep("seconds", {**known, name: self.seconds[name]})

    def streamed(self, name: str, trial: Trial, rows: NDArray[np.int64]) -> pd.DataFrame:
        """The rows of a trial over these texts."""
        plan = self.plan
        with self.timed(name), self._shown(f"{name}, texts", len(rows)) as advance:
            done = stream(
                trial,
                plan.audited.subject,
                plan.texts,
                self.folder / ROWS / name,
                recipe={**plan.recipe, "stage": name},
                rows=rows,
                places=plan.places,
                progress=advance,
            )
        return done.rows()

    def _shown(self, what: str, total: int) -> AbstractContextManager[Advance | None]:
        return self.progress(what, total) if self.progress is not None else nullcontext()

    def kept(self, name: str) -> Any:
        """A record from before, None without one."""
        path = self.folder / RECORDS / f"{name}.json"
        if not path.exists():
            return None
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise UserError(f"{path} is damaged ({error}): remove it, and it is made again.") from None

    def keep(self, name: str, content: Any) -> None:
        with write_atomically(self.folder / RECORDS / f"{name}.json") as file:
            json.dump(content, file)


def measure(
    plan: Plan,
    folder: str | Path,
    *,
    rankings: Mapping[str, OwnRanking] | None = None,
    progress: Progress | None = None,
    say: Say = lambda sentence: None,
) -> Measured:
    """Do all stages that the plan asks for, in `folder`. `rankings` of the user's own are compared too."""
    folder = Path(folder)
    own = {**plan.audited.rankings, **(rankings or {})}
    # Scores of one's own count by what they say, functions by their names alone.
    recipe = {**plan.recipe, "rankings": {name: getattr(own[name], "digest", "") for name in sorted(own)}}
    claim_folder(folder, recipe)
    with locked(folder / LOCK):
        return _measured(_Stages(plan, folder, progress, say), rankings or {})


def _measured(stages: _Stages, rankings: Mapping[str, OwnRanking]) -> Measured:
    plan = stages.plan
    audited, settings = plan.audited, plan.settings
    about = {"corpus": audited.corpus.name, "model": audited.name, "split": settings.split}
    seed, subject = settings.seed, audited.subject
    settings_of: dict[str, Any] = {"about": about, "seed": seed}
    with stages.timed("token types"):
        marked = label_words(audited)
    words = stages.streamed(
        "words",
        words_trial(subject, extra={**audited.rankings, **rankings}, marked=marked, seed=seed),
        plan.rows,
    )
    found, not_asked = word_evidence(words, classes=audited.corpus.label_names, **settings_of)
    found["accuracy"] = accuracy_finding(words["decided"].to_numpy(), plan.labels, about=about)
    layer = stages.streamed("layer", layer_trial(subject, seed=seed), plan.rows)
    more, why = layer_evidence(layer, **settings_of)
    found, not_asked = {**found, **more}, {**not_asked, **why}
    exact = (
        len(subject.classes) == 2 and "smallest_kind" in layer and set(layer["smallest_kind"]) == {"exact"}
    )
    other = stages.streamed("weights", weights_trial(subject, seed=seed), plan.weights_rows(exact=exact))
    found |= weights_evidence(other, **settings_of)
    nulls = {name: layer[f"decided_{name}"].to_numpy() for name in NULLS}
    models, more, why = _retrained(stages, words["decided"].to_numpy(), nulls=nulls, **settings_of)
    found, not_asked = {**found, **more}, {**not_asked, **why}
    table, shown = pd.DataFrame(), []
    if settings.keep_texts:
        with stages.timed("browsing"):
            table = word_table(plan, marked, models)
            best = _best_of(found.get("rankings", ()), audited.rankings)
            shown = instances(plan, choose(words, plan.labels), extra=best, seed=seed)
    rows = words.merge(layer.drop(columns=["decided"]), on="instance", how="left")
    rows = rows.merge(other, on="instance", how="left")
    return Measured(
        {**found, "not_asked": not_asked},
        shown,
        table,
        rows.assign(label=plan.labels),
        stages.seconds,
        len(audited.corpus.split(settings.split)),
        (*audited.corpus.notes, *audited.notes),
    )


def _best_of(skills: Sequence[Finding], own: Mapping[str, OwnRanking]) -> Mapping[str, OwnRanking]:
    """The best of all rankings, if only this kind of subject has it: a page may have to paint it."""
    ranked = sorted(skills, key=lambda skill: skill.value)
    name = str(ranked[-1].coordinates["ranking"]) if ranked else ""
    return {name: own[name]} if name in own else {}


def _retrained(
    stages: _Stages,
    decided: NDArray,
    *,
    nulls: Mapping[str, NDArray],
    about: Mapping[str, Any],
    seed: int,
) -> tuple[Sequence[Classifier], dict[str, Any], dict[str, str]]:
    """The models of other seeds; what they and the uniform control say; and why a question was not asked."""
    plan = stages.plan
    run, settings = plan.audited.run, plan.settings
    if run is None:
        return (), {}, {"stable": NOT_OURS, "needed": NOT_OURS}
    assert isinstance(plan.texts, EncodedTexts)
    found: dict[str, Any] = {}
    not_asked: dict[str, str] = {}
    if not len(plan.audited.corpus.split("train")):
        why = "These texts are not those the model was trained on, so it could not be trained again."
        return (), {}, {"stable": why, "needed": why}
    if not settings.uniform:
        not_asked["needed"] = "No uniform control was asked for."
    elif run.recipe.model.control != "none":
        not_asked["needed"] = f"The model's attention is {run.recipe.model.control} already."
    else:
        uniform = stages.kept("uniform")
        if uniform is None:
            with stages.timed("uniform control"):
                control = _trained(stages, "uniform", uniform=True)
                uniform = decisions_of(control.model, plan.texts, plan.rows).tolist()
                stages.keep("uniform", uniform)
        found["needed"] = needed_finding(
            decided, np.asarray(uniform), plan.labels, about=about, nulls=nulls, seed=seed
        )
    if settings.seeds < 2:
        not_asked["stable"] = "Only one seed was asked for."
        return (), found, not_asked
    own = run.recipe.training.seed

    @cache
    def others() -> list[Classifier]:
        others = other_seeds(own, settings.seeds)
        return [_trained(stages, f"seed-{other}", seed=other).model for other in others]

    def trial(batch: Batch, first: int) -> pd.DataFrame:  # trains only where rows are missing
        return seeds_trial([run.model, *others()], seed=seed)(batch, first)

    frame = stages.streamed("seeds", trial, plan.rows)
    found |= stable_evidence(frame, seeds=settings.seeds, about=about)
    if "stable" not in found:
        not_asked["stable"] = "No text has two words, so there is no top word to compare."
    elif "stable_advantage" not in found:
        not_asked["stable"] = (
            "Two seeds are one pair of models, which cannot tell how others vary: ask for three or more."
        )
    return others() if settings.keep_texts else (), found, not_asked


def _trained(stages: _Stages, name: str, **change: Any) -> Any:
    run = stages.plan.audited.run
    assert run is not None
    if not is_kept(stages.folder, name):
        stages.say(f"Training again: {name.replace('-', ' ')} …")
    out = stages.folder / RUNS / name if stages.plan.settings.keep_texts else None
    return train_again(run, stages.plan.audited.corpus, out=out, **change)
