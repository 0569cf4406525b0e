"""The compiled loops over pairs of tokens, where numba is installed and the work is worth it; else None.

Nothing depends on which it is: the NumPy versions give the same answers, and are the oracle in the tests.
"""

from functools import cache
from types import ModuleType

LEAST = 50_000  # pairs of tokens below which NumPy takes a few milliseconds at most


def compiled_pairs(pairs: int) -> ModuleType | None:
    """The module with the compiled loops, for work on so many pairs of tokens."""
    return _kernel() if pairs >= LEAST else None


@cache
def _kernel() -> ModuleType | None:
    try:
        from heedful.trials.agreement import pairs_kernel
    except ModuleNotFoundError as missing:
        if missing.name != "numba":
            raise
        return None
    return pairs_kernel
