"""The whole debate about one model: every test of both papers, and sanity checks, stage by stage.

A stage is what an experiment of a paper is, on ground of one's own: a corpus and a model by name, or a run
that is there already. Trainings and measurements are kept on a workbench, so stages share them and an
interrupted debate goes on.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from heedful.data.corpus import Corpus
from heedful.data.words import WordRules
from heedful.errors import UserError, check_seed, choose_from
from heedful.files import folder_atomically
from heedful.records import Claim, Finding
from heedful.study.experiment import Experiment, Tables
from heedful.study.grid import load_origin
from heedful.study.ground import LIMIT, MAIN, QUICK_LIMIT, Ground, quick_settings
from heedful.study.jain_wallace.adversary import adversary_claims, adversary_findings, measure_adversary
from heedful.study.jain_wallace.agreement import agreement_claims, agreement_findings, measure_agreement
from heedful.study.jain_wallace.permutation import (
    measure_permutation,
    permutation_claims,
    permutation_findings,
)
from heedful.study.pooling import cells, findings_table
from heedful.study.sanity import STARTS, TRAININGS, sanity_findings
from heedful.study.sanity_claims import sanity_claims, sanity_summary
from heedful.study.wiegreffe_pinter.curve import curve_claims, curve_findings, measure_curve
from heedful.study.wiegreffe_pinter.ladder import (
    diagnostic_claims,
    diagnostic_findings,
    measure_diagnostic,
)
from heedful.study.wiegreffe_pinter.seeds import measure_seeds, seeds_claims, seeds_tables_findings
from heedful.study.wiegreffe_pinter.uniform import measure_uniform, uniform_claims, uniform_findings
from heedful.study.workbench import RUNS, Bench, Measure
from heedful.training import run as files
from heedful.training.presets import PRESETS, prepare
from heedful.training.reopening import base_of, corpus_of
from heedful.training.run import Run, load_run

SEEDS, QUICK_SEEDS, LADDERS = 8, 3, 3
Findings = Callable[[Tables], list[Finding]]


@dataclass(frozen=True)
class Stage:
    """One test of the debate; `seeds` is how many runs it looks at: one, some or all."""

    name: str
    title: str
    source: str
    measure: Callable[[Bench, Ground], Tables]
    findings: Findings
    claims: Callable[[Tables], Sequence[Claim]]
    figures: tuple[str, ...]
    seeds: str = "one"
    flat_only: bool = False  # needs one row of learnt softmax weights a text

    def experiment(self, ground: Ground) -> Experiment:
        """The stage on this ground, as an experiment that a workbench can run."""
        taken = {"one": 1, "some": LADDERS, "all": len(ground.seeds)}[self.seeds]
        own = replace(ground, seeds=ground.seeds[:taken])

        def measure(bench: Bench) -> Tables:
            tables = self.measure(bench, own)
            return {**tables, "findings": findings_table(self.findings(tables))}

        return Experiment(f"debate-{self.name}", self.title, self.source, measure, self.claims, self.figures)


def _sanity(bench: Bench, ground: Ground) -> Tables:
    options = {"limit": ground.limit, "starts": STARTS, "trainings": TRAININGS}
    measure = Measure("heedful.study.sanity:sanity_rows", options)
    table = bench.measured(ground.study("sanity"), measure)
    return {"sanity": table, "summary": sanity_summary(table)}


def _sanity_findings(tables: Tables) -> list[Finding]:
    return [one for where, rows in cells(tables["sanity"]) for one in sanity_findings(rows, **where)]


def _sanity_claims(tables: Tables) -> list[Claim]:
    return sanity_claims(_sanity_findings(tables))


STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in (
        Stage(
            "agreement",
            "Attention against gradients and leave-one-out",
            "Jain & Wallace (2019), 4.1",
            measure_agreement,
            agreement_findings,
            agreement_claims,
            ("jain-wallace-agreement", "jain-wallace-taus"),
        ),
        Stage(
            "permutation",
            "What permuting the weights does to the output",
            "Jain & Wallace (2019), 4.2.1",
            measure_permutation,
            permutation_findings,
            permutation_claims,
            ("jain-wallace-permutation",),
        ),
        Stage(
            "adversary",
            "Far other weights with the same output",
            "Jain & Wallace (2019), 4.2.2",
            measure_adversary,
            adversary_findings,
            adversary_claims,
            ("jain-wallace-adversary", "jain-wallace-adversary-weights"),
        ),
        Stage(
            "uniform",
            "Learnt weights beside uniform and frozen ones",
            "Wiegreffe & Pinter (2019), 3.1",
            measure_uniform,
            uniform_findings,
            uniform_claims,
            ("wiegreffe-pinter-uniform",),
            seeds="all",
        ),
        Stage(
            "seeds",
            "How much attention varies over seeds",
            "Wiegreffe & Pinter (2019), 3.2",
            measure_seeds,
            seeds_tables_findings,
            seeds_claims,
            ("wiegreffe-pinter-seeds",),
            seeds="all",
        ),
        Stage(
            "diagnostic",
            "Each kind of weights as a guide for a classifier of single words",
            "Wiegreffe & Pinter (2019), 3.3",
            measure_diagnostic,
            diagnostic_findings,
            diagnostic_claims,
            ("wiegreffe-pinter-diagnostic",),
            seeds="some",
            flat_only=True,
        ),
        Stage(
            "adversarial",
            "Models trained to decide alike and attend elsewhere",
            "Wiegreffe & Pinter (2019), 4",
            measure_curve,
            curve_findings,
            curve_claims,
            ("wiegreffe-pinter-adversarial",),
            seeds="all",
            flat_only=True,
        ),
        Stage(
            "sanity",
            "Random parameters, permuted labels, harmless noise",
            "sanity checks of the wider field",
            _sanity,
            _sanity_findings,
            _sanity_claims,
            ("debate-sanity",),
        ),
    )
}


@dataclass(frozen=True)
class Debate:
    """What is debated: the ground, its corpus, the run that is there already, and what must be left out."""

    ground: Ground
    corpus: Corpus
    run: Run | None
    left_out: dict[str, str]  # stages that this model cannot have, with the reason
    frozen: bool = True  # whether it can be trained under frozen weights

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
        spared = partial(measure_uniform, frozen=False)
        return [replace(one, measure=spared) if one.name == "uniform" else one for one in stages]

    def adopt(self, bench: Bench) -> None:
        """Put the run that is there already where the workbench looks for it, so that it is not trained."""
        if self.run is None or self.run.folder is None:
            return
        cell = self.ground.study("adopted", seeds=self.ground.seeds[:1]).cells[0]
        target = bench.folder / RUNS / f"{cell.key}-{self.corpus.fingerprint}"
        if target.exists():
            return
        kept = (files.SETTINGS, files.VOCABULARY, files.WEIGHTS, files.HISTORY, files.RESULT)
        with folder_atomically(target) as place:
            for name in kept:
                shutil.copy2(self.run.folder / name, place / name)
            if (self.run.folder / files.ENCODER).exists():
                shutil.copytree(self.run.folder / files.ENCODER, place / files.ENCODER)


def debate_on(
    source: str | Path,
    *,
    model: str | None = None,
    quick: bool = False,
    seeds: int | None = None,
    limit: int | None = None,
    seed: int = 0,
    data_dir: str | Path | None = None,
    columns: dict[str, str] | None = None,
    **changes: Any,
) -> Debate:
    """Prepare a debate about a run folder, or about a model by name on a corpus; nothing is trained yet.

    `seeds` is how many trainings are compared, and `seed` the first of theirs; a run brings its own.
    """
    check_seed(seed)
    count = seeds or (QUICK_SEEDS if quick else SEEDS)
    taken = limit or (QUICK_LIMIT if quick else LIMIT)
    if (Path(source) / files.SETTINGS).exists():
        if model is not None or changes:
            raise UserError(f"{source} is a run, which has its model and settings: leave those out.")
        if columns:
            raise UserError(f"{source} is a run, which knows its columns: leave {', '.join(columns)} out.")
        return _about_run(load_run(source), range(seed, seed + count + 1), taken, data_dir)
    name = model or MAIN
    settings = {**(quick_settings(name) if quick else {}), **changes}
    ground = Ground(
        (str(source),), (name,), tuple(range(seed, seed + count)), settings, dict(columns or {}), limit=taken
    )
    return _checked(ground, None, load_origin(ground.study("check").origin(str(source)), data_dir))


def _about_run(run: Run, seeds: range, limit: int, data_dir: str | Path | None) -> Debate:
    recipe = run.recipe
    if recipe.words != WordRules():
        raise UserError("This run splits words by rules of its own, which a debate's other runs would not.")
    corpus = corpus_of(run, data_dir=data_dir)
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
    columns = {key: str(about[key]) for key in ("text", "label", "split") if about.get(key)}
    ground = Ground(
        (str(about["source"]),),
        (name,),
        (first, *others[: len(seeds) - 2]),
        settings,
        columns,
        base=base_of(run),
        limit=limit,
    )
    return _checked(ground, run, corpus)


def _checked(ground: Ground, run: Run | None, corpus: Corpus) -> Debate:
    settings, _ = prepare(ground.models[0], ground.settings)
    if settings.control != "none":
        raise UserError(f"A debate is about learnt attention, and this model's is {settings.control}.")
    if not (corpus.splits == "test").any():
        raise UserError(f"The corpus {corpus.name} has no test split, which a debate is held on.")
    left_out: dict[str, str] = {}
    if settings.hierarchical or settings.normaliser != "softmax" or settings.encoder == "pretrained":
        reason = "it needs a flat model with softmax attention, trained from random words"
        left_out = {stage.name: reason for stage in STAGES.values() if stage.flat_only}
    elif settings.embedding_source != "uniform":
        reason = "its adversary starts from random words, and this model from given vectors"
        left_out = {stage.name: reason for stage in STAGES.values() if stage.flat_only}
    frozen = not settings.hierarchical and settings.encoder != "pretrained"
    return Debate(ground, corpus, run, left_out, frozen)
