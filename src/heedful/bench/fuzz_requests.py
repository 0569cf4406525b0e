"""Requests damaged by chance, sent to a server of ours on the loopback address.

Each is answered: 200 with a reading, or a status of 400 and more with a sentence. A request that is no HTTP
any more may be closed, or waited for to go on; the next one is answered all the same. A question that means
what the good one means gets the good one's answer, number for number.
"""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any

import numpy as np

from heedful.bench.serve import HOST, serving
from heedful.records.stored import parse_json

Damage = Callable[[bytes, np.random.Generator], bytes]
PATIENCE = 20.0  # seconds, beyond which no answer is a hang
GOOD = {"text": "a good film, number 3", "model": 0}
_WHOLE = 0.1  # of the requests are damaged as a whole; of the others, the body alone
_WAIT = 0.5  # seconds for an answer to such a one: the server may wait for the rest of it


@contextmanager
def requests_to(run: Path, damage: Damage) -> Iterator[Callable[[np.random.Generator, Path], str]]:
    """A case of the fuzzer: one damaged request to a server of this run, which ends with the block."""
    with serving(run) as (_, port):
        before = _ask(port, _request(port, json.dumps(GOOD).encode()))
        assert before is not None, "the good question was not answered"
        assert before[0] == 200, f"the good question got {before}"

        def case(chance: np.random.Generator, folder: Path) -> str:
            body = json.dumps(GOOD).encode()
            if chance.random() < _WHOLE:
                found = _ask(port, damage(_request(port, body), chance), patience=_WAIT)
            else:
                body = damage(body, chance)
                found = _ask(port, _request(port, body))
                assert found is not None, "a whole request got no answer"
                if _means(body) == GOOD:
                    assert found == before, "the same question got another answer"
            if found is None:
                return "refused"
            status, content = found
            assert status < 500 or status == 503, f"the server answered {status}"
            if status == 200:
                return "read"
            assert isinstance(content, bytes) or set(content) == {"error"}, f"{status} without a sentence"
            return "refused"

        yield case
        after = _ask(port, _request(port, json.dumps(GOOD).encode()))
        assert after == before, "after all these, the good question got another answer"


def _request(port: int, body: bytes) -> bytes:
    head = (
        f"POST /api/read HTTP/1.1\r\nhost: {HOST}:{port}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body


def _ask(port: int, request: bytes, *, patience: float = PATIENCE) -> tuple[int, Any] | None:
    """The status and the content of the answer; None if the connection was closed, or kept, without one."""
    with socket.create_connection((HOST, port), timeout=patience) as connection:
        try:
            connection.sendall(request)
            answer = HTTPResponse(connection)
            answer.begin()
            content = answer.read()
        except (OSError, HTTPException):  # too late is an OSError, too
            return None
    try:
        return answer.status, json.loads(content)
    except ValueError:
        return answer.status, content


def _means(body: bytes) -> Any:
    try:
        return parse_json(body)
    except ValueError:
        return None
