"""Promises that every model must keep, to be used by the tests of each."""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from heedful.data.batches import Batch


def assert_alone_equals_in_company(
    result: Callable[[Batch], Tensor],
    encode: Callable[[list[str]], Batch],
    texts: Sequence[str],
    *,
    sizes: Sequence[int] = (2, 3, 5),
    tolerance: float = 1e-5,
    padding: float | None = None,
) -> None:
    """Each text's row of `result`, (B, ...), must be the same by itself as in batches of each of `sizes`.

    In company a row may be longer on any axis (tokens, sentences), because its neighbours are: the part that
    the text has by itself is compared, and the part beyond must equal `padding` where that is given. The
    texts must be of several lengths, in an order that gives batches in which some are padded; anything else
    would test nothing.
    """
    texts = list(texts)
    alone = [result(encode([text]))[0].detach() for text in texts]
    some_padded = False
    for size in sizes:
        for first in range(0, len(texts), size):
            batch = encode(texts[first : first + size])
            some_padded = some_padded or not bool(batch.mask.all())
            rows = result(batch).detach()
            if len(rows) != len(batch):
                raise AssertionError(f"a batch of {len(batch)} texts gave {len(rows)} rows")
            for place, row in enumerate(rows):
                _compare(alone[first + place], row, texts[first + place], size, tolerance, padding)
    if not some_padded:
        raise AssertionError("no batch had padding: give texts of different lengths")


def _compare(
    alone: Tensor, row: Tensor, text: str, size: int, tolerance: float, padding: float | None
) -> None:
    where = f"{text!r} in a batch of {size}"
    if alone.dim() != row.dim() or any(a > r for a, r in zip(alone.shape, row.shape, strict=True)):
        raise AssertionError(f"{where}: shape {tuple(row.shape)} cannot hold {tuple(alone.shape)}")
    own = tuple(slice(0, length) for length in alone.shape)
    torch.testing.assert_close(
        row[own], alone, rtol=tolerance, atol=tolerance, msg=lambda message: f"{where}: {message}"
    )
    if padding is not None:
        beyond = torch.ones_like(row, dtype=torch.bool)
        beyond[own] = False
        if not bool((row[beyond] == padding).all()):
            raise AssertionError(f"{where}: what lies on padding is {row[beyond].tolist()}, not {padding}")


def hear_ctrl_c() -> None:
    """For a child process: heed Ctrl-C even where the tests run in the background, which ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """End a wait for a pipe that nobody writes to; a thread could not."""

    def wake(*_: object) -> None:
        raise AssertionError("it waited for a pipe")

    before = signal.signal(signal.SIGALRM, wake)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
