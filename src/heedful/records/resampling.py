"""The paired bootstrap (Efron, 1979; percentile interval): it resamples whole instances, so pairs stay pairs.

Resamples go in chunks, and for statistics of means counts @ columns gives the resampled means. Those counts
are kept, a byte each and 64 MB at most, for the next columns of as many instances.
Axes: n instances, C columns, R resamples.

A bootstrap knows only the spread it sees: where all values are equal its interval has no width.
For a share of successes take `wilson_interval`, which stays honest there.
With few, skewed instances it covers less than it says: simulated with exponential values, its 95 % interval
of a mean covered 89 % at n = 20, 92 % at 61 and 95 % at 200.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.errors import UserError, choose_from
from heedful.records.interval import Estimate, Interval, check_level, unknown

Floats = NDArray[np.float64]
Statistic = Callable[..., Floats]  # called as statistic(samples (r, n), axis=1), like numpy.median
Seed = int | np.random.Generator

CHUNK = 2**20  # resampled entries held at once: about 30 MB with their counts
KEPT = 2**26  # counts of resamples kept for the next finding, a byte each
ON_AXIS: dict[str, Statistic] = {"mean": np.mean, "median": np.median}


def bootstrap_interval(
    values: ArrayLike,
    statistic: str | Statistic = "mean",
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: Seed = 0,
) -> Interval:
    """The interval of "mean", "median" or any statistic(samples, axis=1) of values (n,)."""
    column = _columns({"values": values})
    _check(level, resamples)
    if len(column) == 1:
        return unknown("one instance", level=level)
    if statistic == "mean":
        draws = _resampled_means(column, resamples, seed)[:, 0]
    else:
        function = (
            ON_AXIS[choose_from("statistic", statistic, ON_AXIS)] if isinstance(statistic, str) else statistic
        )
        chunks = _resampled_rows(len(column), resamples, seed)
        draws = np.concatenate([_one_a_row(function(column[rows, 0], axis=1), len(rows)) for rows in chunks])
    return _percentile(draws, level)


def mean_of(values: ArrayLike, *, level: float = 0.95, seed: Seed = 0) -> Estimate:
    """The mean of values (n,) with its bootstrap interval."""
    mean = float(np.asarray(values, dtype=np.float64).mean())
    return Estimate(mean, bootstrap_interval(values, level=level, seed=seed))


def paired_difference(
    first: ArrayLike, second: ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: Seed = 0
) -> Estimate:
    """The mean of first − second over the same instances; both (n,), in the same order."""
    columns = _columns({"first": first, "second": second})
    differences = columns[:, 0] - columns[:, 1]
    interval = bootstrap_interval(differences, level=level, resamples=resamples, seed=seed)
    return Estimate(float(differences.mean()), interval)


def ratio_of_means(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: Seed = 0,
) -> Estimate:
    """mean(numerator) / mean(denominator); for (n, C) the average of the C ratios.

    Word skill is ratio_of_means(attention − random, leave-one-out − random), one column a share of words.
    Where a denominator may be 0 the interval is unbounded, as Fieller's is: percentiles would be an accident.
    """
    top, bottom = _wide(numerator, "numerator"), _wide(denominator, "denominator")
    if top.shape != bottom.shape:
        raise UserError(f"A ratio needs two tables of one shape, and got {top.shape} and {bottom.shape}.")
    _check(level, resamples)
    means = bottom.mean(axis=0)
    if not means.all():
        raise UserError(
            "A ratio of means needs a denominator whose mean is not 0: there is nothing to compare with."
        )
    value = float((top.mean(axis=0) / means).mean())
    if len(top) == 1:
        return Estimate(value, unknown("one instance", level=level))
    draws = _resampled_means(np.hstack([top, bottom]), resamples, seed)
    tops, bottoms = np.split(draws, 2, axis=1)
    for column in bottoms.T:
        span = _percentile(column, level)
        if span.low <= 0 <= span.high:
            return Estimate(value, unknown("the denominator may be 0", level=level))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = (tops / bottoms).mean(axis=1)
    return Estimate(value, _percentile(ratios, level))


def bootstrap(
    columns: Mapping[str, ArrayLike] | ArrayLike,
    statistic: Callable[..., Floats],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: Seed = 0,
) -> Estimate:
    """Any statistic of the means of paired columns: a mapping name → (n,), or a table (n, C).

    The statistic is handed all resampled means at once and gives one number for each: for a mapping a dict
    name → (R,), for a table (C, R); so `lambda m: m["a"] / m["b"]` or `lambda m: m[0] / m[1]`.
    """
    _check(level, resamples)
    table = _columns(columns) if isinstance(columns, Mapping) else _wide(columns, "columns")
    means = table.mean(axis=0, keepdims=True)
    if len(table) > 1:
        means = np.vstack([means, _resampled_means(table, resamples, seed)])  # observed first
    handed = dict(zip(columns, means.T, strict=True)) if isinstance(columns, Mapping) else means.T
    with np.errstate(divide="ignore", invalid="ignore"):
        results = _one_a_row(statistic(handed), len(means))
    interval = _percentile(results[1:], level) if len(table) > 1 else unknown("one instance", level=level)
    return Estimate(float(results[0]), interval)


def _resampled_means(table: Floats, resamples: int, seed: Seed) -> Floats:
    """Means of each column over R resamples of the rows: (n, C) to (R, C)."""
    n = len(table)
    if isinstance(seed, int) and n * resamples <= KEPT:
        drawn = _kept_counts(n, resamples, seed)
        counted: Iterable[NDArray] = np.split(drawn, range(max(1, CHUNK // n), resamples, max(1, CHUNK // n)))
    else:
        counted = (_counts(rows) for rows in _resampled_rows(n, resamples, seed))
    return np.concatenate([counts.astype(np.float64) @ table / n for counts in counted])


@lru_cache(maxsize=2)
def _kept_counts(n: int, resamples: int, seed: int) -> NDArray[np.uint8]:
    """How often each row is in each resample (R, n): the findings of one audit draw the same ones.

    A count above 255 cannot be: for so many rows its probability is below 1 / 255!.
    """
    counts = np.empty((resamples, n), np.uint8)  # filled in place: twice the memory would be the peak
    first = 0
    for rows in _resampled_rows(n, resamples, seed):
        counts[first : first + len(rows)] = _counts(rows)
        first += len(rows)
    return counts


def _counts(rows: NDArray[np.int32]) -> NDArray[np.int64]:
    """How often each of n rows is in each of r resamples (r, n)."""
    r, n = rows.shape
    places = rows + n * np.arange(r)[:, None]
    return np.bincount(places.ravel(), minlength=r * n).reshape(r, n)


def _resampled_rows(n: int, resamples: int, seed: Seed) -> Iterator[NDArray[np.int32]]:
    """Row numbers (r, n) of r resamples at a time, as many as CHUNK allows."""
    generator = np.random.default_rng(seed)
    at_once = max(1, CHUNK // n)
    for start in range(0, resamples, at_once):
        yield generator.integers(n, size=(min(at_once, resamples - start), n), dtype=np.int32)


def _percentile(draws: Floats, level: float) -> Interval:
    undefined = int((~np.isfinite(draws)).sum())
    if undefined:
        return unknown(f"undefined in {undefined} of {len(draws)} resamples", level=level)
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Interval(
        float(low), float(high), level=level, method=f"percentile bootstrap, {len(draws)} resamples"
    )


def _one_a_row(results: ArrayLike, rows: int) -> Floats:
    array = np.asarray(results, dtype=np.float64)
    if array.shape != (rows,):
        raise UserError(f"A statistic gives one number for each of {rows} resamples, and gave {array.shape}.")
    return array


def _columns(columns: Mapping[str, ArrayLike]) -> Floats:
    """Equally long, finite columns side by side: (n, C)."""
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in columns.items()}
    for name, array in arrays.items():
        if array.ndim != 1:
            raise UserError(
                f"The column {name!r} needs one number per instance, and has shape {array.shape}."
            )
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise UserError(
            f"Paired columns have one row for each instance, and these differ in length: {listed}."
        )
    if not arrays:
        raise UserError("A bootstrap needs at least one column, and got none.")
    return _finite(np.stack(list(arrays.values()), axis=1), list(arrays))


def _wide(values: ArrayLike, name: str) -> Floats:
    """(n,) or (n, C) as a finite (n, C)."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2 or table.shape[1] == 0:
        raise UserError(
            f"The {name} needs shape (instances,) or (instances, columns), and has {table.shape}."
        )
    return _finite(table, [name] if table.shape[1] == 1 else [f"{name} {c}" for c in range(table.shape[1])])


def _finite(table: Floats, names: list[str]) -> Floats:
    if len(table) == 0:
        raise UserError(
            "There are no instances, so there is no number and no interval: check what was selected."
        )
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        row, column = bad[0]
        raise UserError(
            f"Row {row} of {names[column]!r} is {table[row, column]} (the first of {len(bad)} such entries): "
            "leave those instances out, and say how many."
        )
    return table


def _check(level: float, resamples: int) -> None:
    check_level(level)
    if resamples < 1:
        raise UserError(f"A bootstrap needs at least one resample, better 2000, and got {resamples}.")
