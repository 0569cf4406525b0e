"""What every request passes first: the host it names, its size, its time to arrive; and all answers' headers.

The host is checked because a page of somebody else could otherwise reach a server on this machine by a name
of its own that leads to 127.0.0.1. Bodies are small, so they are taken in whole before anybody looks at them.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Container, MutableMapping
from typing import Any

from heedful.web.limits import Limits

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Middleware around an application, which answers to the names in `hosts`."""

    def __init__(self, app: Application, *, limits: Limits, hosts: Container[str]) -> None:
        self._app, self._limits, self._hosts = app, limits, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_headers(send)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if host_name(headers.get("host", "")) not in self._hosts:
            await _refuse(
                send, 421, "This server answers to the address it was started with, and to no other name."
            )
            return
        too_large = f"A request may have at most {self._limits.body:,} bytes."
        announced = headers.get("content-length", "0")
        if not announced.isdecimal() or int(announced) > self._limits.body:
            await _refuse(send, 413, too_large)
            return
        body = bytearray()
        try:
            async with asyncio.timeout(self._limits.sending):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return
                    body += message.get("body", b"")
                    if len(body) > self._limits.body:
                        await _refuse(send, 413, too_large)
                        return
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            await _refuse(send, 408, f"The request took longer than {self._limits.sending:g} s to arrive.")
            return
        await self._app(scope, _replayed(bytes(body), receive), send)


def host_name(header: str) -> str:
    """The name in a Host header without its port: `[::1]:80` is `::1`."""
    if header.startswith("["):
        return header[1:].split("]")[0]
    return header.rsplit(":", 1)[0].lower() if ":" in header else header.lower()


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the whole body first."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [
                *message.get("headers", []),
                *((name.encode(), value.encode()) for name, value in HEADERS.items()),
            ]
        await send(message)

    return sending


async def _refuse(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"error": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send(
        {"type": "http.response.start", "status": status, "headers": [*headers, (b"connection", b"close")]}
    )
    await send({"type": "http.response.body", "body": body})
