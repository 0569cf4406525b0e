"""What was found: `Finding` and `Claim`, their intervals, and Parquet rows that DuckDB can query.

A leaf of the package: it knows no model and no torch. Shared arguments: `level` is the coverage of an
interval (0.95), `resamples` the bootstrap's repetitions, and `seed` an integer or a NumPy generator; one
seed, one result. Rows are instances everywhere, so columns of one call are paired.
"""

from heedful.records.claim import Claim
from heedful.records.finding import Finding
from heedful.records.interval import (
    Estimate,
    Interval,
    benjamini_hochberg,
    decide,
    mcnemar_exact,
    seeds_interval,
    wilson_interval,
)
from heedful.records.resampling import bootstrap, bootstrap_interval, paired_difference, ratio_of_means
from heedful.records.rows import append_rows, query, read_rows

__all__ = [
    "Claim",
    "Estimate",
    "Finding",
    "Interval",
    "append_rows",
    "benjamini_hochberg",
    "bootstrap",
    "bootstrap_interval",
    "decide",
    "mcnemar_exact",
    "paired_difference",
    "query",
    "ratio_of_means",
    "read_rows",
    "seeds_interval",
    "wilson_interval",
]
