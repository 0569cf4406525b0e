"""A workbench with one model on it that somebody brought: it is measured as it is, and nothing is trained."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from heedful.auditing.audited import Audited
from heedful.errors import UserError
from heedful.models.subject import Subject
from heedful.store import Store
from heedful.study.grid import Study
from heedful.study.workbench import MEASURED, Bench, Measure


@dataclass(frozen=True)
class InHand:
    """A model where a measure looks for a run's."""

    model: Subject


@dataclass(frozen=True)
class SubjectBench(Bench):
    """Measures the model in hand, whatever a study would train; what was measured is kept, as elsewhere."""

    audited: Audited | None = None

    def measured(self, study: Study, *measures: Measure, watch: Any = None) -> pd.DataFrame:
        """What the measures found on the model, as one cell."""
        assert self.audited is not None
        corpus = self.audited.corpus
        about = {"cell": self.audited.digest, "corpus": corpus.name, "model": self.audited.name, "seed": 0}
        key, frames = f"{self.audited.digest}-{corpus.fingerprint}", []
        for measure in measures:
            stage = Store(self.folder).stage(f"{MEASURED}/{measure.key}")
            if stage.missing([key]):
                self.say(f"{measure.name.replace('_', ' ')} …")
                stage.keep(key, measure(InHand(self.audited.subject), corpus))  # type: ignore[arg-type]  # a model is all they ask
            frames.append(stage.rows([key]).assign(**about, measure=measure.name))
        return pd.concat(frames, ignore_index=True)

    def runs(self, study: Study, *, watch: Any = None) -> Any:
        """There are none."""
        raise UserError("A model that somebody brought has no runs: it is not ours to train.")
