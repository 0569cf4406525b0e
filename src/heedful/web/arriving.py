"""A connection whose request does not arrive is given up: uvicorn itself waits for a header for ever.

What follows the header is watched by `Guard`. While no place is free, a text to be read is held here as the
bytes it came in: to parse it would take the time that the texts being read need. Who came first goes in first
when there is a place, also before others who ask just then, or is refused after a moment; so a client that
asks again at once does not ask a thousand times a second.
"""

import asyncio
from collections import deque
from collections.abc import Callable

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
READING = b"POST /api/read "
SENTENCE = b'{"error":"Too many texts are waiting to be read: try again in a moment."}'
BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 2\r\n"
    b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(SENTENCE), SENTENCE)
)
PAUSE, LOOK = 1.0, 0.005  # seconds before a refusal is sent, and between looks for a free place
MOST_HELD = 2**18  # bytes


def impatient(seconds: float, admit: Callable[[], bool] = lambda: True) -> type[H11Protocol]:
    """uvicorn's protocol, which closes a connection whose header is not complete after so many seconds.

    A text to be read that `admit` does not let in is held back, and then refused.
    """

    class Impatient(H11Protocol):
        _waiting: asyncio.TimerHandle | None = None
        _held = b""
        _until = 0.0

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._waiting = self.loop.call_later(seconds, self._give_up)

        def data_received(self, data: bytes) -> None:
            if self._held:
                self._held += data[: MOST_HELD - len(self._held)]
                return
            asks = data.startswith(READING) and self.conn.their_state is h11.IDLE
            if asks and (queue or not admit()):
                self._held, self._until = data, self.loop.time() + PAUSE
                self._stop_waiting()
                self._unset_keepalive_if_required()  # or uvicorn closes it as idle
                queue.append(self)
                if len(queue) == 1:
                    self.loop.call_later(LOOK, self._look)
                return
            self._receive(data)

        def _receive(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:
                self._stop_waiting()
            elif self._waiting is None:  # the next request of a connection that was kept
                self._waiting = self.loop.call_later(seconds, self._give_up)

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _stop_waiting(self) -> None:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None

        def _look(self) -> None:
            while queue:
                first = queue[0]
                if not first.transport.is_closing():
                    if admit():
                        self.loop.call_soon(first._enter)  # whose faults are its own
                    elif self.loop.time() < first._until:
                        self.loop.call_later(LOOK, self._look)
                        return
                    else:
                        first.transport.write(BUSY)
                        first.transport.close()
                queue.popleft()

        def _enter(self) -> None:
            held, self._held = self._held, b""
            self._receive(held)

        def _give_up(self) -> None:
            if not self.transport.is_closing():
                self.transport.write(LATE)
                self.transport.close()

    queue: deque[Impatient] = deque()  # those that are held, of whom one looks for all
    return Impatient
