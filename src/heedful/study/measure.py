"""A measure: something to find out about a trained run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from heedful.data.corpus import Corpus
from heedful.store import digest_of

if TYPE_CHECKING:
    from heedful.training.run import Run


@dataclass(frozen=True)
class Measure:
    """One thing to measure on a run: `function(run, corpus, **options)` of a module, and its options."""

    function: Callable[..., pd.DataFrame]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def key(self) -> str:
        return f"{self.name}-{digest_of([self.function.__module__, self.name, dict(self.options)])}"

    def __call__(self, run: "Run", corpus: Corpus) -> pd.DataFrame:
        return self.function(run, corpus, **self.options)
