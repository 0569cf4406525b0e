"""The whole debate about one model: every test of both papers, and sanity checks, stage by stage.

A stage is what an experiment of a paper is, on trainings of one's own: a corpus and a model by name, or a run
that is there already. Trainings and measurements are kept on a workbench, so stages share them and an
interrupted debate goes on.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from heedful.auditing.audited import Audited, label_reading, open_subject
from heedful.data.corpus import Corpus
from heedful.data.named import load_data
from heedful.data.words import rules_for
from heedful.errors import UserError, check_seed, choose_from
from heedful.files import folder_atomically
from heedful.models.transformers import TransformerSubject
from heedful.models.transformers.any_layer import AtLevel
from heedful.papers.debate import sanity
from heedful.papers.debate.in_hand import SubjectBench
from heedful.papers.debate.stage import Stage
from heedful.papers.debate.trainings import LIMIT, MAIN, QUICK_LIMIT, Trainings, quick_settings
from heedful.papers.jain_wallace import adversary, agreement, permutation
from heedful.papers.wiegreffe_pinter import adversarial, diagnostic, seeds, uniform
from heedful.study.grid import READING, load_origin
from heedful.study.workbench import RUNS, Bench
from heedful.training import run as files
from heedful.training.opening import Asked, is_of_hub
from heedful.training.presets import PRESETS, prepare
from heedful.training.run import Run, load_run
from heedful.training.texts_of_run import base_of, corpus_of

SEEDS, QUICK_SEEDS = 8, 3
STAGES: dict[str, Stage] = {
    test.STAGE.name: test.STAGE
    for test in (agreement, permutation, adversary, uniform, seeds, diagnostic, adversarial, sanity)
}


@dataclass(frozen=True)
class Debate:
    """What is debated: trainings, their corpus, the run that is there already, and what must be left out."""

    trainings: Trainings
    corpus: Corpus
    run: Run | None
    left_out: dict[str, str]  # stages that this model cannot have, with the reason
    frozen: bool = True  # whether it can be trained under frozen weights
    audited: Audited | None = None  # a model that somebody brought, instead of trainings

    def bench(self, folder: Path, **options: Any) -> Bench:
        """Where its stages are measured; `options` are those of `Bench`."""
        if self.audited is not None:
            return SubjectBench(folder, audited=self.audited, **options)
        return Bench(folder, **options)

    def stages(self, only: Sequence[str] | None = None) -> list[Stage]:
        """The stages asked for that this model can have, in their order."""
        wanted = [choose_from("stage of the debate", name, STAGES) for name in only or STAGES]
        stages = [
            stage for stage in STAGES.values() if stage.name in wanted and stage.name not in self.left_out
        ]
        if not stages:
            raise UserError(f"{wanted[0]} is left out here: {self.left_out[wanted[0]]}.")
        if self.frozen:
            return stages
        spared = partial(uniform.measure, frozen=False)
        return [replace(one, measure=spared) if one.name == "uniform" else one for one in stages]

    def notes(self, only: Sequence[str] | None = None) -> list[str]:
        """What to know before it begins: of the corpus, of the model, and why stages are left out."""
        found = list(self.corpus.notes) + list(self.audited.notes if self.audited is not None else ())
        for name, reason in self.left_out.items():
            if only is None or name in only:
                found.append(f"{name} is left out: {reason}.")
        asked = only is None or "agreement" in only
        if self.audited is not None and asked and "agreement" not in self.left_out:
            from heedful.trials.rankings.word_gradients import can_hold

            if not can_hold(self.audited.subject):
                found.append("Gradients go through attention too: this model cannot hold it constant.")
        return found

    def adopt(self, bench: Bench) -> None:
        """Put the run that is there already where the workbench looks for it, so that it is not trained."""
        if self.run is None or self.run.folder is None:
            return
        cell = self.trainings.study("adopted", seeds=self.trainings.seeds[:1]).cells[0]
        target = bench.folder / RUNS / cell.on(self.corpus)
        if target.exists():
            return
        kept = [files.SETTINGS, files.VOCABULARY, files.WEIGHTS, files.HISTORY, files.RESULT]
        kept += [files.MANIFEST] * (self.run.folder / files.MANIFEST).exists()
        with folder_atomically(target) as place:
            for name in kept:
                shutil.copy2(self.run.folder / name, place / name)
            if (self.run.folder / files.ENCODER).exists():
                shutil.copytree(self.run.folder / files.ENCODER, place / files.ENCODER)


def debate_on(
    source: Any,
    data: "Corpus | str | Path | None" = None,
    *,
    model: str | None = None,
    quick: bool = False,
    seeds: int | None = None,
    limit: int | None = None,
    seed: int = 0,
    data_dir: str | Path | None = None,
    columns: dict[str, Any] | None = None,
    label_map: Mapping[str, str] | None = None,
    device: str = "cpu",
    level: str | None = None,
    asked_of: Asked | None = None,
    **changes: Any,
) -> Debate:
    """Prepare a debate about a run folder, about a model by name on a corpus, or about anybody's model.

    Nothing is trained yet. `seeds` is how many trainings are compared, and `seed` the first of theirs; a run
    brings its own. A model that is not ours to train (hf:NAME, or any `Subject`) needs `data`, whose labels
    `label_map` may match to its classes; it is asked what can be asked without a training. `level` is any
    layer or head of a transformer (layer-2, layer-2-head-5), instead of its last; `asked_of` one is how
    it decides.
    """
    check_seed(seed)
    count = seeds or (QUICK_SEEDS if quick else SEEDS)
    taken = limit or (QUICK_LIMIT if quick else LIMIT)
    is_run = isinstance(source, str | Path) and (Path(source) / files.SETTINGS).exists()
    if is_run and data is not None:
        raise UserError(f"{source} is a run, which has its texts: leave --data out.")
    if data is not None or is_model(source):
        if model is not None or changes:
            raise UserError("A model that is there already has its settings: leave those out.")
        if data is None:
            raise UserError("A debate about somebody's model needs labelled texts: name them with --data.")
        where: dict[str, Any] = {"data_dir": data_dir, **(columns or {})}
        where |= label_reading(source, data, columns, asked_of)
        corpus = load_data(data, learn=False, **where) if isinstance(data, str | Path) else data
        audited = open_subject(source, corpus, label_map=label_map, asked=asked_of, device=device)
        return _about_subject(audited if level is None else _at(audited, level), taken)
    if asked_of is not None and asked_of.options:
        raise UserError(f"{asked_of.options} is for a transformer: give hf:NAME with --data.")
    if level is not None:
        raise UserError("--level names a layer or head of a transformer: give hf:NAME with --data.")
    if is_run:
        if model is not None or changes:
            raise UserError(f"{source} is a run, which has its model and settings: leave those out.")
        if columns:
            raise UserError(f"{source} is a run, which knows its columns: leave {', '.join(columns)} out.")
        return _about_run(load_run(source), range(seed, seed + count + 1), taken, data_dir)
    name = model or MAIN
    settings = {**(quick_settings(name) if quick else {}), **changes}
    trainings = Trainings(
        (str(source),), (name,), tuple(range(seed, seed + count)), settings, dict(columns or {}), limit=taken
    )
    return _checked(trainings, None, load_origin(trainings.study("check").origin(str(source)), data_dir))


def is_model(source: Any) -> bool:
    """Whether this is a model by itself: no run, which knows its texts, and no texts."""
    return not isinstance(source, str | Path) or is_of_hub(source)


def _at(audited: Audited, level: str) -> Audited:
    """The same at one layer or head."""
    if not isinstance(audited.subject, TransformerSubject):
        raise UserError(f"This model has no {level}: layers and heads are those of a transformer.")
    subject = AtLevel(audited.subject, level)
    return replace(
        audited, subject=subject, name=f"{audited.name} {level}", notes=(*audited.notes, subject.notes[-1])
    )


def _about_subject(audited: Audited, limit: int) -> Debate:
    corpus = audited.corpus
    _with_test_split(corpus)
    trainings = Trainings((corpus.name,), (audited.name,), (0,), limit=limit)
    reasons = {stage.name: stage.why_not(audited.subject) for stage in STAGES.values()}
    left_out = {name: reason for name, reason in reasons.items() if reason is not None}
    return Debate(trainings, corpus, None, left_out, audited=audited)


def _about_run(run: Run, seeds: range, limit: int, data_dir: str | Path | None) -> Debate:
    recipe = run.recipe
    corpus = corpus_of(run, data_dir=data_dir)
    if recipe.words != rules_for(corpus.texts):
        raise UserError("This run splits words by rules of its own, which a debate's other runs would not.")
    about = recipe.corpus
    name = str(about.get("preset", "dp"))
    name = name if name in PRESETS else "dp"
    usual = [asdict(part) for part in prepare(name)]
    own = [asdict(recipe.model), asdict(recipe.training)]
    settings = {
        key: value
        for before, now in zip(usual, own, strict=True)
        for key, value in now.items()
        if value != before[key] and key != "seed"
    }
    first = recipe.training.seed
    others = [seed for seed in seeds if seed != first]
    columns = {key: about[key] for key in READING if about.get(key) is not None}
    trainings = Trainings(
        (str(about["source"]),),
        (name,),
        (first, *others[: len(seeds) - 2]),
        settings,
        columns,
        base=base_of(run),
        limit=limit,
    )
    return _checked(trainings, run, corpus)


def _checked(trainings: Trainings, run: Run | None, corpus: Corpus) -> Debate:
    settings, _ = prepare(trainings.models[0], trainings.settings)
    if settings.control != "none":
        raise UserError(f"A debate is about learnt attention, and this model's is {settings.control}.")
    _with_test_split(corpus)
    left_out: dict[str, str] = {}
    frozen = not settings.hierarchical and settings.encoder != "pretrained"
    if not frozen or settings.normaliser != "softmax":
        reason = "it needs a flat model with softmax attention, and an encoder that is trained with it"
        left_out = {stage.name: reason for stage in STAGES.values() if stage.flat_only}
    return Debate(trainings, corpus, run, left_out, frozen)


def _with_test_split(corpus: Corpus) -> None:
    if not (corpus.splits == "test").any():
        raise UserError(f"The corpus {corpus.name} has no test split, which a debate is held on.")
