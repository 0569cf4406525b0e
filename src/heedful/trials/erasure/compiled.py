"""The compiled loops where numba is installed and the work is worth a compilation; None elsewhere.

Nothing but time depends on which it is: the array versions give the same answers, and are the tests' oracle.
"""

from functools import cache
from importlib import import_module
from types import ModuleType

LEAST = 100_000  # token logits below which torch takes a few milliseconds at most


def kernel(numbers: int) -> ModuleType | None:
    """The module with the compiled loops, for work on so many numbers."""
    return _kernel() if numbers >= LEAST else None


@cache
def _kernel() -> ModuleType | None:
    try:
        return import_module("heedful.trials.erasure.kernel")
    except ModuleNotFoundError as missing:
        if missing.name != "numba":
            raise
        return None
