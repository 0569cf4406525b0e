"""Jain & Wallace's post-hoc adversary, as the answer to them needs it: measured once for all experiments.

It is the measurement of `jain_wallace.adversary`, with the same options, so on a shared workbench it is read
and not computed again. Two classes have the exact maximum; more have the published ascent, a lower bound.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from heedful.study.ground import Ground
from heedful.study.jain_wallace.adversary import adversary_measure
from heedful.study.workbench import Bench

EXACT = "exact"
PUBLISHED = (5, 500)  # restarts and steps of the ascent


def posthoc_rows(bench: Bench, ground: Ground) -> pd.DataFrame:
    """The adversary of every cell's first seed, a row a text; `search` says how it was looked for."""
    measure = adversary_measure(bench, ground)
    table = bench.measured(ground.study("adversary", seeds=ground.seeds[:1]), measure)
    found = np.where(table["kind"] == EXACT, "the exact maximum", searched(measure.options))
    return table.assign(search=found)


def searched(options: Mapping[str, int]) -> str:
    """How the ascent was run, and that it was shortened where it was."""
    own = (options["restarts"], options["steps"])
    shortened = "" if own == PUBLISHED else f", fewer than the published {PUBLISHED[0]} × {PUBLISHED[1]}"
    return f"gradient ascent, {own[0]} restarts × {own[1]} steps{shortened}: a lower bound"


def is_bound(how: pd.Series) -> bool:
    """Whether the adversary of some text is only a lower bound."""
    return bool((how != EXACT).any())
