"""Where a model runs: a device's name, tried before any work starts; and on how many cores."""

from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import shorten

import torch

from heedful.errors import UserError


def find_device(name: str | torch.device) -> torch.device:
    """The device of this name, tried out; one that this machine or this torch does not have is refused."""
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()  # an asynchronous or empty device shows its fault here
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = shorten(str(error), 100, placeholder=" …").rstrip(".")
        raise UserError(f"The device {str(name)!r} cannot be used here ({reason}): try cpu.") from None
    return device


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one core: small models lose time to a second, and the order of sums stays the same."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
