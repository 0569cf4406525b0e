"""The debate held: stage after stage, each with its tables, findings, claims and figures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.papers.debate.preparing import STAGES, Debate, debate_on
from heedful.papers.debate.stage import Stage
from heedful.records import Finding
from heedful.study.experiment import Reproduction, reproduce
from heedful.study.workbench import Bench, Say

BENCH = ("workers", "progress")  # options that say how, and not what


@dataclass(frozen=True)
class Held:
    """One stage of a debate, and what came of it."""

    stage: Stage
    reproduction: Reproduction  # its tables and claims, and their folder
    findings: tuple[Finding, ...]
    figures: tuple[Path, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types."""
        return {
            "name": self.stage.name,
            "title": self.stage.title,
            "source": self.stage.source,
            "folder": str(self.reproduction.folder),
            "figures": [str(path) for path in self.figures],
            "findings": [finding.to_dict() for finding in self.findings],
            "claims": [claim.to_dict() for claim in self.reproduction.claims],
        }


def debate(
    source: Any,
    data: Any = None,
    *,
    out: str | Path,
    only: Sequence[str] | None = None,
    quick: bool = False,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    say: Say = lambda sentence: None,
    **options: Any,
) -> list[Held]:
    """Hold the debate over a run folder, a model by name on a corpus, or anybody's model with `data`.

    `only` names stages; `options` are those of `debate_on` (model, seeds, limit, seed, columns, label_map)
    and of the workbench (workers, progress). Stages that this model cannot have are told through `say`, with
    the reason. What was trained and measured is kept in `out`: the same call goes on after a stop.

    Example: `heedful.debate("runs/reviews", out="debate", only=["agreement", "adversary"])`
    """
    how = {name: options.pop(name) for name in BENCH if name in options}
    prepared = debate_on(source, data, quick=quick, data_dir=data_dir, device=device, **options)
    where = None if data_dir is None else str(data_dir)
    bench = prepared.bench(Path(out), quick=quick, data_dir=where, device=device, say=say, **how)
    check(bench)
    stages = prepared.stages(only)
    for line in prepared.notes(only):
        say(line)
    prepared.adopt(bench)
    return list(hold(prepared, stages, bench))


def check(bench: Bench) -> None:
    """Refuse a folder that holds something else."""
    bench.check([f"debate-{name}" for name in STAGES])


def hold(prepared: Debate, stages: Sequence[Stage], bench: Bench) -> Iterator[Held]:
    """Stage after stage, as each is done."""
    for stage in stages:
        bench.say(f"{stage.name}: {stage.title} ({stage.source})")
        experiment = stage.on(prepared.trainings)
        done = reproduce(experiment, bench)
        yield Held(stage, done, tuple(stage.findings(done.tables)), tuple(experiment.draw(done)))
