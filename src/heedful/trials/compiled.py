"""The compiled loops where numba is installed and the work is worth a compilation; None elsewhere.

Nothing but time depends on which it is: the array versions give the same answers, and are the tests' oracle.
"""

from types import ModuleType

from heedful.training.compiled import imported

LEAST = 100_000  # token logits below which torch takes a few milliseconds at most
LEAST_PAIRS = 50_000  # pairs of tokens below which NumPy does


def kernel(numbers: int) -> ModuleType | None:
    """The loops over erasures, for work on so many numbers."""
    return imported("heedful.trials.erasure.kernel") if numbers >= LEAST else None


def compiled_pairs(pairs: int) -> ModuleType | None:
    """The loops over pairs of tokens, for work on so many of them."""
    return imported("heedful.trials.agreement.pairs_kernel") if pairs >= LEAST_PAIRS else None
