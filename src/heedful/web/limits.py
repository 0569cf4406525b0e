"""What a server allows: the size of a request, how long one may take, how many may wait.

`Gate` runs the reading in threads of its own. A thread cannot be stopped, so one that is too slow keeps its
place until it ends; the request is answered all the same, and further ones are refused while no place is
free.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Limits:
    """In bytes, characters, seconds and requests."""

    body: int = 128 * 1024  # 10,000 characters may be 12 bytes each, as JSON escapes them
    characters: int = 10_000
    sending: float = 10.0  # seconds a request may take to arrive
    reading: float = 20.0  # seconds a text may take to be read
    workers: int = 1  # texts read at a time
    waiting: int = 4  # texts that may wait for that


class Overloaded(Exception):  # noqa: N818  (it reads as what is the matter)
    """All places are taken."""


class TooSlow(Exception):  # noqa: N818
    """The work took longer than it may."""


class Gate:
    """Runs functions in `workers` threads while at most `waiting` more wait."""

    def __init__(self, limits: Limits) -> None:
        self._places = limits.workers + limits.waiting
        self._seconds = limits.reading
        self._taken = 0
        self._pool = ThreadPoolExecutor(limits.workers, thread_name_prefix="heedful-reader")

    async def run(self, work: Callable[[], Answer]) -> Answer:
        """The answer of `work`; raises `Overloaded` at once, or `TooSlow` after the time allowed."""
        if self._taken >= self._places:
            raise Overloaded
        self._taken += 1
        future = asyncio.get_running_loop().run_in_executor(self._pool, work)
        future.add_done_callback(self._leave)
        done, _ = await asyncio.wait([future], timeout=self._seconds)
        if not done:
            future.cancel()  # frees the place of one that still waited
            raise TooSlow
        return future.result()

    def _leave(self, future: "asyncio.Future[Answer]") -> None:
        self._taken -= 1
        if not future.cancelled():
            future.exception()  # somebody has looked at it, also where nobody waits any longer

    def close(self) -> None:
        """Take no more work, and do not wait for what runs."""
        self._pool.shutdown(wait=False, cancel_futures=True)
