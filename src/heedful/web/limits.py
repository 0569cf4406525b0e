"""What a server allows: the size of a request, how long one may take, how many may wait.

`Gate` runs the reading in threads of its own, all texts that wait for one model at once: that costs little
more than reading one. A thread cannot be stopped, so one that is too slow keeps its places until it ends; the
requests are answered all the same, and further ones are refused while no place is free.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

Work = Callable[[Any, Sequence[str]], Sequence[Any]]  # whom to ask, and what; an exception is an answer too

ARRIVING = 1.0  # seconds that a place is kept for a request that was let in
AGAIN = 0.005  # seconds in which those who were answered together may ask again, to be read together again


@dataclass(frozen=True)
class Limits:
    """In bytes, characters, seconds and requests."""

    body: int = 128 * 1024  # 10,000 characters may be 12 bytes each, as JSON escapes them
    characters: int = 10_000
    sending: float = 10.0  # seconds a request may take to arrive
    reading: float = 20.0  # seconds a text may take to be read
    workers: int = 1  # batches read at a time
    waiting: int = 24  # texts that may wait for that
    together: int = 16  # texts that are read as one batch, if they have no more characters than one may have


class Overloaded(Exception):  # noqa: N818  (it reads as what is the matter)
    """All places are taken."""


class TooSlow(Exception):  # noqa: N818
    """The work took longer than it may."""


@dataclass(eq=False)
class _Asked:
    """One text that waits, or is being read."""

    whom: Any
    text: str
    answer: "asyncio.Future[Any]"
    alone: bool = False


class Gate:
    """Runs `work` on texts in `workers` threads while at most `waiting` more wait."""

    def __init__(self, limits: Limits, work: Work) -> None:
        self._limits, self._work = limits, work
        self._places = limits.workers + limits.waiting
        self._taken = self._running = 0
        self._paused = False
        self._waiting: deque[_Asked] = deque()
        self._expected: deque[float] = deque()  # until when places are kept for requests that were let in
        self._pool = ThreadPoolExecutor(limits.workers, thread_name_prefix="heedful-reader")

    def admit(self) -> bool:
        """Whether a request may come in; a place is then kept for it, for a moment, until it has arrived."""
        now = time.monotonic()
        while self._expected and self._expected[0] < now:  # it was none that asks for a reading, after all
            self._expected.popleft()
        if self._taken + len(self._expected) >= self._places:
            return False
        self._expected.append(now + ARRIVING)
        return True

    async def run(self, whom: Any, text: str) -> Any:
        """The answer for one text; raises `Overloaded` at once, or `TooSlow` after the time allowed."""
        if self._expected:
            self._expected.popleft()
        if self._taken >= self._places:
            raise Overloaded
        asked = _Asked(whom, text, asyncio.get_running_loop().create_future())
        self._taken += 1
        self._waiting.append(asked)
        self._begin()
        done, _ = await asyncio.wait([asked.answer], timeout=self._limits.reading)
        if not done:
            if asked in self._waiting:  # frees the place of one that still waited
                self._waiting.remove(asked)
                self._taken -= 1
            raise TooSlow
        return asked.answer.result()

    def _begin(self) -> None:
        """Give what waits to the threads that are free."""
        if self._paused and len(self._waiting) < self._limits.together:
            return
        while self._waiting and self._running < self._limits.workers:
            batch = self._next()
            self._running += 1
            texts = [asked.text for asked in batch]
            future = asyncio.get_running_loop().run_in_executor(self._pool, self._work, batch[0].whom, texts)
            future.add_done_callback(partial(self._end, batch))

    def _next(self) -> list[_Asked]:
        """The text that has waited longest, and others for the same model that may be read with it."""
        first = self._waiting.popleft()
        batch, room = [first], self._limits.characters - len(first.text)
        for asked in list(self._waiting):
            fits = asked.whom is first.whom and not (first.alone or asked.alone) and len(asked.text) <= room
            if fits and len(batch) < self._limits.together:
                self._waiting.remove(asked)
                batch.append(asked)
                room -= len(asked.text)
        return batch

    def _end(self, batch: list[_Asked], future: "asyncio.Future[Sequence[Any]]") -> None:
        self._running -= 1
        fault = None if future.cancelled() else future.exception()
        if fault is not None and len(batch) > 1:
            # One text's fault must not be its neighbours': each is read again by itself.
            for asked in reversed(batch):
                asked.alone = True
                self._waiting.appendleft(asked)
        else:
            self._taken -= len(batch)
            answers = [fault] if fault is not None else [] if future.cancelled() else future.result()
            for asked, answer in zip(batch, answers, strict=False):
                _answer(asked.answer, answer)
        if not future.cancelled():
            # Whoever asks first would else be read alone, and the others while he asks again.
            self._paused = len(batch) > 1
            if self._paused:
                asyncio.get_running_loop().call_later(AGAIN, self._go_on)
            self._begin()

    def _go_on(self) -> None:
        self._paused = False
        self._begin()

    def close(self) -> None:
        """Take no more work, and do not wait for what runs."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _answer(future: "asyncio.Future[Any]", answer: Any) -> None:
    if future.done():
        return
    if isinstance(answer, BaseException):
        future.set_exception(answer)
        future.exception()  # somebody has looked at it, also where nobody waits any longer
    else:
        future.set_result(answer)
