"""Worker processes for a Dask scheduler, kept there until they are stopped: what `heedful worker` runs.

A worker that dies is started again by its nanny. Dask's own command ends when its scheduler goes away; this
one waits for the scheduler to come back.
"""

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from heedful.errors import UserError
from heedful.study.cluster import BORN_WITH, LOOPBACK, host_of, quietly
from heedful.study.processes import cores

import dask  # isort: skip  # that it is there, and if not what to do, is said by the import above
from distributed import Nanny, Status  # isort: skip

WAIT = 1.0  # seconds between two looks for a scheduler that is not there
# Seconds in which a worker must have come to its scheduler, or is made anew: one that was started while the
# scheduler went away may wait for ever. Where it was too short it is doubled: a busy machine imports slowly.
GIVE_UP, LONGEST = 30, 240


def serve_workers(
    address: str,
    *,
    workers: int | None = None,
    host: str | None = None,
    say: Callable[[str], None] = lambda sentence: None,
) -> None:
    """Keep `workers` processes of one thread each (default: one per core) at a scheduler until interrupted.

    They listen on the loopback address where the scheduler has one; elsewhere `host` must say on which
    address of this machine the cluster may reach them.
    """
    if workers is not None and workers < 1:
        raise UserError(f"There must be at least one worker, but workers is {workers}.")
    far = host_of(address) not in (LOOPBACK, "localhost", "::1")
    if far and host is None:
        raise UserError(
            f"{address} is another machine, which must reach the workers, and so can others: name the "
            "address at which they listen here, with --host, in a network that you trust."
        )
    if host is not None and not _is_ours(host):
        raise UserError(f"Workers cannot listen at --host {host!r}: it is no address of this machine.")
    quietly()
    with dask.config.set(BORN_WITH):
        asyncio.run(_serve(address, workers or cores(), host or LOOPBACK, say))


async def _serve(address: str, workers: int, host: str, say: Callable[[str], None]) -> None:
    up, told = 0, ""

    def tell(sentence: str) -> None:
        nonlocal told
        if told != sentence:
            say(told := sentence)

    async def keep_one() -> None:
        """A worker, made anew whenever its scheduler went away or it could not come."""
        nonlocal up
        give_up = GIVE_UP
        while True:
            if await _is_there(address):
                nanny = _Nanny(
                    address,
                    nthreads=1,
                    host=host,
                    dashboard=False,
                    death_timeout=give_up,
                    silence_logs=logging.CRITICAL,
                )
                try:
                    await nanny
                    give_up = GIVE_UP
                    up += 1
                    if up == workers:
                        tell(f"{workers} workers are at {address}. Ctrl-C stops them.")
                    try:
                        await nanny.finished()
                    finally:
                        up -= 1
                except (OSError, RuntimeError, TimeoutError) as error:  # the scheduler has just gone again
                    tell(f"A worker could not come to {address} ({type(error).__name__}); trying again …")
                    give_up = min(2 * give_up, LONGEST)
                finally:
                    with suppress(OSError, TimeoutError):
                        await nanny.close(timeout=2)
            else:
                tell(f"There is no scheduler at {address}; waiting for it …")
            await asyncio.sleep(WAIT)

    await asyncio.gather(*(keep_one() for _ in range(workers)))


class _Nanny(Nanny):
    """A nanny that leaves no process behind which did not come up in time: Dask's own forgets it."""

    async def kill(self, timeout: float = 5, reason: str = "nanny-kill") -> None:
        child = self.process
        if child is not None and child.status == Status.starting and child.process is not None:
            await child.process.kill()
        else:
            await super().kill(timeout=timeout, reason=reason)


def _is_ours(host: str) -> bool:
    """Whether a server can listen at this name or address; asked before anything waits for a scheduler."""
    if not host:
        return False
    with suppress(OSError, ValueError):  # a name that nobody knows, or that is none
        for family, kind, protocol, _, place in socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM):
            with suppress(OSError), socket.socket(family, kind, protocol) as server:
                server.bind(place)
                return True
    return False


async def _is_there(address: str) -> bool:
    place = urlsplit(address)
    with suppress(OSError):
        _, writer = await asyncio.open_connection(place.hostname, place.port)
        writer.close()
        return True
    return False
