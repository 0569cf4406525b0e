"""Models whose attention is known to say little, put before the rule: the evidence of docs/verdict.md.

uniform and shuffled are trained so; an adversary decides as the base does and attends elsewhere (Wiegreffe &
Pinter, 2019). Mixed weights are the base's with a share of the same weights dealt out anew among the words,
which either decide in their place or are only shown: the more of them, the worse the reading must be.

Axes: B texts, T words.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from heedful.attention.controls import lots_by_length, permute_real
from heedful.data.batches import Batch
from heedful.data.corpus import Corpus
from heedful.models.classifier import FlatClassifier
from heedful.models.subject import Subject
from heedful.models.trace import Trace
from heedful.study.auditing.measuring import measure
from heedful.study.auditing.plan import AuditSettings, make_plan
from heedful.study.auditing.subjects import open_subject
from heedful.study.kept_runs import trained_once
from heedful.training.adversarial import train_adversary
from heedful.training.presets import prepare
from heedful.training.run import Run

TRAINED = ("uniform", "shuffled")
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
Report = Callable[[str], None]


class MixedAttention:
    """A flat classifier whose weights are mixed with the same weights dealt out anew among the words.

    It decides by the mixed weights if `decides`; else as before, and only shows them. A `Subject`.
    """

    mixes_tokens = True  # what a word gets depends on how many there are

    def __init__(self, model: FlatClassifier, share: float, *, decides: bool = True, seed: int = 7) -> None:
        self.model, self.share, self.decides, self.seed = model, share, decides, seed
        self.classes = model.classes

    def encode(self, texts: Sequence[str]) -> Batch:
        return self.model.encode(texts)

    def embed(self, batch: Batch) -> Tensor:
        return self.model.embed(batch)

    def logits(self, batch: Batch, embedded: Tensor | None = None) -> Tensor:
        """The logits (B,K), under the mixed weights where they decide."""
        embedded = self.embed(batch) if embedded is None else embedded
        weights = self._weights(embedded, batch) if self.decides else None
        return self.model.logits(batch, embedded, weights=weights)

    def trace(self, batch: Batch, level: str = "final") -> Trace:
        """The trace under the mixed weights."""
        with torch.no_grad():
            return self.model.trace(batch, level, weights=self._weights(self.embed(batch), batch))

    def _weights(self, embedded: Tensor, batch: Batch) -> Tensor:
        states, mask = self.model.states(embedded, batch)
        weights = self.model.attend(states, mask).weights
        dealt = permute_real(weights, mask, lots=lots_by_length(mask, self.seed))
        return (1 - self.share) * weights + self.share * dealt


def control_evidence(
    corpus: Corpus,
    folder: str | Path,
    *,
    model: str = "dp",
    seed: int = 0,
    limit: int | None = None,
    shares: Sequence[float] = SHARES,
    strength: float = 0.1,
    adversary_epochs: int = 10,
    report: Report = lambda name: None,
    **changes: Any,
) -> dict[str, Mapping[str, Any]]:
    """What the rule reads of a base model and of its controls, by name: fields of `verdict.Evidence`.

    `changes` are settings of the model or its training. Runs and rows stay in `folder`: a restart goes on.
    """
    folder = Path(folder)
    base = _trained(corpus, folder / "base", model, {**changes, "seed": seed})
    subjects: dict[str, Callable[[], Run | Subject]] = {"base": lambda: base}
    for name in TRAINED:
        subjects[name] = lambda name=name: _trained(  # type: ignore[misc]  # bound now, not later
            corpus, folder / name, model, {**changes, "seed": seed, "control": name}
        )
    subjects["adversary"] = lambda: train_adversary(
        base, corpus, strength=strength, epochs=adversary_epochs, out=folder / "adversary"
    )
    assert isinstance(base.model, FlatClassifier)
    for decides, what in ((True, "deciding"), (False, "shown")):
        for share in shares:
            mixed = MixedAttention(base.model, share, decides=decides)
            subjects[f"{share:.0%} dealt anew, {what}"] = lambda mixed=mixed: mixed  # type: ignore[misc]
    found = {}
    for name, subject in subjects.items():
        report(name)
        settings = AuditSettings(seeds=1, uniform=False, keep_texts=False, limit=limit)
        plan = make_plan(open_subject(subject(), corpus), settings)
        found[name] = measure(plan, folder / "rows" / re.sub(r"\W+", "-", name)).evidence
    return found


def evidence_table(evidence: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """One row a subject: texts, accuracy, word skill with its interval and of its worst class, gap and τ."""
    rows = []
    for name, found in evidence.items():
        skill, gap = found.get("skill"), found.get("gap")
        ends = skill.interval if skill is not None else None
        rows.append(
            {
                "subject": name,
                "texts": found["accuracy"].count,
                "accuracy": found["accuracy"].value,
                "skill": skill.value if skill is not None else None,
                "low": ends.low if ends is not None else None,
                "high": ends.high if ends is not None else None,
                "worst_class": min((part.value for part in found.get("class_skills", ())), default=None),
                "gap": gap.value if gap is not None else None,
                "tau": _value(found.get("agreement")),
                "tau_gradient": _value(found.get("agreement_gradient")),
            }
        )
    return pd.DataFrame(rows)


def _value(finding: Any) -> float | None:
    return None if finding is None else float(finding.value)


def _trained(corpus: Corpus, out: Path, model: str, changes: Mapping[str, Any]) -> Run:
    settings, training = prepare(model, changes)
    return trained_once(corpus, model=settings, training=training, source={"preset": model}, out=out)
