"""A number of each instance, as findings: its mean over all, by predicted class, and by largest weight.

The bins of the largest weight are those of Jain & Wallace's figures: quarters of [0, 1].
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.records import Estimate, Finding
from heedful.records.finding import Scalar
from heedful.records.interval import share_of
from heedful.records.resampling import mean_of

BINS = (0.0, 0.25, 0.5, 0.75, 1.0)
Measure = Callable[[NDArray[np.float64]], Estimate]


def mean_findings(
    values: ArrayLike,
    *,
    name: str,
    measured: str,
    decided: ArrayLike | None = None,
    classes: Sequence[str] | None = None,
    largest: ArrayLike | None = None,
    baselines: Mapping[str, ArrayLike] | None = None,
    unit: str = "",
    better: Literal["higher", "lower"] | None = None,
    kind: Literal["exact", "estimate", "lower bound"] = "estimate",
    coordinates: Mapping[str, Scalar] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> list[Finding]:
    """Means of values (B,) with bootstrap intervals; the first finding is over all instances.

    Instances where the value is NaN are left out, and how many is said. `decided` (B,) gives a finding for
    each class that occurs, `largest` (B,) one for each bin that does. `baselines` are measured on the same
    instances, and left out one by one where they are NaN.
    """
    mean = partial(mean_of, level=level, seed=seed)
    return _findings(
        values, mean, decided, classes, largest, baselines or {}, coordinates or {},
        name=name, measured=measured, unit=unit, better=better, kind=kind,
    )  # fmt: skip


def share_findings(
    hits: ArrayLike,
    *,
    name: str,
    measured: str,
    decided: ArrayLike | None = None,
    classes: Sequence[str] | None = None,
    baselines: Mapping[str, ArrayLike] | None = None,
    coordinates: Mapping[str, Scalar] | None = None,
    level: float = 0.95,
) -> list[Finding]:
    """Shares of hits (B,), 0, 1 or NaN where undefined, with Wilson intervals: over all, and by class."""
    share = partial(share_of, level=level)
    return _findings(
        hits, share, decided, classes, None, baselines or {}, coordinates or {}, name=name, measured=measured
    )


def _findings(
    values: ArrayLike,
    measure: Measure,
    decided: ArrayLike | None,
    classes: Sequence[str] | None,
    largest: ArrayLike | None,
    baselines: Mapping[str, ArrayLike],
    coordinates: Mapping[str, Scalar],
    *,
    measured: str,
    **described: Any,
) -> list[Finding]:
    column = np.asarray(values, dtype=np.float64)
    beside = {name: np.asarray(baseline, dtype=np.float64) for name, baseline in baselines.items()}
    defined = ~np.isnan(column)
    found = []
    for place, rows in _groups(len(column), decided, classes, largest):
        kept = column[rows & defined]
        if not len(kept):
            continue
        estimate = measure(kept)
        left_out = int((rows & ~defined).sum())
        others = {name: baseline[rows & ~np.isnan(baseline)] for name, baseline in beside.items()}
        found.append(
            Finding(
                value=estimate.value,
                interval=estimate.interval,
                count=len(kept),
                measured=measured
                + (f"; {left_out} instances where it is undefined left out" if left_out else ""),
                baselines={name: measure(other) for name, other in others.items() if len(other)},
                coordinates={**coordinates, **place},
                **described,
            )
        )
    return found


def _groups(
    count: int, decided: ArrayLike | None, classes: Sequence[str] | None, largest: ArrayLike | None
) -> Iterator[tuple[dict[str, Scalar], NDArray[np.bool_]]]:
    """What each group is called, and which of the instances it holds."""
    yield {}, np.ones(count, bool)
    if decided is not None:
        numbers = np.asarray(decided)
        for number in np.unique(numbers):
            yield {"predicted": classes[number] if classes else str(number)}, numbers == number
    if largest is not None:
        bins = weight_bins(largest)
        for number, (low, high) in enumerate(pairwise(BINS)):
            if (bins == number).any():
                yield {"largest_weight": f"{low:g}–{high:g}"}, bins == number


def weight_bins(largest: ArrayLike) -> NDArray[np.int64]:
    """The bin of each largest weight (B,): [0, ¼), [¼, ½), [½, ¾), [¾, 1]."""
    return np.clip(np.digitize(np.asarray(largest, dtype=np.float64), BINS) - 1, 0, len(BINS) - 2)
