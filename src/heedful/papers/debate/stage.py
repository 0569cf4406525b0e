"""One test of the debate: what it measures on some trainings, what it finds and claims, and its figures.

A stage is an experiment of a paper on the paper's own trainings, and a part of `heedful debate` on a user's.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from heedful.papers.debate.as_published import as_published
from heedful.papers.debate.trainings import Trainings, paper_trainings
from heedful.records import Claim, Finding
from heedful.study.experiment import Draw, Experiment, Tables
from heedful.study.pooling import findings_table
from heedful.study.workbench import Bench

if TYPE_CHECKING:
    from heedful.models.subject import Subject, What

SOME = 3  # seeds


class Held(Protocol):
    """What a measure that trains nothing needs of a run: its model, which may be any subject."""

    @property
    def model(self) -> "Subject": ...


@dataclass(frozen=True)
class Stage:
    """`seeds` is how many runs it looks at; `flat_only`, that it needs one row of learnt softmax weights.

    `asks` is what it needs of a model that somebody brought; without any it trains, and cannot be asked.
    """

    name: str
    title: str
    source: str
    measure: Callable[[Bench, Trainings], Tables]
    findings: Callable[[Tables], list[Finding]]
    claims: Callable[[Tables], Iterable[Claim]]
    figures: Mapping[str, Draw]
    seeds: Literal["one", "some", "all"] = "one"
    flat_only: bool = False
    asks: "tuple[What, ...]" = ()

    def why_not(self, subject: "Subject") -> str | None:
        """Why this cannot be asked of a model that somebody brought; None where it can."""
        from heedful.models.subject import why_not

        if not self.asks:
            return "it trains the model again, and somebody's model is not ours to train"
        reasons = [why_not(subject, what) for what in self.asks]
        return next((reason.rstrip(".") for reason in reasons if reason is not None), None)

    def in_paper(
        self,
        paper: str,
        *,
        place: str = "",
        **asked: Any,
    ) -> Experiment:
        """The stage as the paper's experiment; `asked` says which of its trainings it takes.

        In full it has the texts and vectors of Jain & Wallace's code, on which both papers' is built.
        """

        def measure(bench: Bench) -> Tables:
            trainings = paper_trainings(bench, **asked)
            if not bench.quick:
                trainings = as_published(bench, trainings)
            return self.measure(bench, trainings)

        name, source = f"{paper}-{self.name}", self.source + place
        return Experiment(name, self.title, source, measure, self.claims, self.figures)

    def on(self, trainings: Trainings) -> Experiment:
        """The stage on these trainings, with a table of its findings."""
        taken = {"one": 1, "some": SOME, "all": len(trainings.seeds)}[self.seeds]
        own = replace(trainings, seeds=trainings.seeds[:taken])

        def measure(bench: Bench) -> Tables:
            tables = self.measure(bench, own)
            return {**tables, "findings": findings_table(self.findings(tables))}

        return Experiment(f"debate-{self.name}", self.title, self.source, measure, self.claims, self.figures)
