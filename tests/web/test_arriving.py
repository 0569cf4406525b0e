"""Connections that never finish their header: they are closed, others are answered."""

import socket
import threading
import time

import pytest
import uvicorn

from heedful.web.arriving import impatient
from heedful.web.server import bind


async def hello(scope, receive, send):
    """An application that answers anything."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"hi"})


@pytest.fixture
def port():
    listening = bind("127.0.0.1", 0)
    config = uvicorn.Config(
        hello, http=impatient(0.3), lifespan="off", log_level="critical", limit_concurrency=3, ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join(10)
    listening.close()


def connect(port, sent):
    connection = socket.create_connection(("127.0.0.1", port), timeout=5)
    connection.sendall(sent)
    return connection


def everything(connection):
    """What comes until the server closes."""
    with connection:
        return b"".join(iter(lambda: connection.recv(4096), b""))


def until_hi(connection):
    """One whole answer of a connection that is kept."""
    came = b""
    while not came.endswith(b"hi"):
        came += connection.recv(4096)
    return came


WHOLE = b"GET / HTTP/1.1\r\nhost: a\r\n"


def test_half_headers_are_closed_with_408_and_then_others_are_answered(port):
    halves = [connect(port, WHOLE) for _ in range(5)]
    refused = everything(connect(port, WHOLE + b"connection: close\r\n\r\n"))
    assert refused.startswith(b"HTTP/1.1 503")
    assert all(everything(half).startswith(b"HTTP/1.1 408") for half in halves)
    assert everything(connect(port, WHOLE + b"connection: close\r\n\r\n")).endswith(b"hi")


def test_a_header_that_drips_gets_no_more_time_and_a_kept_connection_neither(port):
    dripping = connect(port, b"GET / HT")
    kept = connect(port, WHOLE + b"\r\n")
    assert until_hi(kept).startswith(b"HTTP/1.1 200")
    kept.sendall(b"GET / HT")
    for sign in b"TP/1":
        time.sleep(0.05)
        dripping.sendall(bytes([sign]))
    assert everything(dripping).startswith(b"HTTP/1.1 408")
    assert everything(kept).startswith(b"HTTP/1.1 408")


def test_a_whole_request_is_not_hurried(port):
    connection = connect(port, WHOLE + b"\r\n")
    assert until_hi(connection).startswith(b"HTTP/1.1 200")
    time.sleep(0.5)  # idle, not half-way: that is for the keep-alive time
    connection.sendall(WHOLE + b"connection: close\r\n\r\n")
    assert everything(connection).endswith(b"hi")
