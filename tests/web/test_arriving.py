"""Connections that never finish their header: they are closed, others are answered."""

import select
import socket
import threading
import time
from contextlib import ExitStack, contextmanager

import pytest
import uvicorn

from heedful.web.arriving import impatient
from heedful.web.server import bind


async def hello(scope, receive, send):
    """An application that answers anything."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"hi"})


@contextmanager
def serving(protocol, **options):
    """The port of a server that answers anything."""
    listening = bind("127.0.0.1", 0)
    config = uvicorn.Config(hello, http=protocol, lifespan="off", log_level="critical", ws="none", **options)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join(10)
    listening.close()


@pytest.fixture
def port():
    with serving(impatient(0.3), limit_concurrency=3) as port:
        yield port


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
    while not came.endswith(b"hi") and (more := connection.recv(4096)):
        came += more
    return came


READING = b"POST /api/read HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n"
WHOLE = b"GET / HTTP/1.1\r\nhost: a\r\n"


def test_a_body_does_not_wait_until_the_asker_has_acknowledged_the_header():
    with bind("127.0.0.1", 0) as listening, connect(listening.getsockname()[1], b""):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


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


def test_while_no_place_is_free_texts_wait_and_go_in_as_they_came(monkeypatch):
    free = threading.Semaphore(0)
    with ExitStack() as open_, serving(impatient(5, lambda: free.acquire(blocking=False))) as port:

        def ask():
            connection = open_.enter_context(connect(port, READING))
            time.sleep(0.05)
            return connection

        asking = [ask() for _ in range(4)]
        asking.pop(1).close()  # who went away takes no place
        while asking:
            free.release()
            assert select.select(asking, [], [], 5)[0] == asking[:1]
            assert until_hi(asking.pop(0)).startswith(b"HTTP/1.1 200")
        monkeypatch.setattr("heedful.web.arriving.LOOK", 0.3)
        waits = ask()
        free.release()
        comes = ask()  # when a place is free, for which another waits
        assert select.select([waits, comes], [], [], 5)[0] == [waits]
        assert everything(comes).startswith(b"HTTP/1.1 503")  # after a moment


def test_a_text_that_waits_on_a_kept_connection_is_not_taken_for_idle(monkeypatch):
    monkeypatch.setattr("heedful.web.arriving.PAUSE", 10)
    free = threading.Semaphore(1)
    protocol = impatient(5, lambda: free.acquire(blocking=False))
    with serving(protocol, timeout_keep_alive=1) as port, connect(port, READING) as connection:
        until_hi(connection)
        connection.sendall(READING)
        time.sleep(1.3)
        free.release()
        assert until_hi(connection).startswith(b"HTTP/1.1 200")
