"""How many texts a second a server reads, as more and more connections ask at once without a pause.

The server is a process of its own on this machine's loopback address, and so are the askers' connections:
nothing else is ever asked. Each connection sends its next text when the last was answered, and a refused one
at once again, as a careless client would.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from heedful.auditing.asking import Progress
from heedful.bench.found import Found, Table
from heedful.data.named import load_data
from heedful.errors import UserError
from heedful.records.wording import in_percent

MOST_CONNECTIONS, MOST_SECONDS = 1024, 900
HOST = "127.0.0.1"


@dataclass
class Load:
    """What came back with so many connections: seconds of each answer that was given, and refusals."""

    connections: int
    seconds: float = 0.0
    answers: list[float] = field(default_factory=list)
    refused: int = 0
    broken: int = 0
    memory: tuple[float, float] = (0.0, 0.0)  # of the server, in MB, before and after

    @property
    def goodput(self) -> float:
        """Answers a second."""
        return len(self.answers) / self.seconds

    def quantile(self, share: float) -> float:
        """The time within which this share of the answers came, in seconds."""
        return float(np.quantile(self.answers, share)) if self.answers else float("nan")


def measure_serving(
    run: Path, texts: Sequence[str], *, connections: Sequence[int], seconds: float
) -> Iterator[Load]:
    """Serve a run, and ask it with each number of connections for so many seconds."""
    with serving(run) as (process, port):
        asyncio.run(_ask(port, texts, Load(2), 1.0))  # the first readings load what later ones find
        for many in connections:
            before = _memory(process.pid)
            load = asyncio.run(_ask(port, texts, Load(many), seconds))
            load.memory = (before, _memory(process.pid))
            yield load


@contextmanager
def serving(run: Path) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """A server of a run on the loopback address, and its port; it ends with the block."""
    command = [sys.executable, "-m", "heedful", "serve", str(run), "--port", "0", "--json", "--host", HOST]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            told = process.stdout.readline()
            if not told:
                raise UserError(f"{run} cannot be served: heedful serve {run} says why.")
            port = urlsplit(json.loads(told)["address"]).port
            assert port is not None
            yield process, port
        finally:
            process.terminate()


async def _ask(port: int, texts: Sequence[str], load: Load, seconds: float) -> Load:
    numbers = count()
    begun = time.perf_counter()
    until = begun + seconds

    async def asker() -> None:
        reader = writer = None
        while time.perf_counter() < until:
            body = json.dumps({"text": texts[next(numbers) % len(texts)], "model": 0}).encode()
            sent = time.perf_counter()
            try:
                if writer is None:
                    reader, writer = await asyncio.open_connection(HOST, port)
                assert reader is not None
                writer.write(
                    b"POST /api/read HTTP/1.1\r\nhost: %s:%d\r\ncontent-type: application/json\r\n"
                    b"content-length: %d\r\n\r\n%s" % (HOST.encode(), port, len(body), body)
                )
                status, kept = await asyncio.wait_for(_answer(reader), 60)
            except (OSError, EOFError, ValueError, TimeoutError):
                load.broken += 1
                status, kept = 0, False
            if status == 200:
                load.answers.append(time.perf_counter() - sent)
            elif status == 503:
                load.refused += 1
            if not kept and writer is not None:
                writer.close()
                reader = writer = None
        if writer is not None:
            writer.close()

    await asyncio.gather(*(asker() for _ in range(load.connections)))
    load.seconds = time.perf_counter() - begun
    return load


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bool]:
    """The status of one answer, and whether the connection is kept."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    size = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
    await reader.readexactly(size)
    return int(head.split(b" ")[1]), b"connection: close" not in head


def _memory(process: int) -> float:
    """Of a process, in MB; 0 where the system does not tell."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


def serve(
    run: Path,
    source: str,
    connections: Sequence[int],
    *,
    seconds: float,
    data_dir: Path | None,
    progress: Progress,
) -> Found:
    """A run, asked about test texts of a corpus by each number of connections."""
    if not all(1 <= number <= MOST_CONNECTIONS for number in connections) or seconds > MOST_SECONDS:
        raise UserError(
            f"A server is asked by 1 to {MOST_CONNECTIONS} connections for at most {MOST_SECONDS} s, not by "
            f"{', '.join(map(str, connections))} for {seconds:g} s."
        )
    texts = list(load_data(source, data_dir=data_dir).split("test").texts)[:1000]
    loads = []
    with progress("numbers of connections", len(connections)) as advance:
        for load in measure_serving(run, texts, connections=connections, seconds=seconds):
            loads.append(load)
            advance(1)
    best = max(load.goodput for load in loads)
    numbers = [
        {
            "connections": load.connections,
            "answers_a_second": load.goodput,
            "of_best": load.goodput / best,
            "refused": load.refused,
            "broken": load.broken,
            "p50": load.quantile(0.5),
            "p99": load.quantile(0.99),
            "memory_mb": list(load.memory),
        }
        for load in loads
    ]
    columns = ["connections", "answers/s", "of best", "refused", "broken", "p50 ms", "p99 ms", "memory MB"]
    rows = [
        [
            str(load.connections),
            f"{load.goodput:.0f}",
            in_percent(load.goodput / best),
            f"{load.refused:,}",
            f"{load.broken:,}",
            f"{1000 * load.quantile(0.5):.0f}",
            f"{1000 * load.quantile(0.99):.0f}",
            f"{load.memory[0]:.0f} → {load.memory[1]:.0f}",
        ]
        for load in loads
    ]
    return Found({"loads": numbers}, (Table(f"{seconds:g} s each", columns, rows, left=0),))
